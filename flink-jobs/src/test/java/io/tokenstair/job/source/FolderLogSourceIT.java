package io.tokenstair.job.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.log.FolderLogWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FolderLogSourceIT {
    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(1)
            .setNumberSlotsPerTaskManager(4)
            .build());

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void aBoundedReadGivesEveryRecordOnceAndKeepsTheOrderOfAPartition(int parallelism) throws Exception {
        for (int partition = 0; partition < 3; partition++) {
            Records.writePartition(folder, partition, 2000);
        }
        List<String> read = read(environment(parallelism), FolderLogSource.bounded(folder));
        assertThat(read).hasSize(6000);
        Map<String, Long> last = new HashMap<>();
        for (String name : read) {
            String[] parts = name.split("/");
            assertThat(last.getOrDefault(parts[0], -1L)).isLessThan(Long.parseLong(parts[1]));
            last.put(parts[0], Long.parseLong(parts[1]));
        }
        read.sort(null);
        assertThat(read).isEqualTo(Records.expected(3, 2000));
    }

    @Test
    void aBoundedReadTellsOfATornEndByOneRecordWithoutBytes() throws Exception {
        Records.writePartition(folder, 0, 100);
        Path segment = folder.resolve("partition-0000/segment-0000000000.log");
        byte[] bytes = Files.readAllBytes(segment);
        Files.write(segment, java.util.Arrays.copyOf(bytes, bytes.length - 3));
        List<String> read = read(environment(1), FolderLogSource.bounded(folder));
        assertThat(read).hasSize(100);
        assertThat(read.subList(0, 99)).containsExactlyInAnyOrderElementsOf(Records.expected(1, 99));
        assertThat(read.get(99)).isEqualTo("/0");
    }

    @Test
    void aFolderThatIsNoLogIsRefusedWithItsName() {
        Path missing = folder.resolve("nothing-here");
        assertThatThrownBy(() -> read(environment(1), FolderLogSource.bounded(missing)))
                .hasStackTraceContaining("Cannot read the log " + missing);
        assertThatThrownBy(() -> read(environment(1), FolderLogSource.bounded(folder)))
                .hasStackTraceContaining("it has no partition-NNNN folder");
    }

    @Test
    void aJobWhoseInputIsMissingIsNotRestarted() {
        Configuration settings = new Configuration();
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        settings.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, Integer.MAX_VALUE);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(settings);
        assertThatThrownBy(() -> read(env, FolderLogSource.unbounded(folder.resolve("nothing-here"))))
                .hasStackTraceContaining("Cannot read the log");
    }

    @Test
    void anUnboundedReadSeesWhatIsAppendedAndPartitionsThatComeLater() throws Exception {
        try (FolderLogWriter first = new FolderLogWriter(folder, 0)) {
            append(first, 0, 0, 10);
            StreamExecutionEnvironment env = environment(2);
            try (CloseableIterator<String> names =
                    names(env, FolderLogSource.unbounded(folder)).executeAndCollect()) {
                List<String> read = take(names, 10);
                append(first, 0, 10, 25);
                read.addAll(take(names, 15));
                try (FolderLogWriter second = new FolderLogWriter(folder, 1)) {
                    append(second, 1, 0, 25);
                    read.addAll(take(names, 25));
                }
                read.sort(null);
                assertThat(read).isEqualTo(Records.expected(2, 25));
            }
        }
    }

    @Test
    void aSubtaskWithoutAPartitionDoesNotHoldEventTimeBack() throws Exception {
        try (FolderLogWriter writer = new FolderLogWriter(folder, 0)) {
            append(writer, 0, 0, 20);
            StreamExecutionEnvironment env = environment(4);
            try (CloseableIterator<String> passed = env.fromSource(
                            FolderLogSource.unbounded(folder),
                            CollectorWatermarks.strategy(
                                    Duration.ofSeconds(5), Duration.ofSeconds(60), Duration.ofHours(1)),
                            "folder-log")
                    .uid("folder-log")
                    .keyBy(record -> record.collectorId, Types.STRING)
                    .process(new SaysWhatEventTimeHasPassed())
                    .uid("passed")
                    .executeAndCollect()) {
                assertThat(take(passed, 1)).containsExactly("passed " + Records.START_EPOCH_MILLIS);
            }
        }
    }

    @Test
    void afterAFailureReadingGoesOnAtTheCheckpoint() throws Exception {
        try (FolderLogWriter first = new FolderLogWriter(folder, 0);
                FolderLogWriter second = new FolderLogWriter(folder, 1)) {
            append(first, 0, 0, 700);
            append(second, 1, 0, 700);
            StreamExecutionEnvironment env = environment(2);
            env.enableCheckpointing(50);
            FailsOnceAfterACheckpoint.reset();
            DataStream<String> names = names(env, FolderLogSource.unbounded(folder))
                    .map(new FailsOnceAfterACheckpoint())
                    .uid("fails-once");
            try (CloseableIterator<String> collected = names.executeAndCollect()) {
                List<String> read = take(collected, 1);
                assertThat(FailsOnceAfterACheckpoint.armed.await(60, TimeUnit.SECONDS))
                        .isTrue();
                append(first, 0, 700, 1000);
                append(second, 1, 700, 1000);
                read.addAll(take(collected, 1999));
                assertThat(FailsOnceAfterACheckpoint.failed).isTrue();
                read.sort(null);
                assertThat(read).isEqualTo(Records.expected(2, 1000));
            }
        }
    }

    private static void append(FolderLogWriter writer, int partition, int from, int to) throws Exception {
        for (int i = from; i < to; i++) {
            writer.append(Records.bytes("collector-" + partition, i));
        }
        writer.flush();
    }

    private static List<String> take(CloseableIterator<String> names, int count) {
        List<String> taken = new ArrayList<>();
        while (taken.size() < count && names.hasNext()) {
            taken.add(names.next());
        }
        return taken;
    }

    private static StreamExecutionEnvironment environment(int parallelism) {
        Configuration settings = new Configuration();
        settings.set(PipelineOptions.GENERIC_TYPES, false);
        settings.set(PipelineOptions.OBJECT_REUSE, true);
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        settings.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
        settings.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(settings);
        env.setParallelism(parallelism);
        return env;
    }

    private static DataStream<String> names(StreamExecutionEnvironment env, FolderLogSource source) {
        return env.fromSource(source, CollectorWatermarks.strategy(Duration.ofSeconds(5)), "folder-log")
                .uid("folder-log")
                .map(Records::name)
                .returns(Types.STRING)
                .uid("name");
    }

    private static List<String> read(StreamExecutionEnvironment env, FolderLogSource source) throws Exception {
        try (CloseableIterator<String> names = names(env, source).executeAndCollect()) {
            return take(names, Integer.MAX_VALUE);
        }
    }

    /** Throws at the first record after a checkpoint that holds at least one record. */
    private static final class FailsOnceAfterACheckpoint implements MapFunction<String, String>, CheckpointListener {
        private static final long serialVersionUID = 1L;
        private static volatile CountDownLatch armed = new CountDownLatch(1);
        private static volatile boolean failed;

        private boolean seen;

        static void reset() {
            armed = new CountDownLatch(1);
            failed = false;
        }

        @Override
        public String map(String name) {
            seen = true;
            if (armed.getCount() == 0 && !failed) {
                failed = true;
                throw new IllegalStateException("fails once, for the test");
            }
            return name;
        }

        @Override
        public void notifyCheckpointComplete(long checkpoint) {
            if (seen) {
                armed.countDown();
            }
        }
    }

    /** Sets a timer at each record's event time and says when it fires. */
    private static final class SaysWhatEventTimeHasPassed extends KeyedProcessFunction<String, RawRecord, String> {
        private static final long serialVersionUID = 1L;

        @Override
        public void processElement(RawRecord record, Context context, Collector<String> out) {
            context.timerService().registerEventTimeTimer(record.coarseEpochMillis);
        }

        @Override
        public void onTimer(long epochMillis, OnTimerContext context, Collector<String> out) {
            out.collect("passed " + epochMillis);
        }
    }
}
