package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.PriorityDisplacement;
import io.tokenstair.cause.Part;
import io.tokenstair.event.KvLookup;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.JobEnvironment;
import io.tokenstair.job.clock.ClockBroadcast;
import io.tokenstair.job.clock.PublishedSegment;
import io.tokenstair.job.request.RequestInput;
import io.tokenstair.job.statistics.DurationHistogram;
import io.tokenstair.job.statistics.DurationPane;
import io.tokenstair.job.statistics.Metric;
import io.tokenstair.job.statistics.MomentPane;
import io.tokenstair.job.statistics.MomentSums;
import io.tokenstair.job.statistics.PaneCounter;
import io.tokenstair.job.statistics.Panes;
import io.tokenstair.job.statistics.StatisticsOutput;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.co.CoBroadcastWithKeyedOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedBroadcastOperatorTestHarness;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The statistics of an engine are those of the tokens and steps that its timeline told, and the operator's are the timeline's. */
class StepStatisticsTest {

    /** Panes added up, in text. */
    private static final class Gathered implements StatisticsOutput {
        private final Map<String, DurationPane> durations = new TreeMap<>();
        private final Map<Long, MomentSums> moments = new TreeMap<>();
        private final TreeSet<String> displaced = new TreeSet<>();
        private final List<PriorityDisplacement> displacement = new ArrayList<>();

        @Override
        public void durations(DurationPane part) {
            String key = part.metric + " " + part.model + " " + part.engineId + " " + part.priority + " "
                    + part.paneStartMillis;
            DurationPane sum = durations.get(key);
            if (sum == null) {
                sum = new DurationPane();
                sum.metric = part.metric;
                sum.paneStartMillis = part.paneStartMillis;
                durations.put(key, sum);
            }
            sum.histogram = sum.histogram.plus(part.histogram);
            sum.maxNanos = Math.max(sum.maxNanos, part.maxNanos);
            sum.invalidCount += part.invalidCount;
        }

        @Override
        public void moments(MomentPane pane) {
            moments.computeIfAbsent(pane.paneStartMillis, start -> new MomentSums())
                    .add(pane.moments);
        }

        @Override
        public void displacement(PriorityDisplacement row) {
            assertThat(displaced.add(row.toString())).as("said once").isTrue();
            displacement.add(row);
        }

        String said() {
            StringBuilder said = new StringBuilder();
            durations.forEach((key, pane) -> said.append(key)
                    .append(' ')
                    .append(java.util.Arrays.toString(pane.histogram.buckets))
                    .append(java.util.Arrays.toString(pane.histogram.counts))
                    .append(pane.maxNanos)
                    .append(' ')
                    .append(pane.invalidCount)
                    .append('\n'));
            moments.forEach((start, sums) -> said.append(start)
                    .append(java.util.Arrays.toString(sums.sums))
                    .append(sums.hitRateKnown)
                    .append('\n'));
            displaced.forEach(row -> said.append(row).append('\n'));
            return said.toString();
        }

        DurationHistogram all(Metric metric) {
            DurationHistogram sum = new DurationHistogram();
            for (DurationPane pane : durations.values()) {
                if (pane.metric == metric) {
                    sum = sum.plus(pane.histogram);
                }
            }
            return sum;
        }
    }

    /** The same engine with priorities, three of them, and now and then a report of its prefix cache. */
    private static List<LoggedEvent> withPriorities(EngineScript engine) {
        List<LoggedEvent> events = new ArrayList<>();
        for (LoggedEvent logged : engine.events()) {
            if (logged.event() instanceof RequestQueued queued) {
                events.add(new LoggedEvent(
                        logged.header(),
                        new RequestQueued(
                                queued.engineId(),
                                queued.dpRank(),
                                queued.requestHandle(),
                                queued.engineRequestId(),
                                queued.arrivalEpochNanos(),
                                queued.promptTokens(),
                                queued.maxTokens(),
                                queued.engineRequestId().hashCode() % 3)));
            } else {
                events.add(logged);
            }
        }
        return events;
    }

