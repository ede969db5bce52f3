package io.tokenstair.job.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.TableReader;
import io.tokenstair.archive.result.LayerReport;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.source.ArchiveSource;
import io.tokenstair.job.source.CollectorWatermarks;
import io.tokenstair.job.source.FolderLogSource;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.source.Records;
import io.tokenstair.log.FolderLogWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(180)
class ArchiveSinksIT {
    private static final int PARTITIONS = 2;
    private static final int COUNT = 4000;

    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(1)
            .setNumberSlotsPerTaskManager(2)
            .build());

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(
            value = RuntimeExecutionMode.class,
            names = {"STREAMING", "BATCH"})
    void everyRecordComesBackOnceAsItWasWithItsLateFlag(RuntimeExecutionMode mode) throws Exception {
        Path log = folder.resolve("log");
        Path archive = folder.resolve("archive");
        for (int partition = 0; partition < PARTITIONS; partition++) {
            try (FolderLogWriter writer = new FolderLogWriter(log, partition)) {
                append(writer, partition, 0, COUNT);
            }
        }
        StreamExecutionEnvironment env = environment(mode, 2);
        env.enableCheckpointing(300);
        archive(env, FolderLogSource.bounded(log), archive);
        env.execute();

        assertThat(replayed(archive, RuntimeExecutionMode.BATCH, 2)).isEqualTo(expected());
        assertThat(replayed(archive, RuntimeExecutionMode.STREAMING, 1)).isEqualTo(expected());
        assertThat(ArchiveLayout.tables(archive))
                .containsExactly("handle_announced", "id_aliased", "step_completed", "step_sequence");
        assertThat(archive.resolve("table=id_aliased/date=2026-01-01/hour=01")).isDirectory();
        assertThat(archive.resolve("table=id_aliased/date=undated")).isDirectory();
    }

    @Test
    void afterAFailureNothingIsMissingAndNothingIsThereTwice() throws Exception {
        Path log = folder.resolve("log");
        Path archive = folder.resolve("archive");
        try (FolderLogWriter first = new FolderLogWriter(log, 0);
                FolderLogWriter second = new FolderLogWriter(log, 1)) {
            append(first, 0, 0, COUNT / 2);
            append(second, 1, 0, COUNT / 2);
            StreamExecutionEnvironment env = environment(RuntimeExecutionMode.STREAMING, 2);
            env.enableCheckpointing(100);
            FailsOnceAfterACheckpoint.reset(PARTITIONS * COUNT);
            archive(env, FolderLogSource.unbounded(log), archive);
            JobClient job = env.executeAsync();

            assertThat(FailsOnceAfterACheckpoint.armed.await(60, TimeUnit.SECONDS))
                    .isTrue();
            append(first, 0, COUNT / 2, COUNT);
            append(second, 1, COUNT / 2, COUNT);
            assertThat(FailsOnceAfterACheckpoint.all.await(60, TimeUnit.SECONDS))
                    .isTrue();
            job.stopWithSavepoint(true, folder.resolve("savepoint").toUri().toString(), SavepointFormatType.CANONICAL)
                    .get(60, TimeUnit.SECONDS);
            job.getJobExecutionResult().get(60, TimeUnit.SECONDS);
        }
        assertThat(FailsOnceAfterACheckpoint.failed).isTrue();
        assertThat(replayed(archive, RuntimeExecutionMode.BATCH, 2)).isEqualTo(expected());
    }

    @Test
    void aStepWhoseFileIsGoneIsNamedAndNotReplayedInParts() throws Exception {
        Path log = folder.resolve("log");
        Path archive = folder.resolve("archive");
        try (FolderLogWriter writer = new FolderLogWriter(log, 0)) {
            append(writer, 0, 0, 10);
        }
        StreamExecutionEnvironment env = environment(RuntimeExecutionMode.BATCH, 1);
        archive(env, FolderLogSource.bounded(log), archive);
        env.execute();
        for (Path file : ArchiveLayout.files(archive, EventKind.STEP_COMPLETED.wireName())) {
            Files.delete(file);
        }
        assertThatThrownBy(() -> replayed(archive, RuntimeExecutionMode.BATCH, 1))
                .hasStackTraceContaining("it lacks step collector-0/7/1,");
    }

    @Test
    void onlyFinishedFilesOfRawTablesAreReplayed() throws Exception {
        Path log = folder.resolve("log");
        Path archive = folder.resolve("archive");
        try (FolderLogWriter writer = new FolderLogWriter(log, 0)) {
            append(writer, 0, 0, 10);
        }
        StreamExecutionEnvironment env = environment(RuntimeExecutionMode.BATCH, 1);
        archive(env, FolderLogSource.bounded(log), archive);
        env.execute();
        Path hour = archive.resolve("table=id_aliased/date=2026-01-01/hour=00");
        Files.write(hour.resolve(".part-1.parquet.inprogress"), new byte[] {1});
        Files.write(hour.resolve("_part-2.parquet"), new byte[] {1});
        Files.createDirectories(archive.resolve("table=finding/date=undated"));
        Files.write(archive.resolve("table=finding/date=undated/part-3.parquet"), new byte[] {1});
        Files.createDirectories(archive.resolve("table=from_a_later_version"));
        Files.write(archive.resolve("table=from_a_later_version/part-4.parquet"), new byte[] {1});
        assertThat(replayed(archive, RuntimeExecutionMode.BATCH, 1)).hasSize(10);
    }

    @Test
    void aBrokenFileIsNamed() throws Exception {
        Path file = folder.resolve("table=id_aliased/date=undated/part-1.parquet");
        Files.createDirectories(file.getParent());
        Files.write(file, new byte[] {1, 2, 3});
        assertThatThrownBy(() -> replayed(folder, RuntimeExecutionMode.BATCH, 1))
                .hasStackTraceContaining("part-1.parquet");
        assertThatThrownBy(() -> replayed(folder.resolve("nothing"), RuntimeExecutionMode.BATCH, 1))
                .hasStackTraceContaining("there is no such folder");
    }

    @ParameterizedTest
    @EnumSource(
            value = RuntimeExecutionMode.class,
            names = {"STREAMING", "BATCH"})
    void resultRowsAreFiledByTheirHour(RuntimeExecutionMode mode) throws Exception {
        List<LayerReport> rows = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            rows.add(new LayerReport(i % 2 == 0 ? null : "engine-" + i, "steps", true, i, 0));
        }
        StreamExecutionEnvironment env = environment(mode, 2);
        env.enableCheckpointing(100);
        env.fromData(rows)
                .uid("rows")
                .rebalance()
                .sinkTo(ArchiveSinks.result(
                        folder,
                        ResultTables.LAYER_REPORT,
                        row -> row.eventCount() < 100 ? null : Records.START_EPOCH_MILLIS))
                .uid("results");
        env.execute();

        List<LayerReport> read = new ArrayList<>();
        int undated = 0;
        for (Path file : ArchiveLayout.files(folder, "layer_report")) {
            try (TableReader<LayerReport> reader = TableReader.open(ResultTables.LAYER_REPORT, file)) {
                while (reader.hasNext()) {
                    read.add(reader.next());
                    undated += file.toString().contains("date=undated") ? 1 : 0;
                }
            }
        }
        assertThat(read).containsExactlyInAnyOrderElementsOf(rows);
        assertThat(undated).isEqualTo(100);
    }

    private static void append(FolderLogWriter writer, int partition, int from, int to) throws Exception {
        for (int i = from; i < to; i++) {
            writer.append(EventCodec.encode(event(partition, i)));
        }
        writer.flush();
    }

    private static LoggedEvent event(int partition, int i) {
        String collector = "collector-" + partition;
        if (i % 10 == 4) {
            return Records.event(collector, i, null);
        }
        return i % 2 == 0 ? Records.event(collector, i) : Records.step(collector, i);
    }

    private static boolean isLate(LoggedEvent event) {
        return event.header().sequence() % 7 == 0;
    }

    private static List<String> expected() {
        List<String> expected = new ArrayList<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            for (int i = 0; i < COUNT; i++) {
                LoggedEvent event = event(partition, i);
                expected.add(isLate(event) + " " + event);
            }
        }
        expected.sort(null);
        return expected;
    }

    private static StreamExecutionEnvironment environment(RuntimeExecutionMode mode, int parallelism) {
        Configuration settings = new Configuration();
        settings.set(ExecutionOptions.RUNTIME_MODE, mode);
        settings.set(PipelineOptions.GENERIC_TYPES, false);
        settings.set(PipelineOptions.AUTO_GENERATE_UIDS, false);
        settings.set(PipelineOptions.OBJECT_REUSE, true);
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        settings.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
        settings.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(settings);
        env.setParallelism(parallelism);
        return env;
    }

    private static void archive(StreamExecutionEnvironment env, FolderLogSource source, Path archive) {
        env.fromSource(source, CollectorWatermarks.strategy(Duration.ofSeconds(5)), "log")
                .uid("log")
                .map(new FailsOnceAfterACheckpoint())
                .uid("fails-once")
                .flatMap(new ToArchive())
                .uid("to-archive")
                .sinkTo(ArchiveSinks.raw(archive))
                .uid("archive");
    }

    private static List<String> replayed(Path archive, RuntimeExecutionMode mode, int parallelism) throws Exception {
        StreamExecutionEnvironment env = environment(mode, parallelism);
        DataStream<String> events = env.fromSource(
                        ArchiveSource.of(archive), CollectorWatermarks.strategy(Duration.ofSeconds(5)), "archive")
                .uid("archive")
                .map(record -> record.late + " " + EventCodec.decode(record.bytes))
                .returns(Types.STRING)
                .uid("decode");
        List<String> replayed = new ArrayList<>();
        try (CloseableIterator<String> all = events.executeAndCollect()) {
            all.forEachRemaining(replayed::add);
        }
        replayed.sort(null);
        return replayed;
    }

    /** Decodes, and calls every seventh record late. */
    private static final class ToArchive implements FlatMapFunction<RawRecord, RawArchiveRow> {
        private static final long serialVersionUID = 1L;

        @Override
        public void flatMap(RawRecord record, Collector<RawArchiveRow> out) throws Exception {
            LoggedEvent event = EventCodec.decode(record.bytes);
            RawArchiveRow.forEach(event, isLate(event), out::collect);
        }
    }

    /** Throws at the first record after a checkpoint that holds at least one record, when it was reset to do so. */
    private static final class FailsOnceAfterACheckpoint
            implements MapFunction<RawRecord, RawRecord>, CheckpointListener {
        private static final long serialVersionUID = 1L;
        private static volatile CountDownLatch armed = new CountDownLatch(1);
        private static volatile CountDownLatch all = new CountDownLatch(1);
        private static volatile boolean failed = true;
        private static final Set<String> SEEN = ConcurrentHashMap.newKeySet();

        private boolean seen;

        static void reset(int records) {
            SEEN.clear();
            armed = new CountDownLatch(1);
            all = new CountDownLatch(records);
            failed = false;
        }

        @Override
        public RawRecord map(RawRecord record) {
            seen = true;
            if (armed.getCount() == 0 && !failed) {
                failed = true;
                throw new IllegalStateException("fails once, for the test");
            }
            if (SEEN.add(Records.name(record))) {
                all.countDown();
            }
            return record;
        }

        @Override
        public void notifyCheckpointComplete(long checkpoint) {
            if (seen) {
                armed.countDown();
            }
        }
    }
}
