package io.tokenstair.look.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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

    @Test
    void jsonLeavesOutWhatIsAbsentAndEscapesWhatIsNotPlain() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonWriter json = new JsonWriter(bytes, true)) {
            json.beginObject();
            json.text("id", "\u007f\u0085<é\u2028\"");
            json.text("none", null);
            json.number("zero", 0L);
            json.number("unknown", (Long) null);
            json.epoch("at", 1_795_946_400_123_999_999L);
            json.endObject();
            json.endLine();
        }

        assertThat(bytes.toString(StandardCharsets.UTF_8))
                .isEqualTo(
                        "{\"id\":\"\\u007F\\u0085<\\u00E9\\u2028\\\"\",\"zero\":0,\"at\":\"1795946400123999999\"}\n");
    }
}
