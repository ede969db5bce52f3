package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.clock.ClockBroadcast;
import io.tokenstair.job.clock.FitClocksHarnessTest;
import io.tokenstair.job.clock.PublishedSegment;
import io.tokenstair.job.clock.Segments;
import io.tokenstair.job.request.RandomClients;
import io.tokenstair.job.request.RequestInput;
import io.tokenstair.job.request.StreamRequests;
import io.tokenstair.job.rule.RuleStates;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.statistics.SlideWindowsHarnessTest;
import io.tokenstair.job.step.AnalyseSteps;
import io.tokenstair.job.step.EngineRecord;
import io.tokenstair.job.step.EngineScript;
import io.tokenstair.job.step.RandomEngine;
import io.tokenstair.rule.bound.RuleKey;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.co.CoBroadcastWithKeyedOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedBroadcastOperatorTestHarness;
import org.apache.flink.streaming.util.OperatorSnapshotUtil;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * State that an earlier build saved is read by this one: for each operator with state of its own a snapshot taken in the middle of a
 * fixed input lies in {@code src/test/resources/state-v1}, by the operator's uid. Restored, the operator must say of the rest what
 * it says when it stops and goes on today. Before a release that may not restore older state, renew them, and say so in its notes:
 *
 * <pre>mvn -pl flink-jobs -am -Dstate.renew=true -Dtest=StateFixtureTest -Dsurefire.failIfNoSpecifiedTests=false test</pre>
 */
class StateFixtureTest {
    private static final String FOLDER = "state-v1";
    private static final int STEPS = 240;
    private static final long SEED = 21;

    @TempDir
    Path folder;

    /** Stops an operator in the middle. */
    interface First {
        OperatorSubtaskState stop() throws Exception;
    }

    /** Goes on from there. */
    interface Second {
        List<String> goOn(OperatorSubtaskState stopped) throws Exception;
    }

    /** An operator by its uid. */
    record Stateful(String uid, First first, Second second) {
        @Override
        public String toString() {
            return uid;
        }
    }

    static List<Stateful> operators() {
        List<Stateful> operators = new ArrayList<>();
        operators.add(of(
                "fit-clocks",
                FitClocksHarnessTest.operator(false),
                FitClocksHarnessTest.records(FitClocksHarnessTest.samples())));
        operators.add(of(
                "slide-quantiles", SlideWindowsHarnessTest.quantiles(), SlideWindowsHarnessTest.durationParts(SEED)));
        operators.add(of(
                "slide-covariance", SlideWindowsHarnessTest.covariances(), SlideWindowsHarnessTest.momentParts(SEED)));
        EngineScript engine = RandomEngine.script(SEED, STEPS);
        List<PublishedSegment> segments = Segments.of(engine.events()).published;
        List<EngineRecord> records = new ArrayList<>();
        for (int i = 0; i < engine.events().size(); i++) {
            records.add(
                    engineRecord(RawRecord.of(EventCodec.encode(engine.events().get(i)), "partition-0000", i)));
        }
        records.sort(Comparator.comparingLong(record -> record.coarseEpochMillis));
        operators.add(aligning(
                "analyse-steps",
                new Aligning<>(
                        () -> new CoBroadcastWithKeyedOperator<>(new AnalyseSteps(false), List.of(ClockBroadcast.WAYS)),
                        record -> record.engineId,
                        record -> record.coarseEpochMillis,
                        input -> input.requestId + ' ' + (input.tokens == null ? "fact" : input.tokens.count)),
                records,
                segments));
        List<RequestInput> inputs = new ArrayList<>();
        RandomClients.scripts(engine.told(), SEED).forEach(script -> inputs.addAll(script.inputs()));
        inputs.sort(RequestInput.ORDER);
        operators.add(aligning(
                "analyse-requests",
                new Aligning<>(
                        // What its function saved is read by the operator that streams have now.
                        () -> new StreamRequests(false),
                        input -> input.requestId,
                        input -> input.coarseEpochMillis,
                        Record::toString),
                inputs,
                List.of()));
        operators.add(new Stateful("schedule-rules", RuleStates::stopScheduling, RuleStates::goOnScheduling));
        operators.add(new Stateful("schedule-rules-waiting", RuleStates::stopWaiting, RuleStates::goOnWaiting));
        for (RuleKey key : List.of(RuleKey.ENGINE, RuleKey.REQUEST)) {
            operators.add(new Stateful(
                    "run-rules-" + key.name().toLowerCase(Locale.ROOT),
                    () -> RuleStates.stopRunning(key),
                    stopped -> RuleStates.goOnRunning(key, stopped)));
        }
        operators.add(of("sum-rule-activity", RuleStates.sums(), RuleStates.parts()));
        return operators;
    }

