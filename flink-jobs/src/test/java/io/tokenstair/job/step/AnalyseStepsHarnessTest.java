package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.JobEnvironment;
import io.tokenstair.job.clock.ClockBroadcast;
import io.tokenstair.job.clock.PublishedSegment;
import io.tokenstair.job.clock.SegmentFeed;
import io.tokenstair.job.clock.Segments;
import io.tokenstair.job.request.RequestInput;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.metrics.testutils.MetricListener;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.co.CoBroadcastWithKeyedOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedBroadcastOperatorTestHarness;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The operator around the timeline: whatever the arrival, it says what the timeline says of the ordered events. */
class AnalyseStepsHarnessTest {
    private static final int STEPS = 300;
    private static final int LATENESS_MILLIS = 2_000;

    private static KeyedBroadcastOperatorTestHarness<String, EngineRecord, PublishedSegment, RequestInput> harness(
            boolean sortedInput, @Nullable OperatorSubtaskState restored) throws Exception {
        return harness(new AnalyseSteps(sortedInput), restored);
    }

    private static KeyedBroadcastOperatorTestHarness<String, EngineRecord, PublishedSegment, RequestInput> harness(
            AnalyseSteps function, @Nullable OperatorSubtaskState restored) throws Exception {
        KeyedBroadcastOperatorTestHarness<String, EngineRecord, PublishedSegment, RequestInput> harness =
                new KeyedBroadcastOperatorTestHarness<>(
                        new CoBroadcastWithKeyedOperator<>(function, List.of(ClockBroadcast.WAYS)),
                        record -> record.engineId,
                        Types.STRING,
                        JobEnvironment.MAX_PARALLELISM,
                        1,
                        0);
        ((SerializerConfigImpl) harness.getExecutionConfig().getSerializerConfig()).setGenericTypes(false);
        harness.setup();
        if (restored != null) {
            harness.initializeState(restored);
        }
        harness.open();
        return harness;
    }

    private static EngineRecord record(LoggedEvent event) {
        EventHeader header = event.header();
        EngineRecord record = new EngineRecord();
        record.engineId = EngineScript.ENGINE;
        record.coarseEpochMillis = header.coarseEpochMillis() == null ? Long.MAX_VALUE : header.coarseEpochMillis();
        record.collectorId = header.collectorId();
        record.collectorEpoch = header.collectorEpoch();
        record.sequence = header.sequence();
        record.bytes = EventCodec.encode(event);
        return record;
    }

    private static List<EngineRecord> records(EngineScript engine) {
        return new ArrayList<>(
                engine.events().stream().map(AnalyseStepsHarnessTest::record).toList());
    }

