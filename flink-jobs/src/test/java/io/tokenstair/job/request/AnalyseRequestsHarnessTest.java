package io.tokenstair.job.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.job.JobEnvironment;
import io.tokenstair.job.clock.ClockBroadcast;
import io.tokenstair.job.clock.PublishedSegment;
import io.tokenstair.job.clock.SegmentFeed;
import io.tokenstair.job.step.EngineScript;
import io.tokenstair.job.step.RandomEngine;
import io.tokenstair.milestone.Milestone;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.function.Consumer;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.metrics.testutils.MetricListener;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.co.CoBroadcastWithKeyedOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedBroadcastOperatorTestHarness;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The operator around the life of a request: whatever the arrival, it says what the life says of the ordered inputs. */
class AnalyseRequestsHarnessTest {
    private static final int STEPS = 300;
    private static final long MILLIS = 1_000_000;

    /** The function, and the operator that streams have. */
    enum Way {
        FUNCTION,
        STREAM;

        CoBroadcastWithKeyedOperator<String, RequestInput, PublishedSegment, TokenAnalysis> operator() {
            return this == STREAM
                    ? new StreamRequests(false)
                    : new CoBroadcastWithKeyedOperator<>(new AnalyseRequests(), List.of(ClockBroadcast.WAYS));
        }

        /** Requests that wait for event time. */
        int timers(KeyedBroadcastOperatorTestHarness<String, RequestInput, PublishedSegment, TokenAnalysis> harness) {
            return harness.getOperator() instanceof StreamRequests stream
                    ? stream.timers()
                    : harness.numEventTimeTimers();
        }

        /** What is kept of requests: their inputs and their state. */
        int entries(KeyedBroadcastOperatorTestHarness<String, RequestInput, PublishedSegment, TokenAnalysis> harness)
                throws Exception {
            if (harness.getOperator() instanceof StreamRequests stream) {
                harness.snapshot(Integer.MAX_VALUE, 0);
                assertThat(SegmentFeed.keyedStateEntries(harness)).isEqualTo(2 * stream.requests());
            }
            return SegmentFeed.keyedStateEntries(harness);
        }
    }

    private static KeyedBroadcastOperatorTestHarness<String, RequestInput, PublishedSegment, TokenAnalysis> harness(
            Way way, @Nullable OperatorSubtaskState restored) throws Exception {
        KeyedBroadcastOperatorTestHarness<String, RequestInput, PublishedSegment, TokenAnalysis> harness =
                new KeyedBroadcastOperatorTestHarness<>(
                        way.operator(), input -> input.requestId, Types.STRING, JobEnvironment.MAX_PARALLELISM, 1, 0);
        ((SerializerConfigImpl) harness.getExecutionConfig().getSerializerConfig()).setGenericTypes(false);
        harness.setup();
        if (restored != null) {
            harness.initializeState(restored);
        }
        harness.open();
        return harness;
    }

    private static void take(
            KeyedBroadcastOperatorTestHarness<String, RequestInput, PublishedSegment, TokenAnalysis> harness,
            Lived lived) {
        harness.extractOutputValues().forEach(lived::token);
        harness.getOutput().clear();
        side(harness, AnalyseRequests.REQUESTS, lived::request);
        side(harness, AnalyseRequests.FINDINGS, lived::finding);
        side(harness, AnalyseRequests.MILESTONES, lived::milestone);
    }

    private static <T> void side(
            KeyedBroadcastOperatorTestHarness<String, RequestInput, PublishedSegment, TokenAnalysis> harness,
            OutputTag<T> tag,
            Consumer<T> taker) {
        Queue<StreamRecord<T>> queue = harness.getSideOutput(tag);
        if (queue != null) {
            queue.forEach(record -> taker.accept(record.getValue()));
            queue.clear();
        }
    }

    private static List<String> sorted(Lived lived) {
        return lived.said().stream().sorted().toList();
    }

    /** What the lives say of the ordered inputs, each key for itself. */
    private static Lived direct(List<RequestScript> scripts) {
        Lived all = new Lived();
        for (RequestScript script : scripts) {
            Lived lived = script.lived();
            lived.tokens.forEach(all::token);
            lived.requests.forEach(all::request);
            lived.findings.forEach(all::finding);
            lived.milestones.forEach(all::milestone);
        }
        return all;
    }

