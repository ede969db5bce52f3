package io.tokenstair.collect.input;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ExcerptTest {
    private static @Nullable String excerpt(String line) {
        byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
        return Excerpt.ofJson(bytes, bytes.length);
    }

    @Test
    void knownNamesAndPlainValuesAreShown() {
        assertThat(excerpt("{\"type\":\"event\",\"ev\":-3,\"done\":true}"))
                .isEqualTo("{\"type\":\"event\",\"ev\":-3,\"done\":true}");
    }

    @Test
    void unknownNamesAndTheirValuesAreHidden() {
        assertThat(
                        excerpt(
                                "{\"type\":\"event\",\"prompt\":\"my \\\"secret\\\"\",\"ev\":1,\"x\":{\"y\":[\"a\",1]},\"ev\":2}"))
                .isEqualTo("{\"type\":\"event\",\"…\":…,\"ev\":1,\"…\":…,\"ev\":2}");
    }

    @Test
    void brokenLinesHideWhatTheyCannotPlace() {
        assertThat(excerpt("{\"text\":\"my secret")).isEqualTo("{\"…\":…");
        assertThat(excerpt("{my secret}")).doesNotContain("secret");
        assertThat(excerpt("{\"ev\":1}\"my secret\":\"is out\""))
                .doesNotContain("secret")
                .doesNotContain("out");
        assertThat(excerpt("{\"ev\":1},\"my secret\"")).doesNotContain("secret");
    }

    @Test
    void whatIsNoObjectIsNotShown() {
        assertThat(excerpt("my secret")).isNull();
        assertThat(excerpt("[\"my secret\"]")).isNull();
        assertThat(excerpt("")).isNull();
    }

    @Test
    void longLinesAreCutAt200Characters() {
        assertThat(excerpt("{\"req\":\"" + "x".repeat(5000) + "\"}"))
                .hasSize(200)
                .endsWith("…");
    }

    @Test
    void controlCharactersAreEscaped() {
        assertThat(excerpt("{\"req\":\"a\u001b[31m\u202eb\"}")).isEqualTo("{\"req\":\"a\\u001b[31m\\u202eb\"}");
    }
}
