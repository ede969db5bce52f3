package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.EventFixtures;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.clock.ClockRecord;
import io.tokenstair.job.request.RequestInput;
import io.tokenstair.job.sink.RawArchiveRow;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.step.EngineRecord;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import org.apache.flink.streaming.api.operators.ProcessOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The gate: decode, decide on lateness once, archive everything, send on what is neither late nor refused. */
class RouteRecordsHarnessTest {

    private static OneInputStreamOperatorTestHarness<RawRecord, EngineRecord> harness(boolean archive)
            throws Exception {
        OneInputStreamOperatorTestHarness<RawRecord, EngineRecord> harness =
                new OneInputStreamOperatorTestHarness<>(new ProcessOperator<>(new RouteRecords(archive)));
        harness.setup();
        harness.open();
        return harness;
    }

    private static RawRecord record(LoggedEvent event, long ordinal) {
        return RawRecord.of(EventCodec.encode(event), "partition-0000", ordinal);
    }

    private static RawRecord record(EventKind kind, long sequence) {
        return record(new LoggedEvent(EventFixtures.header(sequence), EventFixtures.full(kind)), sequence);
    }

    private static <T> List<T> side(
            OneInputStreamOperatorTestHarness<RawRecord, EngineRecord> harness, OutputTag<T> tag) {
        List<T> values = new ArrayList<>();
        Queue<StreamRecord<T>> queue = harness.getSideOutput(tag);
        if (queue != null) {
            queue.forEach(value -> values.add(value.getValue()));
        }
        return values;
    }

    private static void feed(OneInputStreamOperatorTestHarness<RawRecord, EngineRecord> harness, RawRecord record)
            throws Exception {
        harness.processElement(new StreamRecord<>(record));
    }

    @Test
    void acceptedAndRejectedAreWhatWasRead() throws Exception {
        Random random = new Random(3);
        int read = 0;
        try (var harness = harness(true)) {
            for (int round = 0; round < 20; round++) {
                for (EventKind kind : EventKind.values()) {
                    RawRecord record = record(kind, read);
                    if (random.nextInt(4) == 0) {
                        byte[] broken = record.bytes.clone();
                        broken[random.nextInt(broken.length)] ^= (byte) (1 << random.nextInt(8));
                        record = RawRecord.of(broken, "partition-0000", read);
                    }
                    feed(harness, record);
                    read++;
                }
            }
            List<RawArchiveRow> rows = side(harness, RouteRecords.ARCHIVE);
            long events = rows.stream()
                    .filter(row -> row.table().equals(row.event().event().kind().wireName()))
                    .count();

            assertThat(events).isEqualTo(read);
            assertThat(rows)
                    .filteredOn(row -> row.event().header().collectorId().startsWith("decode/"))
                    .isNotEmpty();
        }
    }

