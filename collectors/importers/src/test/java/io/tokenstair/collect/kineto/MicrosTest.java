package io.tokenstair.collect.kineto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.tokenstair.collect.input.RejectedRecordException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MicrosTest {
    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "-0, 0",
        "1, 1000",
        "-1.5, -1500",
        "5110307734649.883, 5110307734649883",
        "1712195495519689.0, 1712195495519689000",
        "0.0004, 0",
        "0.0005, 1",
        "1e3, 1000000",
        "1.25E-1, 125",
        "9223372036854775.807, 9223372036854775807",
        "1e-99999999, 0",
        "0e99999999, 0"
    })
    void microsecondsBecomeWholeNanoseconds(String number, long nanos) throws Exception {
        assertThat(Micros.toNanos("ts", number)).isEqualTo(nanos);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "NaN",
                "Infinity",
                "",
                "-",
                "1e99999999",
                "9223372036854775.808",
                "1e18",
                "11111111111111111111111111111111111111111",
                "1.2.3",
                "1.a"
            })
    void whatIsNoTimeIsRefused(String number) {
        assertThatExceptionOfType(RejectedRecordException.class).isThrownBy(() -> Micros.toNanos("ts", number));
    }

    @Test
    void theFastWayIsTheExactOne() throws Exception {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 100_000; i++) {
            String number = (random.nextInt(2) == 0 ? "" : "-")
                    + random.nextLong(1L << random.nextInt(1, 52))
                    + (random.nextInt(3) == 0 ? "" : "." + random.nextInt(10_000));
            long exact = new BigDecimal(number)
                    .movePointRight(3)
                    .setScale(0, RoundingMode.HALF_UP)
                    .longValueExact();
            assertThat(Micros.toNanos("ts", number)).as(number).isEqualTo(exact);
        }
    }
}