    private static EngineRecord engineRecord(RawRecord read) {
        EngineRecord record = new EngineRecord();
        record.engineId = EngineScript.ENGINE;
        record.coarseEpochMillis = read.isDated() ? read.coarseEpochMillis : Long.MAX_VALUE;
        record.collectorId = read.collectorId;
        record.collectorEpoch = read.collectorEpoch;
        record.sequence = read.sequence;
        record.bytes = read.bytes;
        return record;
    }

    private static <I, O> Stateful of(String uid, KeyedRun<I, O> run, List<I> inputs) {
        return new Stateful(uid, () -> run.firstHalf(inputs), stopped -> run.secondHalf(inputs, stopped));
    }

    private static <I, O> Stateful aligning(
            String uid, Aligning<I, O> run, List<I> inputs, List<PublishedSegment> segments) {
        return new Stateful(uid, () -> run.firstHalf(inputs, segments), stopped -> run.secondHalf(inputs, stopped));
    }

    /** Makes an operator that aligns stamps. */
    interface Maker<I, O> {
        CoBroadcastWithKeyedOperator<String, I, PublishedSegment, O> make();
    }

    /** A keyed operator that hears of clock segments. */
    private record Aligning<I, O>(
            Maker<I, O> maker, KeySelector<I, String> key, ToLongFunction<I> millis, Function<O, String> text) {

        KeyedBroadcastOperatorTestHarness<String, I, PublishedSegment, O> harness(
                @Nullable OperatorSubtaskState restored) throws Exception {
            KeyedBroadcastOperatorTestHarness<String, I, PublishedSegment, O> harness =
                    new KeyedBroadcastOperatorTestHarness<>(
                            maker.make(), key, Types.STRING, JobEnvironment.MAX_PARALLELISM, 1, 0);
            ((SerializerConfigImpl) harness.getExecutionConfig().getSerializerConfig()).setGenericTypes(false);
            harness.setup();
            if (restored != null) {
                harness.initializeState(restored);
            }
            harness.open();
            return harness;
        }

        OperatorSubtaskState firstHalf(List<I> inputs, List<PublishedSegment> segments) throws Exception {
            try (var harness = harness(null)) {
                for (PublishedSegment segment : segments) {
                    harness.processBroadcastElement(new StreamRecord<>(segment, segment.publishedMillis()));
                }
                feed(harness, inputs, 0, inputs.size() / 2);
                return harness.snapshot(1, 1);
            }
        }

        List<String> secondHalf(List<I> inputs, OperatorSubtaskState stopped) throws Exception {
            try (var harness = harness(stopped)) {
                feed(harness, inputs, inputs.size() / 2, inputs.size());
                harness.watermark(Long.MAX_VALUE);
                return harness.extractOutputValues().stream().map(text).toList();
            }
        }

        private void feed(
                KeyedBroadcastOperatorTestHarness<String, I, PublishedSegment, O> harness,
                List<I> inputs,
                int from,
                int to)
                throws Exception {
            for (int i = from; i < to; i++) {
                long at = millis.applyAsLong(inputs.get(i));
                if (i % 16 == 15) {
                    harness.watermark(at - 1);
                }
                harness.processElement(new StreamRecord<>(inputs.get(i), at));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("operators")
    void stateOfAnEarlierBuildIsReadByThisOne(Stateful operator) throws Exception {
        OperatorSubtaskState today = operator.first().stop();
        if (Boolean.getBoolean("state.renew")) {
            Path written = folder.resolve("written");
            OperatorSnapshotUtil.writeStateHandle(today, written.toString());
            Path renewed = Path.of("src/test/resources", FOLDER, fileName(operator.uid()));
            Files.createDirectories(renewed.getParent());
            try (OutputStream packed = new GZIPOutputStream(Files.newOutputStream(renewed))) {
                Files.copy(written, packed);
            }
        }
        List<String> expected = operator.second().goOn(today);

        List<String> said = operator.second().goOn(OperatorSnapshotUtil.readStateHandle(fixture(operator.uid())));

        assertThat(said).isNotEmpty().isEqualTo(expected);
    }

    private static String fileName(String uid) {
        return uid + ".state.gz";
    }

    private String fixture(String uid) throws IOException {
        Path copy = folder.resolve(uid);
        try (InputStream saved = new GZIPInputStream(open(uid))) {
            Files.copy(saved, copy);
        }
        return copy.toString();
    }

    private static InputStream open(String uid) throws IOException {
        if (Boolean.getBoolean("state.renew")) {
            return Files.newInputStream(Path.of("src/test/resources", FOLDER, fileName(uid)));
        }
        return Objects.requireNonNull(
                StateFixtureTest.class.getResourceAsStream("/" + FOLDER + "/" + fileName(uid)),
                () -> "Cannot find the saved state of " + uid);
    }
}
