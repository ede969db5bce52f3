package io.tokenstair.job.cases;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.RawRow;
import io.tokenstair.archive.RawTableReader;
import io.tokenstair.archive.RawTables;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.Finish;
import io.tokenstair.event.HostPaused;
import io.tokenstair.event.KernelRan;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Phase;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.SequenceRow;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.StreamStalled;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.AnalysisJob;
import io.tokenstair.job.JobEnvironment;
import io.tokenstair.job.cases.CaseScript.Row;
import io.tokenstair.job.source.CollectorWatermarks;
import io.tokenstair.job.source.FolderLogSource;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.source.RawRecordTypeInfo;
import io.tokenstair.log.FolderLogWriter;
import io.tokenstair.rule.library.RuleLibrary;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Input that cannot be right, through the whole job beside input that is: what docs/causes and docs/requests say becomes of it does, it is
 * counted, and nothing else suffers. The log is read a second time with records that come twice and in another order.
 */
class BadInputIT {
    private static final long MS = CaseScript.MS;
    private static final long YEAR = 366L * 86_400 * CaseScript.SECOND;
    private static final int TOKENS = 80;

    @TempDir
    static Path folder;

    private static final List<CaseScript> SCRIPTS = new ArrayList<>();
    private static CaseResults results = new CaseResults("", List.of(), List.of(), List.of());
    private static CaseResults disturbed = results;

    /** A script in which one request decodes for a while. */
    private static CaseScript engine(String name) {
        CaseScript script = new CaseScript(name).configured(2_048L, 16, null).queued("R", 32);
        SCRIPTS.add(script);
        return script.step(30 * MS, Row.prompt("R", 32)).decode(TOKENS / 2, 20 * MS, "R");
    }

    private static void ended(CaseScript script) {
        script.decode(TOKENS / 2 - 1, 20 * MS, "R").finished("R", "length");
    }

    /** Changes the step that was written last. */
    private static void change(CaseScript script, UnaryOperator<StepCompleted> change) {
        int last = script.events.size() - 1;
        LoggedEvent logged = script.events.get(last);
        script.events.set(last, new LoggedEvent(logged.header(), change.apply((StepCompleted) logged.event())));
    }

    private static StepCompleted stamped(StepCompleted step, long startNanos, long endNanos) {
        return with(step, startNanos, endNanos, step.rows());
    }

    /** The same with so many tokens of its one row, and such a context. */
    private static StepCompleted counted(StepCompleted step, int tokens, int contextTokens) {
        SequenceRow row = new SequenceRow(
                step.rows().requestHandle(0),
                step.rows().firstTokenIndex(0),
                tokens,
                contextTokens,
                1,
                Phase.DECODE,
                null,
                null,
                null);
        return with(step, step.updateEndNanos() - 20 * MS, step.updateEndNanos(), SequenceRows.of(List.of(row)));
    }

    private static StepCompleted with(StepCompleted step, long startNanos, long endNanos, SequenceRows rows) {
        return new StepCompleted(
                step.engineId(),
                step.dpRank(),
                step.stepId(),
                startNanos,
                null,
                null,
                endNanos,
                step.forwardMode(),
                step.graphMode(),
                step.paddedBatchCount(),
                step.decodeTokens(),
                step.prefillTokens(),
                step.recomputeTokens(),
                step.runningCount(),
                step.waitingCount(),
                step.kvUsedBlocksCount(),
                step.kvTotalBlocksCount(),
                step.kvBatchSequence(),
                null,
                List.of(),
                rows);
    }