    @Test
    void bytesThatAreNoEventBecomeARejectedRow() throws Exception {
        try (var harness = harness(true)) {
            feed(harness, RawRecord.of("not a record".getBytes(StandardCharsets.UTF_8), "topic-3", 17));
            List<RawArchiveRow> rows = side(harness, RouteRecords.ARCHIVE);

            assertThat(rows).hasSize(1);
            assertThat(rows.get(0).late()).isFalse();
            assertThat(rows.get(0).event().event()).isInstanceOfSatisfying(Rejected.class, rejected -> {
                assertThat(rejected.source()).isEqualTo("topic-3");
                assertThat(rejected.reason()).startsWith("record 17: ");
                assertThat(rejected.excerpt()).isNull();
            });
            assertThat(harness.extractOutputValues()).isEmpty();
            assertThat(side(harness, RouteRecords.OBSERVED)).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLateRecordIsArchivedWithItsFlagAndNotAnalysed(boolean archive) throws Exception {
        try (var harness = harness(archive)) {
            RawRecord step = record(EventKind.STEP_COMPLETED, 0);
            RawRecord chunk = record(EventKind.CHUNK_DELIVERED, 0);
            harness.processWatermark(step.coarseEpochMillis);
            feed(harness, step);
            feed(harness, chunk);

            assertThat(side(harness, RouteRecords.ARCHIVE))
                    .hasSize(archive ? 4 : 0)
                    .allMatch(RawArchiveRow::late);
            assertThat(harness.extractOutputValues()).isEmpty();
            assertThat(side(harness, RouteRecords.OBSERVED)).isEmpty();
        }
    }

    @Test
    void whatAnArchiveSaysIsLateStaysLate() throws Exception {
        try (var harness = harness(false)) {
            RawRecord step = record(EventKind.STEP_COMPLETED, 0);
            step.late = true;
            feed(harness, step);

            assertThat(harness.extractOutputValues()).isEmpty();
        }
    }

    @Test
    void aRecordJustAfterTheWatermarkIsInTime() throws Exception {
        try (var harness = harness(true)) {
            RawRecord step = record(EventKind.STEP_COMPLETED, 0);
            harness.processWatermark(step.coarseEpochMillis - 1);
            feed(harness, step);

            assertThat(side(harness, RouteRecords.ARCHIVE)).noneMatch(RawArchiveRow::late);
            assertThat(harness.extractOutputValues()).hasSize(1);
        }
    }

    @Test
    void anUndatedRecordIsNeverLate() throws Exception {
        try (var harness = harness(true)) {
            harness.processWatermark(Long.MAX_VALUE - 1);
            feed(
                    harness,
                    record(
                            new LoggedEvent(
                                    EventFixtures.sparseHeader(1), EventFixtures.full(EventKind.STEP_COMPLETED)),
                            1));

            assertThat(harness.extractOutputValues())
                    .extracting(record -> record.coarseEpochMillis)
                    .containsExactly(Long.MAX_VALUE);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void engineEventsGoToTheirEngineAndObserversEventsToTheirRequest(boolean archive) throws Exception {
        List<String> engines = new ArrayList<>();
        List<String> requests = new ArrayList<>();
        List<String> clocks = new ArrayList<>();
        try (var harness = harness(archive)) {
            for (EventKind kind : EventKind.values()) {
                feed(harness, record(kind, kind.tag()));
                harness.extractOutputValues().forEach(record -> {
                    // A scrape names no engine of ours: its numeric label tells engines of one endpoint apart at most.
                    assertThat(record.engineId)
                            .isEqualTo(kind == EventKind.METRIC_SAMPLED ? "http://engine-0/metrics#0" : "engine-0");
                    engines.add(kind.name());
                });
                harness.getOutput().clear();
            }
            for (ClockRecord clock : side(harness, RouteRecords.CLOCKS)) {
                clocks.add(clock.sequence + " " + clock.fitted);
            }
            for (RequestInput input : side(harness, RouteRecords.OBSERVED)) {
                assertThat(input.requestId).isEqualTo("req-7");
                requests.add(String.valueOf(input.originSequence));
            }
        }

        assertThat(engines)
                .containsExactly(
                        "REQUEST_QUEUED",
                        "REQUEST_PREEMPTED",
                        "STEP_COMPLETED",
                        "REQUEST_FINISHED",
                        "KV_BLOCKS_STORED",
                        "KV_BLOCKS_EVICTED",
                        "KV_LOOKUP",
                        "KV_TRANSFERRED",
                        "ENGINE_CONFIGURED",
                        "SHAPE_COMPILED",
                        "ALLOCATOR_SAMPLED",
                        "METRIC_SAMPLED",
                        "KERNEL_RAN",
                        "STREAM_STALLED",
                        "MEMORY_CHANGED",
                        "HOST_PAUSED",
                        "HOST_SAMPLED",
                        "SHARD_LOADED",
                        "DEVICE_SAMPLED");
        assertThat(clocks).containsExactly("35 false", "39 true");
        assertThat(requests)
                .containsExactly(
                        String.valueOf(EventKind.REQUEST_RECEIVED.tag()),
                        String.valueOf(EventKind.REQUEST_COMPLETED.tag()),
                        String.valueOf(EventKind.CHUNK_DELIVERED.tag()),
                        String.valueOf(EventKind.ID_ALIASED.tag()));
    }
}
