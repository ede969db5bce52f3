package io.tokenstair.look.slo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SloLimitsTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ttft=2s|2000000000|",
                "gap=300ms||300000000",
                "ttft=1500us,gap=0.25s|1500000|250000000",
                "gap=300ms,ttft=2s|2000000000|300000000",
                "gap=0.000001ms||1",
                "ttft=86400s|86400000000000|"
            })
    void aLimitIsANumberAndAUnit(String text, Long ttftNanos, Long gapNanos) {
        assertThat(SloLimits.parse(text)).isEqualTo(new SloLimits(ttftNanos, gapNanos));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|no limit at character 1",
                "2s|no limit at character 1",
                "ttft|no limit at character 1",
                "ttft=|no number at character 6",
                "ttft=2|no unit at character 7",
                "ttft=2 s|the unknown unit  s at character 7",
                "ttft=2S|the unknown unit S at character 7",
                "gap=300m|the unknown unit m at character 8",
                "gap=300msx|the unknown unit msx at character 8",
                "gap=-3ms|no number at character 5",
                "gap=1e3ms|the unknown unit e3ms at character 6",
                "gap=0ms|a limit that cannot be at character 5",
                "gap=86401s|a limit that cannot be at character 5",
                "gap=0.0001us|a part of a nanosecond at character 5",
                "gap=3ms,|no limit at character 9",
                "gap=3ms,gap=4ms|gap a second time at character 9",
                "itl=3ms|the unknown name itl at character 1",
                "TTFT=3ms|the unknown name TTFT at character 1",
                "gap=3ms ttft=2s|the unknown unit ms ttft=2s at character 6"
            })
    void anythingElseIsRefusedWithThePlaceAndWhatIsAllowed(String text, String says) {
        assertThatThrownBy(() -> SloLimits.parse(text))
                .hasMessageStartingWith("Cannot read --slo: " + text + ": " + says)
                .hasMessageEndingWith(
                        "Use ttft=2s,gap=300ms: one of them or both, each a number above 0 with s, ms or us,"
                                + " a day at most");
    }
}