    /** The inputs of all, each up to two seconds later than it should be: an engine's timeline speaks behind its events. */
    private static List<RequestInput> shuffled(List<RequestScript> scripts, Random random) {
        List<RequestInput> inputs = new ArrayList<>();
        scripts.forEach(script -> inputs.addAll(script.inputs()));
        List<Long> arrivals = new ArrayList<>();
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < inputs.size(); i++) {
            arrivals.add(inputs.get(i).coarseEpochMillis + random.nextInt(2_000));
            order.add(i);
        }
        Collections.shuffle(order, random);
        order.sort(Comparator.comparing(arrivals::get));
        return order.stream().map(inputs::get).toList();
    }

    private static Lived run(Way way, List<RequestInput> inputs, Random random, int restoreOneIn) throws Exception {
        Lived lived = new Lived();
        long[] earliestLeft = new long[inputs.size() + 1];
        earliestLeft[inputs.size()] = Long.MAX_VALUE;
        for (int i = inputs.size() - 1; i >= 0; i--) {
            earliestLeft[i] = Math.min(earliestLeft[i + 1], inputs.get(i).coarseEpochMillis);
        }
        KeyedBroadcastOperatorTestHarness<String, RequestInput, PublishedSegment, TokenAnalysis> harness =
                harness(way, null);
        for (int i = 0; i < inputs.size(); i++) {
            harness.processElement(new StreamRecord<>(inputs.get(i), inputs.get(i).coarseEpochMillis));
            if (random.nextInt(10) == 0 && earliestLeft[i + 1] != Long.MAX_VALUE) {
                harness.watermark(earliestLeft[i + 1] + AnalyseRequests.HOLD_MILLIS - 1);
            }
            if (restoreOneIn > 0 && random.nextInt(restoreOneIn) == 0) {
                OperatorSubtaskState snapshot = harness.snapshot(i, i);
                take(harness, lived);
                harness.close();
                harness = harness(way, snapshot);
            }
        }
        harness.watermark(Long.MAX_VALUE);
        take(harness, lived);
        assertThat(way.entries(harness)).isZero();
        assertThat(way.timers(harness)).isZero();
        harness.close();
        return lived;
    }

    @ParameterizedTest
    @CsvSource({"FUNCTION,1", "FUNCTION,2", "FUNCTION,3", "STREAM,1", "STREAM,2", "STREAM,3"})
    void arrivalOrderWithinTheHoldMakesNoDifference(Way way, long seed) throws Exception {
        List<RequestScript> scripts =
                RandomClients.scripts(RandomEngine.script(seed, STEPS).told(), seed);
        Random random = new Random(seed);

        assertThat(sorted(run(way, shuffled(scripts, random), random, 0))).isEqualTo(sorted(direct(scripts)));
    }

    @ParameterizedTest
    @CsvSource({"FUNCTION,4", "FUNCTION,5", "FUNCTION,6", "STREAM,4", "STREAM,5", "STREAM,6"})
    void aRestoreMakesNoDifference(Way way, long seed) throws Exception {
        List<RequestScript> scripts =
                RandomClients.scripts(RandomEngine.script(seed, STEPS).told(), seed);
        Random random = new Random(seed);

        assertThat(sorted(run(way, shuffled(scripts, random), random, 200))).isEqualTo(sorted(direct(scripts)));
    }

    @ParameterizedTest
    @EnumSource
    void tokensComeAHoldBehindTheWatermarkThoughTheirRequestWasSilentForLonger(Way way) throws Exception {
        EngineScript engine = new EngineScript().queue("x", 64).idle(20_000 * MILLIS);
        engine.step().prefill("x", 64).run();
        for (int i = 1; i < 100; i++) {
            engine.step().decode("x").late(1_000 * MILLIS).run();
        }
        RequestScript script = new RequestScript("x").engine(engine.told());
        try (var harness = harness(way, null)) {
            for (RequestInput input : script.inputs()) {
                harness.watermark(input.coarseEpochMillis - 1);
                harness.processElement(new StreamRecord<>(input, input.coarseEpochMillis));
            }
            // Only what is younger than the hold, and its grid, is missing.
            assertThat(harness.extractOutputValues().size()).isBetween(93, 98);
            assertThat(way.timers(harness)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void nothingIsLeftOfARequestOnceItsMemoryHasPassed(Way way) throws Exception {
        EngineScript engine = new EngineScript().start(64, "x").decode(9, "x").finish("x", "length");
        RequestScript script = new RequestScript("x")
                .sent(MILLIS)
                .engine(engine.told())
                .delivered(engine.told(), 0, "x", MILLIS)
                .ended(engine.nowNanos() + 2 * MILLIS, "complete");
        long closed = EngineScript.coarseEpochMillis(engine.nowNanos() + 2 * MILLIS) + RequestLife.GRACE_MILLIS;
        try (var harness = harness(way, null)) {
            for (RequestInput input : script.inputs()) {
                harness.processElement(new StreamRecord<>(input, input.coarseEpochMillis));
            }
            harness.watermark(closed + AnalyseRequests.HOLD_MILLIS + 1_000);
            Lived lived = new Lived();
            take(harness, lived);
            assertThat(lived.requests).hasSize(1);
            assertThat(lived.tokens).hasSize(10);
            assertThat(way.entries(harness)).isEqualTo(2);

            harness.watermark(closed + RequestLife.MEMORY_MILLIS + AnalyseRequests.HOLD_MILLIS + 1_000);
            assertThat(way.entries(harness)).isZero();
            assertThat(way.timers(harness)).isZero();
        }
    }

    /** What a gauge shows. */
    private static double shown(MetricListener listener, String name) {
        return listener.<Number>getGauge(name).orElseThrow().getValue().doubleValue();
    }

    /** Gives what is known of a request that was sent, and says its event time. */
    private static long take(KeyedBroadcastOperatorTestHarness<?, RequestInput, ?, ?> harness, String requestId)
            throws Exception {
        RequestInput sent = new RequestScript(requestId).sent(MILLIS).inputs().get(0);
        harness.processElement(new StreamRecord<>(sent, sent.coarseEpochMillis));
        return sent.coarseEpochMillis;
    }

    @Test
    void whatRequestsTakeIsShown() throws Exception {
        MetricListener listener = new MetricListener();
        OperatorSubtaskState snapshot;
        try (var harness = harness(Way.STREAM, null)) {
            ((StreamRequests) harness.getOperator()).tell(listener.getMetricGroup());
            assertThat(shown(listener, "requestsRemembered")).isZero();
            assertThat(shown(listener, "stateBytes"))
                    .as("before the first checkpoint")
                    .isNaN();
            take(harness, "x");
            take(harness, "y");
            long millis = take(harness, "x");
            assertThat(shown(listener, "requestsRemembered")).isEqualTo(2);
            assertThat(shown(listener, "requestsOpen"))
                    .as("event time has not reached them")
                    .isZero();
            assertThat(shown(listener, "inputsWaiting")).isEqualTo(3);
            harness.watermark(millis + AnalyseRequests.HOLD_MILLIS + 1_000);
            assertThat(shown(listener, "requestsOpen")).isEqualTo(2);
            assertThat(shown(listener, "inputsWaiting")).isZero();
            take(harness, "z");
            snapshot = harness.snapshot(1, 1);
        }
        assertThat(shown(listener, "stateBytes")).isBetween(3 * 100.0, 3 * 1_000.0);

        MetricListener restored = new MetricListener();
        try (var harness = harness(Way.STREAM, snapshot)) {
            ((StreamRequests) harness.getOperator()).tell(restored.getMetricGroup());
            assertThat(shown(restored, "requestsRemembered")).isEqualTo(3);
            assertThat(shown(restored, "requestsOpen")).isEqualTo(2);
            assertThat(shown(restored, "inputsWaiting")).isEqualTo(1);
            harness.watermark(Long.MAX_VALUE);
            harness.snapshot(2, 2);
            for (String name : List.of("requestsRemembered", "requestsOpen", "inputsWaiting", "stateBytes")) {
                assertThat(shown(restored, name)).as(name).isZero();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyOutputIsThere(Way way) throws Exception {
        List<RequestScript> scripts =
                RandomClients.scripts(RandomEngine.script(9, STEPS).told(), 9);
        Random random = new Random(9);
        Lived lived = run(way, shuffled(scripts, random), random, 0);

        assertThat(lived.requests).extracting(RequestAnalysis::requestId).hasSameSizeAs(scripts);
        assertThat(lived.findings).extracting(Finding::findingId).doesNotHaveDuplicates();
        assertThat(lived.milestones).extracting(Milestone::requestId).doesNotContainNull();
    }
}
