package io.tokenstair.collect.input;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LineSourceTest {
    @TempDir
    Path folder;

    private List<String> lines(String content, LineSource.Limits limits) throws IOException {
        Path file = folder.resolve("file");
        Files.writeString(file, content);
        List<String> lines = new ArrayList<>();
        try (LineSource source = new LineSource(file, limits)) {
            while (source.next()) {
                String text = new String(source.bytes(), 0, source.length(), StandardCharsets.UTF_8);
                lines.add(source.lineNumber() + (source.tooLong() ? " too long" : " " + text));
            }
            assertThat(source.defect()).isNull();
        }
        return lines;
    }

    @Test
    void linesAreNumberedAndBlankOnesPassedOver() throws IOException {
        assertThat(lines("a\n\n  \r\nb\r\nc", LineSource.Limits.DEFAULT)).containsExactly("1 a", "4 b", "5 c");
        assertThat(lines("", LineSource.Limits.DEFAULT)).isEmpty();
        assertThat(lines("\n\n", LineSource.Limits.DEFAULT)).isEmpty();
    }

    @Test
    void aLineMayBeAsLongAsTheLimitButNotLonger() throws IOException {
        LineSource.Limits limits = new LineSource.Limits(100_000, 1 << 30);
        assertThat(lines("x".repeat(100_000) + "\n" + "y".repeat(100_001) + "\nz\n" + "y".repeat(300_000), limits))
                .containsExactly("1 " + "x".repeat(100_000), "2 too long", "3 z", "4 too long");
    }
}
