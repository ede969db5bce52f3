package io.tokenstair.spelling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class NearestNameTest {
    private static final List<String> NAMES = List.of("engineId", "stepId", "gap", "gapExcess", "contextTokens");

    @Test
    void aSlipOfLettersOrOfTheirCaseFindsTheName() {
        assertThat(NearestName.of("contxtTokens", NAMES)).isEqualTo("contextTokens");
        assertThat(NearestName.of("engineID", NAMES)).isEqualTo("engineId");
        assertThat(NearestName.of("stpeId", NAMES)).isEqualTo("stepId");
    }

    @Test
    void aUnitTooManyOrTooFewFindsTheName() {
        assertThat(NearestName.of("gapNanos", NAMES)).isEqualTo("gap");
        assertThat(NearestName.of("context", NAMES)).isEqualTo("contextTokens");
    }

    @Test
    void theSameNameInOtherLettersIsNearerThanALongerOne() {
        assertThat(NearestName.of("GAP", NAMES)).isEqualTo("gap");
        assertThat(NearestName.of("GAPEXCESS", NAMES)).isEqualTo("gapExcess");
    }

    @Test
    void aWordThatIsNearNothingFindsNothing() {
        assertThat(NearestName.of("temperature", NAMES)).isNull();
        assertThat(NearestName.of("engineId".repeat(10), NAMES)).isNull();
        assertThat(NearestName.of("", NAMES)).isNull();
    }
}