    /** The same records, each up to the lateness bound later than it should be. */
    private static List<EngineRecord> shuffled(List<EngineRecord> records, Random random) {
        List<Long> arrivals = new ArrayList<>();
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < records.size(); i++) {
            arrivals.add(records.get(i).coarseEpochMillis + random.nextInt(LATENESS_MILLIS));
            order.add(i);
        }
        Collections.shuffle(order, random);
        order.sort(Comparator.comparing(arrivals::get));
        return order.stream().map(records::get).toList();
    }

    private static void take(
            KeyedBroadcastOperatorTestHarness<String, EngineRecord, PublishedSegment, RequestInput> harness,
            Told told) {
        for (RequestInput input : harness.extractOutputValues()) {
            if (input.tokens != null) {
                told.tokens(input.tokens);
            } else if (input.fact() != null) {
                told.fact(input.fact());
            }
        }
        harness.getOutput().clear();
        if (harness.getSideOutput(AnalyseSteps.STEPS) != null) {
            harness.getSideOutput(AnalyseSteps.STEPS).forEach(step -> told.step(step.getValue()));
            harness.getSideOutput(AnalyseSteps.STEPS).clear();
        }
        if (harness.getSideOutput(AnalyseSteps.MODELS) != null) {
            harness.getSideOutput(AnalyseSteps.MODELS).forEach(model -> told.model(model.getValue()));
            harness.getSideOutput(AnalyseSteps.MODELS).clear();
        }
        if (harness.getSideOutput(AnalyseSteps.FINDINGS) != null) {
            harness.getSideOutput(AnalyseSteps.FINDINGS).forEach(finding -> told.finding(finding.getValue()));
            harness.getSideOutput(AnalyseSteps.FINDINGS).clear();
        }
    }

    /** Feeds records; the watermark goes on as far as no later record is before it. Restored from snapshots now and then. */
    private static Told run(EngineScript engine, Random random, int restoreOneIn) throws Exception {
        List<EngineRecord> records = shuffled(records(engine), random);
        SegmentFeed segments = new SegmentFeed(Segments.of(engine.events()).published);
        Told told = new Told();
        long[] earliestLeft = new long[records.size() + 1];
        earliestLeft[records.size()] = Long.MAX_VALUE;
        for (int i = records.size() - 1; i >= 0; i--) {
            earliestLeft[i] = Math.min(earliestLeft[i + 1], records.get(i).coarseEpochMillis);
        }
        KeyedBroadcastOperatorTestHarness<String, EngineRecord, PublishedSegment, RequestInput> harness =
                harness(false, null);
        for (int i = 0; i < records.size(); i++) {
            harness.processElement(new StreamRecord<>(records.get(i), records.get(i).coarseEpochMillis));
            if (random.nextInt(10) == 0 && earliestLeft[i + 1] != Long.MAX_VALUE) {
                segments.upTo(earliestLeft[i + 1] - 1, random, harness);
                harness.watermark(earliestLeft[i + 1] - 1);
            }
            if (restoreOneIn > 0 && random.nextInt(restoreOneIn) == 0) {
                OperatorSubtaskState snapshot = harness.snapshot(i, i);
                take(harness, told);
                harness.close();
                harness = harness(false, snapshot);
            }
        }
        segments.upTo(Long.MAX_VALUE, random, harness);
        harness.watermark(Long.MAX_VALUE);
        take(harness, told);
        assertThat(SegmentFeed.keyedStateEntries(harness)).isZero();
        assertThat(harness.numEventTimeTimers()).isZero();
        harness.close();
        return told;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void arrivalOrderWithinTheLatenessBoundMakesNoDifference(long seed) throws Exception {
        EngineScript engine = RandomEngine.script(seed, STEPS);
        Random random = new Random(seed);

        assertThat(run(engine, random, 0).said()).isEqualTo(engine.told().said());
    }

    @ParameterizedTest
    @ValueSource(longs = {5, 6, 7})
    void aRestoreMakesNoDifference(long seed) throws Exception {
        EngineScript engine = RandomEngine.script(seed, STEPS);
        Random random = new Random(seed);

        assertThat(run(engine, random, 150).said()).isEqualTo(engine.told().said());
    }

    @ParameterizedTest
    @ValueSource(longs = {8, 9})
    void batchSaysTheSame(long seed) throws Exception {
        EngineScript engine = RandomEngine.script(seed, STEPS);
        List<EngineRecord> records = records(engine);
        // Batch sorts by event time and leaves ties as they fall.
        Collections.shuffle(records, new Random(seed));
        records.sort(Comparator.comparingLong(record -> record.coarseEpochMillis));
        Told told = new Told();
        try (var harness = harness(true, null)) {
            // Batch hears of every segment before anything else.
            new SegmentFeed(Segments.of(engine.events()).published).upTo(Long.MAX_VALUE, new Random(seed), harness);
            for (EngineRecord record : records) {
                harness.processElement(new StreamRecord<>(record, record.coarseEpochMillis));
            }
            harness.watermark(Long.MAX_VALUE);
            take(harness, told);
            assertThat(SegmentFeed.keyedStateEntries(harness)).isZero();
        }

        assertThat(told.said()).isEqualTo(engine.told().said());
    }

    @Test
    void undatedEventsAreJudgedAtTheEndInTheirOrder() throws Exception {
        EngineScript engine = new EngineScript().undated().start(64, "a").decode(30, "a");

        assertThat(run(engine, new Random(1), 0).said()).isEqualTo(engine.told().said());
    }

    @Test
    void anEventIsDrainedWithinHalfASecondOfTheWatermark() throws Exception {
        EngineScript engine = new EngineScript().start(64, "a");
        EngineScript ahead = new EngineScript().idle(60_000_000_000L).queue("far", 64);
        try (var harness = harness(false, null)) {
            // A partition that is far ahead must not hold back what a slower one brings.
            for (EngineScript script : List.of(ahead, engine)) {
                for (EngineRecord record : records(script)) {
                    record.collectorEpoch = script == ahead ? 2 : 1;
                    harness.processElement(new StreamRecord<>(record, record.coarseEpochMillis));
                }
            }
            harness.watermark(EngineScript.coarseEpochMillis(engine.nowNanos()) + 501);

            assertThat(harness.extractOutputValues())
                    .extracting(input -> input.requestId)
                    .contains("a");
        }
    }

    private static double shown(MetricListener listener, String name) {
        return listener.<Number>getGauge(name).orElseThrow().getValue().doubleValue();
    }

    /** Gives an engine's events from the n-th on, and lets event time reach them. */
    private static int take(
            KeyedBroadcastOperatorTestHarness<String, EngineRecord, PublishedSegment, RequestInput> harness,
            EngineScript script,
            String engineId,
            int from)
            throws Exception {
        List<EngineRecord> records = records(script);
        for (EngineRecord record : records.subList(from, records.size())) {
            record.engineId = engineId;
            harness.processElement(new StreamRecord<>(record, record.coarseEpochMillis));
        }
        harness.watermark(EngineScript.coarseEpochMillis(script.nowNanos()) + 1_000);
        return records.size();
    }

    @Test
    void whatEnginesTakeIsShown() throws Exception {
        MetricListener listener = new MetricListener();
        AnalyseSteps function = new AnalyseSteps(false);
        try (var harness = harness(function, null)) {
            function.tell(listener.getMetricGroup());
            assertThat(shown(listener, "enginesOpen")).isZero();
            EngineScript one = new EngineScript().start(64, "a").start(64, "b").decode(3, "a", "b");
            int taken = take(harness, one, "engine-1", 0);
            take(harness, new EngineScript().idle(1_000_000_000L).start(64, "c").decode(3, "c"), "engine-2", 0);
            assertThat(shown(listener, "enginesOpen")).isEqualTo(2);
            assertThat(shown(listener, "sequencesOpen")).isEqualTo(3);
            assertThat(shown(listener, "eventsWaiting")).isZero();
            assertThat(shown(listener, "stateBytes"))
                    .as("before the first checkpoint")
                    .isNaN();

            harness.snapshot(1, 1);
            one.idle(4_000_000_000L).decode(3, "a", "b");
            taken = take(harness, one, "engine-1", taken);
            double bytes = shown(listener, "stateBytes");
            assertThat(bytes).isBetween(2 * 500.0, 2 * 40_000.0);

            one.idle(4_000_000_000L).start(64, "d").start(64, "e").decode(3, "a", "b", "d", "e");
            taken = take(harness, one, "engine-1", taken);
            assertThat(shown(listener, "sequencesOpen")).isEqualTo(5);
            assertThat(shown(listener, "stateBytes"))
                    .as("an engine is not written at every drain")
                    .isEqualTo(bytes);

            harness.snapshot(2, 2);
            one.idle(4_000_000_000L).decode(3, "a", "b", "d", "e");
            take(harness, one, "engine-1", taken);
            assertThat(shown(listener, "stateBytes")).isGreaterThan(bytes);

            harness.watermark(Long.MAX_VALUE);
            for (String name : List.of("enginesOpen", "sequencesOpen", "eventsWaiting", "stateBytes")) {
                assertThat(shown(listener, name)).as(name).isZero();
            }
        }
    }
}
