package io.tokenstair.bench;

import com.sun.management.OperatingSystemMXBean;
import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.job.AnalysisJob;
import io.tokenstair.job.JobEnvironment;
import io.tokenstair.job.request.TokenRun;
import io.tokenstair.job.source.CollectorWatermarks;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.source.RawRecordTypeInfo;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.library.RuleLibrary;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.jspecify.annotations.Nullable;

/**
 * Runs one {@link Variant} over a fleet, one after the other in a mini cluster inside this process. The cluster is started once, before the first
 * run: its start is compiled for as long as tens of millions of tokens take, which no run should be told to have cost.
 */
public final class FleetRun implements AutoCloseable {
    private static final String TOKENS = "tokens";
    private static final String SLOW = "slow-tokens";
    private static final String RUN_TOKENS = "run-tokens";
    private static final String SLOW_RUNS = "slow-runs";

    private static final String REVISIONS = "revisions";
    private static final String PAUSE = "longest-pause-millis";
    private static final int GENERATED_RULES = 30;
    private static final int REVISION_EVERY_RECORDS = 5_000;

    private final Fleet fleet;
    private final int parallelism;
    private final Path scratch;
    private final long checkpointMillis;
    private final boolean gaps;
    private @Nullable MiniCluster cluster;

    /**
     * Runs over a fleet.
     *
     * @param scratch an empty folder; archives and checkpoints are written into it and deleted after each run
     * @param checkpointMillis how often checkpoints are taken; 0 for never
     * @param gaps whether the longest gap of each subtask is looked for, which takes time itself
     */
    public FleetRun(Fleet fleet, int parallelism, Path scratch, long checkpointMillis, boolean gaps) {
        this.gaps = gaps;
        this.checkpointMillis = checkpointMillis;
        this.fleet = fleet;
        this.parallelism = parallelism;
        this.scratch = scratch;
    }

