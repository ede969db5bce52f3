package io.tokenstair.look.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class JsonWriterTest {
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
