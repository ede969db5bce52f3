package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.TableSchema;
import io.tokenstair.job.capture.Captures;
import io.tokenstair.job.capture.JobRuns;
import io.tokenstair.job.source.ArchiveSource;
import io.tokenstair.job.source.CollectorWatermarks;
import io.tokenstair.job.source.FolderLogSource;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.source.RawRecordTypeInfo;
import io.tokenstair.log.FolderLogReader;
import io.tokenstair.log.FolderLogWriter;
import io.tokenstair.rule.library.RuleLibrary;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.CommonTestUtils;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * The whole job is stopped with a savepoint in the middle of its input, while one partition of the log is far ahead of the other, and goes
 * on with another parallelism: it says what a run says that was never stopped, and so does a replay of what it archived.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RestoreIT {
    private static final int SLOTS = 3;
    /** Nothing may become late because the machine is slow. */
    private static final Duration NEVER_IDLE = Duration.ofHours(1);

    private static final List<TableSchema<?>> TABLES = List.of(
            ResultTables.FINDING,
            ResultTables.TOKEN_ANALYSIS,
            ResultTables.REQUEST_ANALYSIS,
            ResultTables.STEP_ANALYSIS,
            ResultTables.MODEL_SNAPSHOT,
            ResultTables.MILESTONE,
            ResultTables.QUANTILE,
            ResultTables.COVARIANCE,
            ResultTables.PRIORITY_DISPLACEMENT,
            ResultTables.REMARK,
            ResultTables.LAYER_REPORT);

    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(1)
            .setNumberSlotsPerTaskManager(SLOTS)
            .setConfiguration(memory())
            .build());

    @TempDir
    Path folder;

    @Test
    void aStoppedJobThatGoesOnWithAnotherParallelismSaysWhatAnUninterruptedOneSays(
            @InjectMiniCluster MiniCluster cluster) throws Exception {
        List<byte[]> events = events(Captures.log("kv_pressure_preemption", folder.resolve("recorded")));
        Path log = folder.resolve("log");
        Path stopped = folder.resolve("stopped");
        Seen.begin();
        Seen.expect(events.size() / 3);
        String savepoint;
        try (FolderLogWriter first = new FolderLogWriter(log, 0);
                FolderLogWriter second = new FolderLogWriter(log, 1)) {
            write(events, first, 0, 0, events.size() * 2 / 3);
            write(events, second, 1, 0, events.size() / 3);
            JobClient job = start(log, stopped, 2, null);
            Seen.await();
            CommonTestUtils.waitForAllTaskRunning(cluster, job.getJobID(), true);
            savepoint = job.stopWithSavepoint(
                            false, folder.resolve("savepoint").toUri().toString(), SavepointFormatType.CANONICAL)
                    .get(180, TimeUnit.SECONDS);
            job.getJobExecutionResult().get(180, TimeUnit.SECONDS);
            long before = Seen.count();
            assertThat(before).isBetween(events.size() / 3L, events.size() - 1L);

            write(events, first, 0, events.size() * 2 / 3, events.size());
            write(events, second, 1, events.size() / 3, events.size());
            Seen.expect(events.size());
            job = start(log, stopped, SLOTS, savepoint);
            Seen.await();
            CommonTestUtils.waitForAllTaskRunning(cluster, job.getJobID(), true);
            job.stopWithSavepoint(true, folder.resolve("end").toUri().toString(), SavepointFormatType.CANONICAL)
                    .get(180, TimeUnit.SECONDS);
            job.getJobExecutionResult().get(180, TimeUnit.SECONDS);
            assertThat(Seen.count()).as("each record once").isEqualTo(events.size());
        }

        Path whole = folder.resolve("whole");
        uninterrupted(RuntimeExecutionMode.STREAMING, FolderLogSource.bounded(log), whole);
        for (TableSchema<?> table : TABLES) {
            assertThat(JobRuns.difference(rows(stopped, table), rows(whole, table)))
                    .as(table.table())
                    .isEmpty();
        }
        assertThat(rows(whole, ResultTables.FINDING)).isNotEmpty();
        assertThat(ResultDigest.of(stopped)).isEqualTo(ResultDigest.of(whole));

        Path replayed = folder.resolve("replayed");
        uninterrupted(RuntimeExecutionMode.BATCH, ArchiveSource.of(stopped), replayed);
        assertThat(ResultDigest.of(replayed)).as("a replay of its archive").isEqualTo(ResultDigest.of(whole));
    }

    private static <R extends Record> TreeSet<String> rows(Path results, TableSchema<R> table) throws Exception {
        return JobRuns.rows(results, table);
    }

    private static Configuration memory() {
        Configuration settings = new Configuration();
        settings.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(256));
        settings.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(256));
        settings.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(128));
        return settings;
    }

    private static List<byte[]> events(Path log) throws Exception {
        List<byte[]> events = new ArrayList<>();
        try (FolderLogReader reader = new FolderLogReader(log.resolve("partition-0000"), 0)) {
            for (byte[] bytes = reader.next(); bytes != null; bytes = reader.next()) {
                events.add(bytes);
            }
        }
        return events;
    }

    /** Appends the events of a range whose collector writes to this partition. */
    private static void write(List<byte[]> events, FolderLogWriter writer, int partition, int from, int to)
            throws Exception {
        for (byte[] event : events.subList(from, to)) {
            if (Math.floorMod(RawRecord.of(event, "", 0).collectorId.hashCode(), 2) == partition) {
                writer.append(event);
            }
        }
        writer.flush();
    }

    private static void uninterrupted(RuntimeExecutionMode mode, Source<RawRecord, ?, ?> source, Path results)
            throws Exception {
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment(JobEnvironment.settings(mode));
        environment.setParallelism(2);
        boolean sorted = mode == RuntimeExecutionMode.BATCH;
        new AnalysisJob(sorted, RuleLibrary.builtIn().rules(), null, results)
                .wire(environment
                        .fromSource(source, watermarks(), "log", RawRecordTypeInfo.INSTANCE)
                        .uid("log"));
        environment.execute("analysis");
    }

    private static WatermarkStrategy<RawRecord> watermarks() {
        return CollectorWatermarks.strategy(CollectorWatermarks.LATENESS, CollectorWatermarks.SILENCE, NEVER_IDLE);
    }

    private static JobClient start(Path log, Path results, int parallelism, @Nullable String savepoint)
            throws Exception {
        Configuration settings = JobEnvironment.settings(RuntimeExecutionMode.STREAMING);
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "disable");
        if (savepoint != null) {
            settings.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
        }
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment(settings);
        environment.setParallelism(parallelism);
        environment.enableCheckpointing(500);
        new AnalysisJob(false, RuleLibrary.builtIn().rules(), results, results)
                .wire(environment
                        .fromSource(FolderLogSource.unbounded(log), watermarks(), "log", RawRecordTypeInfo.INSTANCE)
                        .uid("log")
                        .map(new Seen())
                        .returns(RawRecordTypeInfo.INSTANCE)
                        .uid("seen"));
        return environment.executeAsync("analysis");
    }

    /** Counts what the source has read, over all subtasks and both runs. */
    private static final class Seen implements MapFunction<RawRecord, RawRecord> {
        private static final long serialVersionUID = 1L;
        private static long count;
        private static long expected;
        private static CountDownLatch reached = new CountDownLatch(1);

        static synchronized void begin() {
            count = 0;
        }

        static synchronized void expect(long events) {
            expected = events;
            reached = new CountDownLatch(1);
            if (count >= expected) {
                reached.countDown();
            }
        }

        static void await() throws InterruptedException {
            assertThat(reached.await(180, TimeUnit.SECONDS)).isTrue();
        }

        static synchronized long count() {
            return count;
        }

        @Override
        public RawRecord map(RawRecord record) {
            synchronized (Seen.class) {
                count++;
                if (count >= expected) {
                    reached.countDown();
                }
            }
            return record;
        }
    }
}
