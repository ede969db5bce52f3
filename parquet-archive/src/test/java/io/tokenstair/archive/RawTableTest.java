package io.tokenstair.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.Finish;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RawTableTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(EventKind.class)
    void everyKindComesBackAsItWasWritten(EventKind kind) throws Exception {
        List<LoggedEvent> events = new ArrayList<>();
        long sequence = 0;
        for (Event event : EventExamples.full()) {
            if (event.kind() == kind) {
                events.add(EventExamples.logged(event, sequence++));
                events.add(EventExamples.undated(event, sequence++));
            }
        }
        for (Event event : EventExamples.sparse()) {
            if (event.kind() == kind) {
                events.add(EventExamples.logged(event, sequence++));
            }
        }
        assertThat(events).hasSize(3);

        assertThat(throughTheArchive(events)).containsExactlyElementsOf(events);
    }

    @Test
    void theExamplesCoverEveryKind() {
        assertThat(EventExamples.full()).extracting(Event::kind).containsExactlyInAnyOrder(EventKind.values());
        assertThat(EventExamples.sparse()).extracting(Event::kind).containsExactlyInAnyOrder(EventKind.values());
    }

    @Test
    void partsOfAStepMergeToItsCanonicalBytes() throws Exception {
        LoggedEvent step = EventExamples.logged(EventExamples.step(5), 3);
        ByteArrayOutputStream merged = new ByteArrayOutputStream();
        for (String table : RawTables.tablesOf(EventKind.STEP_COMPLETED)) {
            for (RawRow row : readBack(table, write(table, List.of(step)))) {
                merged.write(row.wireBytes());
            }
        }

        LoggedEvent read = EventCodec.decode(merged.toByteArray());
        assertThat(read).isEqualTo(step);
        assertThat(EventCodec.encode(read)).isEqualTo(EventCodec.encode(step));
    }

    @Test
    void partsOfAStepMergeInAnyOrder() throws Exception {
        LoggedEvent step = EventExamples.logged(EventExamples.step(5), 3);
        ByteArrayOutputStream merged = new ByteArrayOutputStream();
        for (String table : List.of("handle_announced", "step_sequence", "step_completed")) {
            for (RawRow row : readBack(table, write(table, List.of(step)))) {
                merged.write(row.wireBytes());
            }
        }

        assertThat(EventCodec.decode(merged.toByteArray())).isEqualTo(step);
    }

    @Test
    void aStepWithoutSequencesHasNoSequenceRows() throws Exception {
        StepCompleted idle = (StepCompleted) EventExamples.sparse().get(5);

        Path file = write("step_sequence", List.of(EventExamples.logged(idle, 0)));

        assertThat(readBack("step_sequence", file)).isEmpty();
    }

    @Test
    void equalEventsOneAfterTheOtherStayTwo() throws Exception {
        LoggedEvent step = EventExamples.logged(EventExamples.step(4), 3);

        List<RawRow> rows = readBack("step_sequence", write("step_sequence", List.of(step, step)));

        assertThat(rows).hasSize(2);
        assertThat(rows.get(0).wireBytes()).isEqualTo(rows.get(1).wireBytes());
    }

    @Test
    void idsKeepControlCharactersQuotesAndUnicode() throws Exception {
        String odd = "a\u0000b\n\"'\\ \u4f60\u597d \uD83D\uDE00 \u202E/../..";
        List<LoggedEvent> events = List.of(
                EventExamples.logged(new IdAliased(odd, odd, "o"), 0),
                EventExamples.logged(
                        new ChunkDelivered(odd, odd, List.of(new Chunk(0, 0, 0, 1, 1, 1L, Finish.STOP))), 1));

        assertThat(throughTheArchive(events)).containsExactlyInAnyOrderElementsOf(events);
    }

    @Test
    void lateIsKept() throws Exception {
        Path file = folder.resolve("late.parquet");
        try (OutputStream out = Files.newOutputStream(file)) {
            RawTableWriter writer = RawTableWriter.open("step_sequence", out);
            writer.write(EventExamples.logged(EventExamples.step(2), 0), true);
            writer.write(EventExamples.logged(EventExamples.step(2), 1), false);
            writer.finish();
        }

        assertThat(readBack("step_sequence", file)).extracting(RawRow::late).containsExactly(true, false);
    }

    @Test
    void anEmptyTableIsAFileWithoutRows() throws Exception {
        for (String table : RawTables.all()) {
            assertThat(readBack(table, write(table, List.of()))).as(table).isEmpty();
        }
    }

    @Test
    void manySequencesComeBack() throws Exception {
        int steps = 1_000;
        int sequences = 100;
        SequenceRows rows = EventExamples.step(sequences).rows();
        List<LoggedEvent> events = new ArrayList<>();
        for (int i = 0; i < steps; i++) {
            StepCompleted step = new StepCompleted(
                    "engine-0",
                    0,
                    i,
                    null,
                    null,
                    null,
                    i * 25_000_000L,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    List.of(),
                    rows);
            events.add(EventExamples.logged(step, i));
        }

        Path file = write("step_sequence", events);

        assertThat(throughTheArchive(events)).containsExactlyElementsOf(events);
        assertThat(Files.size(file)).isLessThan(steps * sequences * 4L);
    }

    @Test
    void anEventOfAnotherKindIsRefused() throws Exception {
        RawTableWriter writer = RawTableWriter.open("id_aliased", OutputStream.nullOutputStream());

        assertThatThrownBy(() -> writer.write(EventExamples.logged(EventExamples.step(1), 0), false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("id_aliased")
                .hasMessageContaining("STEP_COMPLETED");
    }

    @Test
    void anUnknownTableIsRefusedWithTheNamesThereAre() {
        assertThatThrownBy(() -> RawTableWriter.open("steps", OutputStream.nullOutputStream()))
                .hasMessageContaining("Cannot find raw table: steps")
                .hasMessageContaining("step_sequence");
    }

    private Path write(String table, List<LoggedEvent> events) throws IOException {
        Path file = Files.createTempFile(folder, table, ".parquet");
        try (OutputStream out = Files.newOutputStream(file)) {
            RawTableWriter writer = RawTableWriter.open(table, out);
            for (LoggedEvent event : events) {
                writer.write(event, false);
            }
            writer.finish();
        }
        return file;
    }

    private static List<RawRow> readBack(String table, Path file) throws IOException {
        List<RawRow> rows = new ArrayList<>();
        try (RawTableReader reader = RawTableReader.open(table, file)) {
            reader.forEachRemaining(rows::add);
        }
        return rows;
    }

    /** Writes events into their tables and merges what the tables hold by event id. */
    private List<LoggedEvent> throughTheArchive(List<LoggedEvent> events) throws IOException, WireException {
        Map<String, ByteArrayOutputStream> byId = new LinkedHashMap<>();
        for (EventKind kind : EventKind.values()) {
            List<LoggedEvent> ofKind = events.stream()
                    .filter(event -> event.event().kind() == kind)
                    .toList();
            if (ofKind.isEmpty()) {
                continue;
            }
            for (String table : RawTables.tablesOf(kind)) {
                for (RawRow row : readBack(table, write(table, ofKind))) {
                    String id =
                            EventCodec.header(EventCodec.parse(row.wireBytes())).eventId();
                    byId.computeIfAbsent(id, key -> new ByteArrayOutputStream()).write(row.wireBytes());
                }
            }
        }
        List<LoggedEvent> result = new ArrayList<>();
        for (ByteArrayOutputStream bytes : byId.values()) {
            result.add(EventCodec.decode(bytes.toByteArray()));
        }
        return result;
    }
}