    private static Gathered gathered(List<LoggedEvent> events, Told told) {
        Gathered gathered = new Gathered();
        EngineState state = new EngineState();
        state.engineId = EngineScript.ENGINE;
        PaneCounter counter = new PaneCounter(gathered::durations);
        EngineTimeline timeline = new EngineTimeline(state, told, gathered, counter);
        for (LoggedEvent event : events) {
            timeline.accept(event, EventCodec.encode(event));
        }
        timeline.finish();
        counter.ship();
        return gathered;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void quantilesAreOfEveryTokenAndStepThatWasTold(long seed) {
        Told told = new Told();
        Gathered gathered = gathered(withPriorities(RandomEngine.script(seed, 600)), told);

        List<Long> gaps = new ArrayList<>();
        List<Long> firsts = new ArrayList<>();
        List<Long> waits = new ArrayList<>();
        for (Told.Token token : told.tokens()) {
            if (token.gapNanos() != null) {
                (token.index() == 0 ? firsts : gaps).add(token.gapNanos());
                if (token.index() == 0) {
                    waits.add(token.parts().getOrDefault(Part.QUEUE_WAIT, 0L));
                }
            }
        }
        assertThat(gathered.all(Metric.GAP)).isEqualTo(histogram(gaps));
        assertThat(gathered.all(Metric.ENGINE_TTFT)).isEqualTo(histogram(firsts));
        assertThat(gathered.all(Metric.QUEUE_WAIT)).isEqualTo(histogram(waits));
        assertThat(gathered.all(Metric.STEP).total).isBetween(told.steps.size() - 60L, (long) told.steps.size());
        assertThat(gathered.durations.keySet()).anyMatch(key -> key.contains(" " + EngineScript.ENGINE + " 1 "));
    }

    private static DurationHistogram histogram(List<Long> nanos) {
        return DurationHistogram.of(nanos.stream()
                .filter(value -> value >= 0)
                .mapToLong(Long::longValue)
                .toArray());
    }

    @Test
    void aWaitForASeatIsBookedToTheClassThatHoldsIt() {
        EngineScript engine = new EngineScript().configured(512L, 2).start(64, "low-0", "low-1");
        engine.queue("high", 64);
        for (int i = 0; i < 5; i++) {
            engine.step().decode("low-0", "low-1").counts(2, 1).run();
        }
        engine.finish("low-0", "length");
        engine.step().decode("low-1").prefill("high", 64).counts(2, 0).run();
        engine.decode(3, "low-1", "high");
        Told told = new Told();
        Gathered gathered = gathered(named(engine, Map.of("low-0", 10, "low-1", 10, "high", 0)), told);

        long waited = told.steps.subList(2, 7).stream()
                .mapToLong(step -> step.stepNanos() + step.idleNanos())
                .sum();
        assertThat(gathered.displacement).singleElement().satisfies(row -> {
            assertThat(row.engineId()).isEqualTo(EngineScript.ENGINE);
            assertThat(row.winnerPriority()).isEqualTo(10);
            assertThat(row.loserPriority()).isZero();
            assertThat(row.displacedNanos()).isEqualTo(waited);
            assertThat(row.loserCount()).isEqualTo(1);
            assertThat(row.worstRequestId()).isEqualTo("high");
            assertThat(row.windowEndMillis() - row.windowStartMillis()).isEqualTo(Panes.MILLIS);
        });
    }

    @Test
    void thePreemptedWaitIsBookedToTheClassItMadeRoomFor() {
        EngineScript engine = new EngineScript().configured(512L, 8).start(64, "low", "high", "mid");
        engine.preempt("low", "high");
        engine.decode(4, "high", "mid");
        engine.step()
                .recompute("low", engine.owedTokens("low"))
                .decode("high", "mid")
                .run();
        engine.decode(3, "high", "mid", "low");
        Told told = new Told();
        Gathered gathered = gathered(named(engine, Map.of("low", 10, "high", 0, "mid", 5)), told);

        long waited = told.steps.subList(3, 7).stream()
                .mapToLong(step -> step.stepNanos() + step.idleNanos())
                .sum();
        assertThat(gathered.displacement).singleElement().satisfies(row -> {
            assertThat(row.winnerPriority()).isZero();
            assertThat(row.loserPriority()).isEqualTo(10);
            assertThat(row.displacedNanos()).isEqualTo(waited);
        });
    }

    @Test
    void nobodyIsPushedBackWhereAllHaveOnePriority() {
        EngineScript engine = new EngineScript().configured(512L, 1).start(64, "a");
        engine.queue("b", 64);
        engine.decode(5, "a");
        Gathered gathered = gathered(named(engine, Map.of("a", 3, "b", 3)), new Told());

        assertThat(gathered.displacement).isEmpty();
    }

    private static List<LoggedEvent> named(EngineScript engine, Map<String, Integer> priorities) {
        Map<String, Integer> byEngineName = new HashMap<>();
        priorities.forEach((name, priority) -> byEngineName.put(EngineScript.engineRequestId(name), priority));
        List<LoggedEvent> events = new ArrayList<>();
        for (LoggedEvent logged : engine.events()) {
            if (logged.event() instanceof RequestQueued queued) {
                events.add(new LoggedEvent(
                        logged.header(),
                        new RequestQueued(
                                queued.engineId(),
                                queued.dpRank(),
                                queued.requestHandle(),
                                queued.engineRequestId(),
                                null,
                                queued.promptTokens(),
                                null,
                                byEngineName.get(queued.engineRequestId()))));
            } else {
                events.add(logged);
            }
        }
        return events;
    }

    @Test
    void theHitRateIsThatOfTheReportsOrOfTheFirstChunks() {
        EngineScript engine = new EngineScript().configured(512L, 64);
        engine.start(64, "a");
        engine.decode(60, "a");
        Gathered rows = gathered(engine.events(), new Told());
        assertThat(rows.moments.values()).isNotEmpty().allMatch(sums -> sums.hitRateKnown);

        List<LoggedEvent> withReport = new ArrayList<>(engine.events());
        withReport.add(
                3,
                new LoggedEvent(
                        withReport.get(3).header(), new KvLookup(EngineScript.ENGINE, 0, 100L, 40L, null, null)));
        assertThat(gathered(withReport, new Told()).moments.values()).allMatch(sums -> sums.hitRateKnown);
    }

    // ---- the operator

    private static KeyedBroadcastOperatorTestHarness<String, EngineRecord, PublishedSegment, RequestInput> harness(
            boolean sortedInput, @Nullable OperatorSubtaskState restored) throws Exception {
        KeyedBroadcastOperatorTestHarness<String, EngineRecord, PublishedSegment, RequestInput> harness =
                new KeyedBroadcastOperatorTestHarness<>(
                        new CoBroadcastWithKeyedOperator<>(new AnalyseSteps(sortedInput), List.of(ClockBroadcast.WAYS)),
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

    private static List<EngineRecord> records(List<LoggedEvent> events) {
        List<EngineRecord> records = new ArrayList<>();
        for (LoggedEvent event : events) {
            EngineRecord record = new EngineRecord();
            record.engineId = EngineScript.ENGINE;
            Long millis = event.header().coarseEpochMillis();
            record.coarseEpochMillis = millis == null ? Long.MAX_VALUE : millis;
            record.collectorId = event.header().collectorId();
            record.collectorEpoch = event.header().collectorEpoch();
            record.sequence = event.header().sequence();
            record.bytes = EventCodec.encode(event);
            records.add(record);
        }
        return records;
    }

    private static <T> void drain(
            KeyedBroadcastOperatorTestHarness<String, EngineRecord, PublishedSegment, RequestInput> harness,
            OutputTag<T> tag,
            java.util.function.Consumer<T> consumer) {
        if (harness.getSideOutput(tag) != null) {
            harness.getSideOutput(tag).forEach(record -> consumer.accept(record.getValue()));
            harness.getSideOutput(tag).clear();
        }
    }

    private static void take(
            KeyedBroadcastOperatorTestHarness<String, EngineRecord, PublishedSegment, RequestInput> harness,
            Gathered gathered) {
        drain(harness, AnalyseSteps.DURATIONS, gathered::durations);
        drain(harness, AnalyseSteps.MOMENTS, gathered::moments);
        drain(harness, AnalyseSteps.DISPLACEMENT, gathered::displacement);
    }

    @ParameterizedTest
    @ValueSource(longs = {21, 22, 23})
    void streamingWithRestoresAndBatchSayWhatTheTimelineSays(long seed) throws Exception {
        List<LoggedEvent> events = withPriorities(RandomEngine.script(seed, 600));
        List<EngineRecord> records = records(events);
        records.sort(EngineRecord.ORDER);
        String expected = gathered(events, new Told()).said();
        assertThat(expected).contains("PriorityDisplacement[").contains("GAP");

        Random random = new Random(seed);
        Gathered streaming = new Gathered();
        var harness = harness(false, null);
        for (int i = 0; i < records.size(); i++) {
            harness.processElement(new StreamRecord<>(records.get(i), records.get(i).coarseEpochMillis));
            if (random.nextInt(10) == 0 && records.get(i).coarseEpochMillis != Long.MAX_VALUE) {
                harness.watermark(records.get(i).coarseEpochMillis - 1);
            }
            if (random.nextInt(150) == 0) {
                OperatorSubtaskState snapshot = harness.snapshot(i, i);
                take(harness, streaming);
                harness.close();
                harness = harness(false, snapshot);
            }
        }
        // The engine falls silent: its panes are told all the same.
        harness.watermark(records.get(records.size() - 1).coarseEpochMillis + 2 * Panes.MOMENT_MILLIS);
        take(harness, streaming);
        assertThat(streaming.said()).isEqualTo(expected);
        harness.watermark(Long.MAX_VALUE);
        take(harness, streaming);
        harness.close();
        assertThat(streaming.said()).isEqualTo(expected);

        Gathered batch = new Gathered();
        records.sort(Comparator.comparingLong(record -> record.coarseEpochMillis));
        try (var sorted = harness(true, null)) {
            for (EngineRecord record : records) {
                sorted.processElement(new StreamRecord<>(record, record.coarseEpochMillis));
            }
            sorted.watermark(Long.MAX_VALUE);
            take(sorted, batch);
        }
        assertThat(batch.said()).isEqualTo(expected);
    }
}
