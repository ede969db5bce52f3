package io.tokenstair.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.tokenstair.archive.ArchiveCheck.CollectorCount;
import io.tokenstair.archive.ArchiveCheck.MissingRange;
import io.tokenstair.archive.result.LayerReport;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LoggedEvent;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArchiveCheckTest {
    private static final IdAliased ALIAS = new IdAliased("req-1", "a", "o");

    @TempDir
    Path archive;

    @Test
    void aSoundArchiveHasNoProblems() throws IOException {
        for (String table : List.of("step_completed", "step_sequence", "handle_announced")) {
            write(table, "part-0", EventExamples.logged(EventExamples.step(3), 1));
        }
        write("id_aliased", "part-0", EventExamples.logged(ALIAS, 0), EventExamples.logged(ALIAS, 2));
        Path results = ArchiveLayout.folder(archive, "layer_report");
        Files.createDirectories(results);
        try (OutputStream out = Files.newOutputStream(results.resolve("part-0.parquet"))) {
            TableWriter<LayerReport> writer = TableWriter.open(ResultTables.LAYER_REPORT, out);
            writer.write(new LayerReport(null, "client", false, 0, 0));
            writer.finish();
        }

        assertThat(ArchiveCheck.of(archive))
                .isEqualTo(new ArchiveCheck(
                        List.of(new CollectorCount("collector-a", 1_790_000_000L, 3, 0, List.of())), 1, List.of()));
        assertThat(TableStats.of(archive))
                .extracting(TableStats::table, TableStats::fileCount, TableStats::rowCount)
                .containsExactly(
                        tuple("handle_announced", 1, 2L),
                        tuple("id_aliased", 1, 2L),
                        tuple("layer_report", 1, 1L),
                        tuple("step_completed", 1, 1L),
                        tuple("step_sequence", 1, 3L));
    }

    @Test
    void whatIsMissingOrThereTwiceIsCounted() throws IOException {
        write("id_aliased", "part-0", EventExamples.logged(ALIAS, 9), EventExamples.logged(ALIAS, 5));
        write("id_aliased", "part-1", EventExamples.logged(ALIAS, 4), EventExamples.logged(ALIAS, 5));

        ArchiveCheck check = ArchiveCheck.of(archive);

        assertThat(check.collectors())
                .containsExactly(
                        new CollectorCount("collector-a", 1_790_000_000L, 3, 1, List.of(new MissingRange(6, 8))));
        assertThat(check.problems())
                .singleElement()
                .asString()
                .contains("Event collector-a/1790000000/5 is there twice")
                .contains("part-1.parquet");
    }

    @Test
    void sequencesWithoutTheirStepAreReported() throws IOException {
        write("step_sequence", "part-0", EventExamples.logged(EventExamples.step(3), 1));

        assertThat(ArchiveCheck.of(archive).problems())
                .singleElement()
                .asString()
                .contains("has rows in table step_sequence and none in step_completed");
    }

    @Test
    void aBrokenFileIsReportedAndTheOthersAreRead() throws IOException {
        write("id_aliased", "part-0", EventExamples.logged(ALIAS, 0));
        write("id_aliased", "part-1", EventExamples.logged(ALIAS, 1));
        Path broken = ArchiveLayout.files(archive, "id_aliased").get(0);
        byte[] whole = Files.readAllBytes(broken);
        Files.write(broken, Arrays.copyOf(whole, whole.length / 2));

        ArchiveCheck check = ArchiveCheck.of(archive);

        assertThat(check.problems()).singleElement().asString().contains(broken.toString());
        assertThat(check.collectors()).extracting(CollectorCount::eventCount).containsExactly(1L);
        assertThatThrownBy(() -> TableStats.of(archive))
                .isInstanceOf(ArchiveException.class)
                .hasMessageContaining(broken.toString());
    }

    private void write(String table, String name, LoggedEvent... events) throws IOException {
        Path file = archive.resolve(ArchiveLayout.bucket(table, EventExamples.EPOCH_MILLIS))
                .resolve(name + ".parquet");
        Files.createDirectories(file.getParent());
        try (OutputStream out = Files.newOutputStream(file)) {
            RawTableWriter writer = RawTableWriter.open(table, out);
            for (LoggedEvent event : events) {
                writer.write(event, false);
            }
            writer.finish();
        }
    }
}