    /** Runs a variant once. */
    public Measurement of(Variant variant) throws Exception {
        StreamExecutionEnvironment environment = JobEnvironment.local(RuntimeExecutionMode.STREAMING, parallelism);
        if (gaps) {
            Configuration told = new Configuration();
            SubtaskGaps.tellMetrics(told);
            environment.configure(told);
        }
        Path archive = Files.createTempDirectory(scratch, "archive");
        Path checkpoints = Files.createTempDirectory(scratch, "checkpoints");
        if (checkpointMillis > 0) {
            Configuration settings = new Configuration();
            settings.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(checkpointMillis));
            settings.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
            settings.set(
                    CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                    checkpoints.toUri().toString());
            environment.configure(settings);
        }
        wire(variant, environment, archive);
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        AtomicLong wallStart = new AtomicLong();
        AtomicLong cpuStart = new AtomicLong();
        ThreadTimes[] threadsStart = {ThreadTimes.now()};
        ReadFleet.prepare(fleet, () -> {
            threadsStart[0] = ThreadTimes.now();
            cpuStart.set(system.getProcessCpuTime());
            wallStart.set(System.nanoTime());
        });
        JobExecutionResult result;
        StateWatch watch = StateWatch.start(checkpoints, checkpointMillis);
        SubtaskGaps looking = gaps ? SubtaskGaps.start() : null;
        Map<String, Long> subtaskGaps;
        try {
            result = cluster(environment)
                    .executeJobBlocking(environment.getStreamGraph().getJobGraph());
        } finally {
            watch.stop();
            subtaskGaps = looking == null ? Map.of() : looking.stop();
        }
        long wallNanos = System.nanoTime() - wallStart.get();
        long cpuNanos = system.getProcessCpuTime() - cpuStart.get();
        ThreadTimes threads = ThreadTimes.now();
        long archiveBytes = deleted(archive);
        deleted(checkpoints);
        return new Measurement(
                counted(result, TOKENS) + counted(result, RUN_TOKENS),
                counted(result, SLOW),
                wallNanos,
                cpuNanos,
                threads.compilerNanosSince(threadsStart[0]),
                threads.collectorNanosSince(threadsStart[0]),
                archiveBytes,
                counted(result, REVISIONS),
                Math.max(0, counted(result, PAUSE)),
                subtaskGaps,
                watch.size());
    }

    private void wire(Variant variant, StreamExecutionEnvironment environment, Path archive) {
        switch (variant) {
            case NOOP -> noop(records(environment));
            case NOOP_TOKENS -> noopTokens(environment);
            case JOB -> job(records(environment), builtIn(), null, null);
            case JOB_NO_RULES -> job(records(environment), List.of(), null, null);
            case JOB_MANY_RULES -> job(records(environment), manyRules(false), null, null);
            case JOB_EXPLOSIVE_RULE -> job(records(environment), manyRules(true), null, null);
            case JOB_RELOADED_RULES ->
                job(
                        records(environment)
                                .flatMap(new AddRevisions(REVISION_EVERY_RECORDS, REVISIONS))
                                .returns(RawRecordTypeInfo.INSTANCE)
                                .name("add-revisions")
                                .uid("add-revisions"),
                        manyRules(false),
                        null,
                        null);
            case CEP_RAW -> drop(RawStaircase.over(records(environment), TOKENS, SLOW), "matches");
            case JOB_RAW -> job(records(environment), builtIn(), archive, null);
            case JOB_RAW_TOKENS -> job(records(environment), builtIn(), archive, archive);
        }
    }

    /** The cluster, started by the settings of the first run. */
    private MiniCluster cluster(StreamExecutionEnvironment environment) throws Exception {
        MiniCluster running = cluster;
        if (running == null) {
            running = new MiniCluster(new MiniClusterConfiguration.Builder()
                    .setConfiguration(new Configuration((Configuration) environment.getConfiguration()))
                    .setNumTaskManagers(1)
                    .setNumSlotsPerTaskManager(parallelism)
                    .withRandomPorts()
                    .build());
            cluster = running;
            running.start();
        }
        return running;
    }

    /** Stops the cluster. */
    @Override
    public void close() throws Exception {
        if (cluster != null) {
            cluster.close();
        }
    }

    private DataStream<RawRecord> records(StreamExecutionEnvironment environment) {
        long numbers = (long) fleet.longestPartition() * fleet.size().partitions();
        return environment
                .fromSource(new NumberSequenceSource(0, numbers - 1), WatermarkStrategy.noWatermarks(), "numbers")
                .uid("numbers")
                .flatMap(new ReadFleet())
                .returns(RawRecordTypeInfo.INSTANCE)
                .name("read-fleet")
                .uid("read-fleet")
                .assignTimestampsAndWatermarks(CollectorWatermarks.strategy(CollectorWatermarks.LATENESS))
                .uid("watermarks");
    }

    private static void noop(DataStream<RawRecord> records) {
        drop(
                records.flatMap(new ExplodeSteps())
                        .returns(TypeInformation.of(TokenRecord.class))
                        .name("explode-steps")
                        .uid("explode-steps")
                        .keyBy(TokenRecord::key, Types.LONG)
                        .filter(new CountAndDrop<>(TOKENS, token -> false, SLOW)),
                "tokens");
    }

    private void noopTokens(StreamExecutionEnvironment environment) {
        WatermarkStrategy<TokenRecord> strategy = WatermarkStrategy.<TokenRecord>forBoundedOutOfOrderness(
                        CollectorWatermarks.LATENESS)
                .withTimestampAssigner((token, before) -> token.endNanos / 1_000_000);
        drop(
                environment
                        .fromSource(
                                new DataGeneratorSource<>(
                                        new TokenOfNumber(), fleet.size().exactTokens(), TokenRecordTypeInfo.INSTANCE),
                                strategy,
                                "tokens-one-by-one")
                        .uid("tokens-one-by-one")
                        .keyBy(TokenRecord::key, Types.LONG)
                        .process(new CountTokens(TOKENS)),
                "tokens");
    }

    private static List<BoundRule> builtIn() {
        return RuleLibrary.builtIn().rules();
    }

    private static List<BoundRule> manyRules(boolean explosive) {
        List<BoundRule> rules = new ArrayList<>(builtIn());
        rules.addAll(GeneratedRules.rules(GENERATED_RULES));
        if (explosive) {
            rules.add(GeneratedRules.explosive());
        }
        return rules;
    }

    private static void job(
            DataStream<RawRecord> records, List<BoundRule> rules, @Nullable Path rawArchive, @Nullable Path results) {
        AnalysisJob.Results said = new AnalysisJob(false, rules, rawArchive, results, results == null).wire(records);
        SingleOutputStreamOperator<TokenAnalysis> tokens =
                said.tokens().filter(new CountAndDrop<>(TOKENS, token -> token.cause() != null, SLOW));
        drop(tokens, "tokens");
        if (results == null) {
            drop(said.runs().filter(new CountAndDrop<>(RUN_TOKENS, TokenRun::count, run -> false, SLOW_RUNS)), "runs");
        }
        DataStream<Finding> findings = said.findings()
                .transform("longest-pause", TypeInformation.of(Finding.class), new LongestPause<>(PAUSE))
                .uid("longest-pause");
        findings.sinkTo(new DiscardingSink<>()).name("drop-findings").uid("drop-findings");
    }

    private static <T> void drop(SingleOutputStreamOperator<T> rows, String what) {
        rows.name("count-" + what)
                .uid("count-" + what)
                .sinkTo(new DiscardingSink<>())
                .name("drop-" + what)
                .uid("drop-" + what);
    }

    private static long counted(JobExecutionResult result, String name) {
        Long count = result.getAccumulatorResult(name);
        return count == null ? 0 : count;
    }

    /** Deletes an archive and returns what it held. */
    private static long deleted(Path archive) throws IOException {
        List<Path> deepestFirst;
        try (Stream<Path> all = Files.walk(archive)) {
            deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
        }
        long bytes = 0;
        for (Path path : deepestFirst) {
            bytes += Files.isRegularFile(path) ? Files.size(path) : 0;
            Files.delete(path);
        }
        return bytes;
    }
}
