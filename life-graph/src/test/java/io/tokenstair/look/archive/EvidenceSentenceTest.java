package io.tokenstair.look.archive;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EvidenceSentenceTest {
    @Test
    void eventIdsAreTakenFromTheBracketsAtTheEnd() {
        EvidenceSentence sentence = EvidenceSentence.parse("It waited [long] 2 s. [steps/1/7, steps/1/9]");

        assertThat(sentence.text()).isEqualTo("It waited [long] 2 s.");
        assertThat(sentence.evidence()).containsExactly("steps/1/7", "steps/1/9");
    }

    @ParameterizedTest
    @ValueSource(strings = {"No record covers it.", "odd]", ""})
    void aSentenceWithoutBracketsIsKept(String archived) {
        assertThat(EvidenceSentence.parse(archived).text()).isEqualTo(archived);
        assertThat(EvidenceSentence.parse(archived).evidence()).isEmpty();
    }
}