    @BeforeAll
    static void runTheJob() throws Exception {
        ended(engine("sound"));

        CaseScript numbers = engine("numbers");
        for (double value : new double[] {Double.NaN, Double.POSITIVE_INFINITY, -3}) {
            numbers.metric("vllm:num_requests_running", "engine=\"numbers\"", value);
        }
        long now = numbers.nowNanos;
        numbers.engine(new KernelRan(
                "numbers", "gpu-0", "7", null, "gemm", "gemm", now - 5 * MS, -4 * MS, null, null, null, 1));
        numbers.engine(new HostPaused("numbers", "host", "engine", "gc", now - YEAR, now));
        numbers.engine(new StreamStalled("numbers", "gpu-0", null, null, "stream-sync", now, now - 30 * MS, 0, null));
        ended(numbers);

        CaseScript year = engine("year").step(20 * MS, Row.decode("R"));
        change(year, step -> stamped(step, step.updateEndNanos() - YEAR, step.updateEndNanos()));
        ended(year);

        CaseScript negative = engine("negative").step(20 * MS, Row.decode("R"));
        // Its start lies behind its end: a step without a start.
        change(negative, step -> stamped(step, step.updateEndNanos() + 300 * MS, step.updateEndNanos()));
        ended(negative);

        CaseScript beyond = engine("beyond").step(20 * MS, Row.decode("R"));
        change(beyond, step -> stamped(step, Long.MIN_VALUE + 3, Long.MAX_VALUE - 3));
        ended(beyond);

        CaseScript masses = engine("masses").step(20 * MS, Row.decode("R"));
        change(masses, step -> counted(step, Integer.MAX_VALUE, 80));
        masses.step(20 * MS, Row.decode("R"));
        change(masses, step -> counted(step, 1, Integer.MAX_VALUE));
        ended(masses);

        CaseScript nameless = engine("nameless").step(20 * MS, Row.decode("R"));
        nameless.unannounced(77, 20 * MS);
        ended(nameless);

        CaseScript reused = engine("reused");
        ended(reused);
        reused.idle(30 * CaseScript.SECOND);
        reused.queuedAgain("R", "again", 16)
                .step(20 * MS, Row.prompt("again", 16))
                .decode(9, 20 * MS, "again");
        reused.finished("again", "length");

        CaseScript never = engine("never");
        never.decode(TOKENS / 2 - 1, 20 * MS, "R");

        CaseScript empty = new CaseScript("empty");
        SCRIPTS.add(empty);
        empty.received("client", "R", empty.nowNanos).completed("client", "R", "complete", empty.nowNanos + 90 * MS);

        CaseScript observed = new CaseScript("observed");
        SCRIPTS.add(observed);
        observed.received("client", "R", observed.nowNanos);
        for (int i = 0; i < 40; i++) {
            observed.idle(20 * MS);
            // The tenth is stamped before the ninth.
            observed.chunk(
                    "client",
                    "R",
                    i,
                    1,
                    observed.nowNanos - (i == 10 ? 55 * MS : 0),
                    i == 39 ? Finish.LENGTH : Finish.NONE);
        }
        observed.chunk("client", "R", 40, Integer.MAX_VALUE, observed.nowNanos + MS, Finish.NONE);
        observed.completed("client", "R", "complete", observed.nowNanos + 2 * MS);

        List<LoggedEvent> events = new ArrayList<>();
        SCRIPTS.forEach(script -> events.addAll(script.events));
        events.sort(Comparator.comparing(LoggedEvent::header, EventHeader.ORDER));
        LoggedEvent first = events.get(0);
        // A preemption of long ago, when all others have been read.
        CaseScript late = new CaseScript("sound");
        late.queued("R", 32).nowNanos = 3 * CaseScript.SECOND;
        late.preempted("R", null);
        LoggedEvent preempted = late.events.get(late.events.size() - 1);
        EventHeader header = preempted.header();
        events.add(new LoggedEvent(
                new EventHeader(
                        "late/engine",
                        1,
                        0,
                        header.clockId(),
                        header.clockNanos(),
                        first.header().coarseEpochMillis()),
                preempted.event()));
        results = run("clean", events);
        disturbed = run("disturbed", disturb(events));
    }

    /** Records of the same collector may come twice, and up to two seconds later than others. */
    private static List<LoggedEvent> disturb(List<LoggedEvent> events) {
        Random random = new Random(5);
        Map<Long, List<LoggedEvent>> placed = new TreeMap<>();
        for (int i = 0; i < events.size() - 1; i++) {
            LoggedEvent event = events.get(i);
            long millis = Objects.requireNonNull(event.header().coarseEpochMillis());
            for (int copy = 0; copy < (random.nextInt(10) == 0 ? 2 : 1); copy++) {
                placed.computeIfAbsent(millis + random.nextInt(2_000), at -> new ArrayList<>())
                        .add(event);
            }
        }
        List<LoggedEvent> all = new ArrayList<>();
        placed.values().forEach(all::addAll);
        all.add(events.get(events.size() - 1));
        return all;
    }

