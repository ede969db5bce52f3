package io.tokenstair.job.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.archive.RawRow;
import io.tokenstair.archive.RawTableWriter;
import io.tokenstair.archive.RawTables;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StepPartsTest {
    private static final String STEPS = "step_completed";
    private static final String HOUR = "date=2026-01-01/hour=00";

    @TempDir
    Path archive;

    @Test
    void filesCutInAnotherOrderStillGiveEveryStepOnce() throws Exception {
        write(STEPS, "a", 0, 1, 2, 3, 4);
        write(STEPS, "b", 5, 6, 7, 8, 9);
        write(RawTables.STEP_SEQUENCE, "z", 1, 2, 4, 5);
        write(RawTables.STEP_SEQUENCE, "y", 8, 7);
        write(RawTables.HANDLE_ANNOUNCED, "x", 5, 0);
        assertThat(read()).containsExactlyInAnyOrderElementsOf(steps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
    }

    @Test
    void aStepThatWasLoggedTwiceComesBackTwice() throws Exception {
        write(STEPS, "a", 5, 7, 5);
        write(RawTables.STEP_SEQUENCE, "b", 5, 7, 5);
        write(RawTables.HANDLE_ANNOUNCED, "c", 5, 5);
        assertThat(read()).containsExactlyInAnyOrderElementsOf(steps(5, 5, 7));
    }

    @Test
    void stepsWithoutSequencesNeedNoFileOfThem() throws Exception {
        write(STEPS, "a", 3, 6, 9);
        assertThat(read()).containsExactlyElementsOf(steps(3, 6, 9));
    }

    @Test
    void aPartWithoutItsStepIsAnError() throws Exception {
        write(STEPS, "a", 1);
        write(RawTables.STEP_SEQUENCE, "b", 1, 2);
        assertThatThrownBy(this::read)
                .isInstanceOf(UnusableInputException.class)
                .hasMessageContaining("it lacks step collector/7/2");
    }

    @Test
    void anAnnouncementWithoutItsStepIsAnErrorToo() throws Exception {
        write(STEPS, "a", 3);
        write(RawTables.HANDLE_ANNOUNCED, "b", 10);
        assertThatThrownBy(this::read).hasMessageContaining("it lacks step collector/7/10");
    }

    private void write(String table, String file, int... sequences) throws Exception {
        Path folder = archive.resolve("table=" + table).resolve(HOUR);
        Files.createDirectories(folder);
        try (OutputStream out = Files.newOutputStream(folder.resolve("part-" + file + ".parquet"))) {
            RawTableWriter writer = RawTableWriter.open(table, out);
            for (LoggedEvent step : steps(sequences)) {
                writer.write(step, false);
            }
            writer.finish();
        }
    }

    private static List<LoggedEvent> steps(int... sequences) {
        List<LoggedEvent> steps = new ArrayList<>();
        for (int sequence : sequences) {
            steps.add(Records.step("collector", sequence));
        }
        return steps;
    }

    private List<LoggedEvent> read() throws Exception {
        List<LoggedEvent> read = new ArrayList<>();
        Path hour = archive.resolve("table=" + STEPS).resolve(HOUR);
        try (StepParts parts = new StepParts(new org.apache.flink.core.fs.Path(hour.toUri()))) {
            for (RawRow step = parts.next(); step != null; step = parts.next()) {
                read.add(EventCodec.decode(step.wireBytes()));
            }
        }
        return read;
    }
}
