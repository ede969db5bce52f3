package io.tokenstair.rule.syntax;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How lengths of time are written. */
class DurationLiteralTest {
    @ParameterizedTest
    @CsvSource({"7ns, 7", "50us, 50000", "50ms, 50000000", "1.5s, 1500000000", "5m, 300000000000", "1h, 3600000000000"})
    void numberAndUnitGiveNanoseconds(String text, long nanos) {
        assertThat(DurationLiteral.nanos(text)).hasValue(nanos);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "50", "ms", "50 ms", "-5ms", "1.5ns", "5d", "50MS", "999999999999999999h", "1e3s"})
    void anythingElseIsNone(String text) {
        assertThat(DurationLiteral.nanos(text)).isEmpty();
    }
}