    private static CaseResults run(String name, List<LoggedEvent> events) throws Exception {
        Path log = folder.resolve(name + "-log");
        try (FolderLogWriter writer = new FolderLogWriter(log, 0)) {
            for (LoggedEvent event : events) {
                writer.append(EventCodec.encode(event));
            }
        }
        Path archive = folder.resolve(name);
        StreamExecutionEnvironment environment = JobEnvironment.local(RuntimeExecutionMode.STREAMING, 2);
        new AnalysisJob(false, RuleLibrary.builtIn().rules(), archive, archive)
                .wire(environment
                        .fromSource(
                                FolderLogSource.bounded(log),
                                WatermarkStrategy.<RawRecord>forGenerator(context -> new EveryRecord())
                                        .withTimestampAssigner((record, logged) -> record.coarseEpochMillis),
                                "log",
                                RawRecordTypeInfo.INSTANCE)
                        .setParallelism(1)
                        .uid("log"));
        environment.execute("bad-input");
        return CaseResults.read(archive);
    }

    /** The job's watermarks, after every record: what is late does not depend on how fast a log is read. */
    private static final class EveryRecord implements WatermarkGenerator<RawRecord> {
        private final CollectorWatermarks watermarks =
                new CollectorWatermarks(CollectorWatermarks.LATENESS, CollectorWatermarks.SILENCE);
        private long readMillis;

        @Override
        public void onEvent(RawRecord record, long timestamp, WatermarkOutput output) {
            if (record.coarseEpochMillis < readMillis - CollectorWatermarks.SILENCE.toMillis()) {
                // What comes as late as this moves nothing.
                return;
            }
            readMillis = Math.max(readMillis, record.coarseEpochMillis);
            watermarks.onEvent(record, timestamp, output);
            output.emitWatermark(new Watermark(readMillis - CollectorWatermarks.LATENESS.toMillis()));
        }

        @Override
        public void onPeriodicEmit(WatermarkOutput output) {
            // Said with every record.
        }
    }

    private static List<RawRow> raw(EventKind kind) throws Exception {
        List<RawRow> rows = new ArrayList<>();
        for (String table : RawTables.tablesOf(kind)) {
            for (Path file : ArchiveLayout.files(folder.resolve("clean"), table)) {
                try (RawTableReader reader = RawTableReader.open(table, file)) {
                    while (reader.hasNext()) {
                        rows.add(reader.next());
                    }
                }
            }
        }
        return rows;
    }

    private static List<String> reasons(String engine) throws Exception {
        List<String> reasons = new ArrayList<>();
        for (RawRow row : raw(EventKind.REJECTED)) {
            LoggedEvent logged = EventCodec.decode(row.wireBytes());
            if (logged.header().collectorId().equals("analysis/" + engine)) {
                reasons.add(((Rejected) logged.event()).reason());
            }
        }
        return reasons;
    }

    /** All tokens of the request, each with a gap but those whose gap cannot be known. */
    private static void tokens(String engine, int... withoutGap) {
        List<TokenAnalysis> all = results.of(engine).tokens().stream()
                .filter(token -> token.lifetime() == 0)
                .sorted(Comparator.comparingInt(TokenAnalysis::tokenIndex))
                .toList();
        List<Integer> unknown = new ArrayList<>();
        for (TokenAnalysis token : all) {
            if (token.gapNanos() == null) {
                unknown.add(token.tokenIndex());
            } else if (token.tokenIndex() > 0) {
                assertThat(token.gapNanos()).as("%s", token).isBetween(0L, 60 * MS);
            }
        }
        List<Integer> expected = new ArrayList<>();
        for (int token : withoutGap) {
            expected.add(token);
        }
        assertThat(unknown).as("tokens of %s without a gap", engine).isEqualTo(expected);
    }

    @Test
    void soundInputBesideItIsAnalysedAsEver() throws Exception {
        assertThat(results.of("sound").tokens()).hasSize(TOKENS);
        tokens("sound");
        assertThat(reasons("sound")).isEmpty();
    }

    @Test
    void numbersThatCannotBeAreNotUsedAndCounted() throws Exception {
        assertThat(reasons("numbers"))
                .filteredOn(reason -> reason.contains("vllm:num_requests_running cannot be"))
                .hasSize(3);
        assertThat(reasons("numbers"))
                .filteredOn(reason -> reason.contains("ends before it begins, or lasts over an hour"))
                .hasSize(3);
        results.of("numbers").never("HOST_PAUSE", "STREAM_SYNC", "KERNEL_SLOW", "HOST_GAP");
        tokens("numbers");
    }

    @Test
    void aStepOfAYearHasNoTimeAndTheModelLearnsNothingOfIt() throws Exception {
        assertThat(reasons("year")).singleElement().asString().contains("it would last over an hour");
        tokens("year", TOKENS / 2 + 1);
        results.of("year").never("UNRESOLVED_STALL", "HOST_GAP", "HOST_PAUSE");
    }

