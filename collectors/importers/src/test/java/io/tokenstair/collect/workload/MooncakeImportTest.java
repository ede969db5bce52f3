package io.tokenstair.collect.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.tokenstair.collect.Imported;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.RequestReceived;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MooncakeImportTest {
    @TempDir
    Path folder;

    private final List<String> notes = new ArrayList<>();

    private final ImportListener noting = new ImportListener() {
        @Override
        public void progress(String layer, long read) {}

        @Override
        public void missing(String layer, String files, Path missingIn) {}

        @Override
        public void said(String sentence) {
            notes.add(sentence);
        }
    };

    private Imported imported(String... lines) throws ImportException {
        return Imported.file(listener -> new MooncakeImport(Imported.LIMITS, noting), folder, "t.jsonl", lines);
    }

    private static String line(long millis, int input, String blocks) {
        return "{\"timestamp\":" + millis + ",\"input_length\":" + input + ",\"output_length\":9,\"hash_ids\":["
                + blocks + "]}";
    }

    @Test
    void aLineIsARequestAndNothingIsMeasured() throws Exception {
        Imported imported = imported(line(0, 1_000, "0,1"), line(3_000, 1_025, "0,1,2"), line(3_000, 1_025, "0,3,2"));

        assertThat(imported.all(RequestReceived.class))
                .extracting(RequestReceived::requestId, RequestReceived::promptTokens, RequestReceived::maxTokens)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("t.jsonl#0", 1_000L, 9L),
                        org.assertj.core.groups.Tuple.tuple("t.jsonl#1", 1_025L, 9L),
                        org.assertj.core.groups.Tuple.tuple("t.jsonl#2", 1_025L, 9L));
        assertThat(Imported.clockNanos(imported.events().get(1))).isEqualTo(3_000_000_000L);
        assertThat(imported.all(MetricSampled.class))
                .extracting(sample -> sample.name() + " " + (long) sample.sampledValue())
                .contains("workload:requests 3", "workload:prompt_blocks 8", "workload:prompt_blocks_seen_before 3");
        assertThat(notes).anyMatch(note -> note.contains("a workload: 3 requests"));
        assertThat(imported.summary().line()).isEqualTo("read 3, accepted 3, rejected 0");
    }

    @Test
    void partsOfAMillisecondAreKeptAndBlocksMayBeLeftOut() throws Exception {
        Imported imported = imported(
                "{\"timestamp\":0.0,\"input_length\":10,\"output_length\":9}",
                "{\"timestamp\":27.5,\"input_length\":10,\"output_length\":9}",
                "{\"timestamp\":-1.5,\"input_length\":10,\"output_length\":9}",
                "{\"timestamp\":1e30,\"input_length\":10,\"output_length\":9}");

        assertThat(imported.all(RequestReceived.class)).hasSize(2);
        assertThat(Imported.clockNanos(imported.events().get(1))).isEqualTo(27_500_000L);
        assertThat(imported.summary().line()).isEqualTo("read 4, accepted 2, rejected 2");
    }

    @Test
    void arrivalsOnAGridAreSaidToBe() throws Exception {
        List<String> lines = new ArrayList<>();
        for (int tick = 0; tick < 40; tick++) {
            for (int i = 0; i < 3; i++) {
                lines.add(line(tick * 3_000L + tick % 3, 10, "1"));
            }
        }
        imported(lines.toArray(String[]::new));

        assertThat(notes)
                .anyMatch(note -> note.contains("arrivals come on ticks of about 3000 ms, 80 of 119 requests"));
    }

    @Test
    void arrivalsOfTheirOwnTimesAreNoGrid() throws Exception {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            lines.add(line(i * i * 7L, 10, "1"));
        }
        imported(lines.toArray(String[]::new));

        assertThat(notes).noneMatch(note -> note.contains("ticks"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"timestamp\":1,\"input_length\":513,\"output_length\":1,\"hash_ids\":[1]}|field hash_ids: 1 blocks of 512 tokens cannot hold 513 tokens",
                "{\"timestamp\":-1,\"input_length\":5,\"output_length\":1,\"hash_ids\":[1]}|field timestamp: negative, -1",
                "{\"timestamp\":1,\"input_length\":-5,\"output_length\":1,\"hash_ids\":[]}|field input_length: a count must lie between 0 and 2147483647, not -5",
                "{\"timestamp\":1,\"input_length\":5,\"hash_ids\":[1]}|field output_length: missing",
                "{\"timestamp\":1,\"input_length\":5,\"output_length\":NaN}|not valid JSON at column 52",
                "{\"timestamp\":9223372036854775807,\"input_length\":5,\"output_length\":1}|field timestamp: more than a hundred years",
            })
    void aLineThatCannotBeIsRefused(String line, String reason) throws Exception {
        Imported imported = imported(line(0, 10, "1"), line);

        assertThat(imported.reasons()).containsExactly(reason);
        assertThat(imported.summary().line()).isEqualTo("read 2, accepted 1, rejected 1");
    }

    @Test
    void aFileOfAnotherKindIsOneLine() throws Exception {
        Files.writeString(folder.resolve("t.jsonl"), "{\"ttfts\":[]}\n");
        assertThatExceptionOfType(ImportException.class)
                .isThrownBy(() -> new MooncakeImport(Imported.LIMITS, noting)
                        .run(List.of(folder.resolve("t.jsonl")), folder.resolve("log")))
                .withMessageContaining("no line of a Mooncake trace")
                .withMessageContaining("; name a Mooncake trace");
    }
}