    @Test
    void aStartBehindTheEndIsNoStart() throws Exception {
        tokens("negative");
        assertThat(reasons("negative")).isEmpty();
    }

    @Test
    void aStampThatIsNoneRefusesItsStep() throws Exception {
        assertThat(reasons("beyond")).singleElement().asString().contains("its end is no stamp");
        // The token of that step is lost, and the gap of the one behind it with it.
        assertThat(results.of("beyond").tokens()).hasSize(TOKENS);
    }

    @Test
    void moreTokensThanCanBeAreRefusedAndNotCounted() throws Exception {
        assertThat(reasons("masses")).hasSize(2).allMatch(reason -> reason.contains("cannot be"));
        assertThat(results.of("masses").tokens()).hasSize(TOKENS);
        // What came before the next token is lost.
        tokens("masses", TOKENS / 2 + 3);
        assertThat(results.of("observed").requests())
                .singleElement()
                .satisfies(request -> assertThat(request.droppedChunks()).isEqualTo(1));
    }

    @Test
    void rowsWithoutANameAreRefusedAndNamedOnesAreNot() throws Exception {
        assertThat(reasons("nameless")).singleElement().asString().contains("never announced: [77]");
        assertThat(results.of("nameless").tokens()).hasSize(TOKENS + 1);
        assertThat(results.tokens()).extracting(TokenAnalysis::requestId).doesNotContain("77");
    }

    @Test
    void anIdThatIsUsedAgainIsAnotherLifetime() {
        List<RequestAnalysis> uses = results.of("reused").requests().stream()
                .sorted(Comparator.comparingInt(RequestAnalysis::lifetime))
                .toList();
        assertThat(uses).extracting(RequestAnalysis::lifetime).containsExactly(0, 1);
        assertThat(uses).extracting(RequestAnalysis::tokenCount).containsExactly((long) TOKENS, 10L);
        assertThat(uses).extracting(RequestAnalysis::state).containsOnly("complete");
    }

    @Test
    void aRequestThatNeverEndsIsIncomplete() {
        assertThat(results.of("never").requests()).singleElement().satisfies(request -> {
            assertThat(request.state()).isEqualTo("incomplete");
            assertThat(request.endReason()).isEqualTo("unknown");
            assertThat(request.tokenCount()).isEqualTo(TOKENS);
        });
    }

    @Test
    void anAnswerWithoutATokenHasARowAndNoTimes() {
        assertThat(results.of("empty").tokens()).isEmpty();
        assertThat(results.of("empty").requests()).singleElement().satisfies(request -> {
            assertThat(request.tokenCount()).isZero();
            assertThat(request.ttftNanos()).isNull();
            assertThat(request.tpotNanos()).isNull();
        });
    }

    @Test
    void anArrivalBeforeTheOneBeforeItIsCountedAndNeverMadeZero() {
        CaseResults observed = results.of("observed");
        assertThat(observed.requests())
                .singleElement()
                .satisfies(request -> assertThat(request.invalidStamps()).isEqualTo(1));
        assertThat(observed.tokens())
                .filteredOn(token -> token.gapNanos() == null)
                .hasSize(1);
        assertThat(observed.tokens())
                .allSatisfy(token -> assertThat(token.gapNanos() == null || token.gapNanos() > 0)
                        .isTrue());
    }

    @Test
    void whatComesTooLateIsArchivedAsSuchAndNotAnalysed() throws Exception {
        List<RawRow> late =
                raw(EventKind.REQUEST_PREEMPTED).stream().filter(RawRow::late).toList();
        assertThat(raw(EventKind.REQUEST_PREEMPTED)).hasSize(1);
        assertThat(late).hasSize(1);
        results.of("sound").never("PREEMPTION");
        assertThat(results.of("sound").requests())
                .singleElement()
                .satisfies(request -> assertThat(request.preemptions()).isZero());
        assertThat(raw(EventKind.STEP_COMPLETED)).noneMatch(RawRow::late);
    }

    @Test
    void recordsThatComeTwiceAndInAnotherOrderChangeNothing() {
        TreeSet<String> clean = new TreeSet<>();
        results.tokens().forEach(token -> clean.add(token.toString()));
        TreeSet<String> again = new TreeSet<>();
        disturbed.tokens().forEach(token -> again.add(token.toString()));
        assertThat(disturbed.tokens()).hasSameSizeAs(results.tokens());
        assertThat(again).isEqualTo(clean);
        assertThat(disturbed.requests()).hasSameSizeAs(results.requests());
    }
}
