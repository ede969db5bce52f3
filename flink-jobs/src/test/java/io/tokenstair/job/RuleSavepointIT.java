package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.RawTableReader;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.capture.Captures;
import io.tokenstair.job.capture.JobRuns;
import io.tokenstair.job.source.CollectorWatermarks;
import io.tokenstair.job.source.FolderLogSource;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.source.RawRecordTypeInfo;
import io.tokenstair.log.FolderLogReader;
import io.tokenstair.log.FolderLogWriter;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleBinder;
import io.tokenstair.rule.syntax.RuleParser;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A job that is stopped with a savepoint and goes on with other rules and another parallelism. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RuleSavepointIT {
    private static final Duration LATENESS = Duration.ofMillis(100);

    @TempDir
    Path folder;

    private static BoundRule rule(String id, int version) {
        String text = "id: " + id + "\nversion: " + version
                + "\ndescription: d\nseverity: info\ncause: KV_PRESSURE\nkey: engine\nstages:\n  - name: end\n"
                + "    kind: FINISHED\nwithin: 1s\nfinding: Request {end.requestId} ended.\n";
        return RuleBinder.bind(RuleParser.parse(id + ".yaml", text));
    }

    @Test
    void whatHoldsAfterASavepointIsArchivedAndAReplaySaysTheSame() throws Exception {
        Path whole = Captures.log("kv_pressure_preemption", folder.resolve("whole"));
        Path log = folder.resolve("log");
        List<FolderLogWriter> writers = new ArrayList<>();
        copy(whole, log, writers, true);
        Path archive = folder.resolve("archive");
        AfterMostTime.reset(passedMillis(log));
        StreamExecutionEnvironment before = environment(2, null);
        wire(before, FolderLogSource.unbounded(log), List.of(rule("ends", 1), rule("gone", 1)), archive);
        JobClient job = before.executeAsync("before");
        assertThat(AfterMostTime.seen.await(120, TimeUnit.SECONDS)).isTrue();
        String savepoint = job.stopWithSavepoint(
                        false, folder.resolve("savepoint").toUri().toString(), SavepointFormatType.CANONICAL)
                .get(120, TimeUnit.SECONDS);
        job.getJobExecutionResult().get(60, TimeUnit.SECONDS);

        copy(whole, log, writers, false);
        StreamExecutionEnvironment after = environment(3, savepoint);
        wire(after, FolderLogSource.bounded(log), List.of(rule("ends", 2), rule("new", 1)), archive);
        after.execute("after");

        List<String> history = new ArrayList<>();
        TreeSet<Long> instants = new TreeSet<>();
        for (Path file : ArchiveLayout.files(archive, "rule_revised")) {
            try (RawTableReader reader = RawTableReader.open("rule_revised", file)) {
                while (reader.hasNext()) {
                    LoggedEvent row = EventCodec.decode(reader.next().wireBytes());
                    RuleRevised revised = (RuleRevised) row.event();
                    history.add(revised.ruleId() + " " + revised.action() + " " + revised.version() + " "
                            + (revised.effectiveMillis() != null && revised.effectiveMillis() > 0));
                    instants.add(revised.effectiveMillis());
                }
            }
        }
        assertThat(history)
                .containsExactlyInAnyOrder(
                        "ends set 1 false",
                        "gone set 1 false",
                        "ends set 2 true",
                        "new set 1 true",
                        "gone retire 1 true");
        assertThat(instants).as("one instant for all that changed").hasSize(2);
        TreeSet<String> findings = JobRuns.rows(archive, ResultTables.FINDING);
        TreeSet<String> activity = JobRuns.rows(archive, ResultTables.RULE_ACTIVITY);
        long ends = JobRuns.rows(archive, ResultTables.MILESTONE).stream()
                .filter(row -> row.contains("milestoneKind=FINISHED"))
                .count();
        assertThat(found(findings, "ends", 1)).isPositive().isEqualTo(found(findings, "gone", 1));
        assertThat(found(findings, "ends", 2)).isPositive().isEqualTo(found(findings, "new", 1));
        assertThat(found(findings, "ends", 1) + found(findings, "ends", 2)).isEqualTo(ends);

        Path again = folder.resolve("replay");
        assertThat(JobMain.run("replay", "--archive", archive.toString(), "--out", again.toString()))
                .isZero();
        assertThat(JobRuns.difference(JobRuns.rows(again, ResultTables.FINDING), findings))
                .isEmpty();
        assertThat(JobRuns.difference(JobRuns.rows(again, ResultTables.RULE_ACTIVITY), activity))
                .isEmpty();
    }

    private static long found(TreeSet<String> findings, String rule, int revision) {
        return findings.stream()
                .filter(row -> row.contains("rule=" + rule + ", ruleRevision=" + revision + ","))
                .count();
    }

    private static StreamExecutionEnvironment environment(int parallelism, @Nullable String savepoint) {
        Configuration settings = JobEnvironment.settings(RuntimeExecutionMode.STREAMING);
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "disable");
        if (savepoint != null) {
            settings.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
        }
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.createLocalEnvironment(parallelism, settings);
        environment.enableCheckpointing(1_000);
        return environment;
    }

    private static void wire(
            StreamExecutionEnvironment environment, Source<RawRecord, ?, ?> log, List<BoundRule> rules, Path archive) {
        DataStream<RawRecord> records = environment
                .fromSource(log, CollectorWatermarks.strategy(LATENESS), "log", RawRecordTypeInfo.INSTANCE)
                .uid("log");
        new AnalysisJob(false, rules, archive, archive)
                .wire(records)
                .milestones()
                .transform("after-most-time", TypeInformation.of(Milestone.class), new AfterMostTime())
                .uid("after-most-time")
                .sinkTo(new DiscardingSink<>())
                .uid("nowhere");
    }

    /** Copies the first two thirds of each partition of a log, or the rest. */
    private static void copy(Path from, Path to, List<FolderLogWriter> writers, boolean first) throws Exception {
        List<Path> partitions = FolderLogReader.partitions(from);
        for (int partition = 0; partition < partitions.size(); partition++) {
            List<byte[]> records = new ArrayList<>();
            try (FolderLogReader reader = new FolderLogReader(partitions.get(partition), 0)) {
                for (byte[] record = reader.next(); record != null; record = reader.next()) {
                    records.add(record);
                }
            }
            if (first) {
                writers.add(new FolderLogWriter(to, partition));
            }
            int cut = 2 * records.size() / 3;
            for (byte[] record : first ? records.subList(0, cut) : records.subList(cut, records.size())) {
                writers.get(partition).append(record);
            }
            if (first) {
                writers.get(partition).flush();
            } else {
                writers.get(partition).close();
            }
        }
    }

    /** How far event time comes by what a log holds now, in ms. */
    private static long passedMillis(Path log) throws Exception {
        long passed = Long.MAX_VALUE;
        for (Path partition : FolderLogReader.partitions(log)) {
            Map<String, Long> reached = new HashMap<>();
            try (FolderLogReader reader = new FolderLogReader(partition, 0)) {
                for (byte[] record = reader.next(); record != null; record = reader.next()) {
                    RawRecord read = RawRecord.of(record, "log", 0);
                    if (read.isDated()) {
                        reached.merge(read.collectorId, read.coarseEpochMillis, Math::max);
                    }
                }
            }
            for (long millis : reached.values()) {
                passed = Math.min(passed, millis);
            }
        }
        return passed - LATENESS.toMillis() - 1;
    }

    /** Knows when the watermark has come as far as the first part of the log lets it. */
    private static final class AfterMostTime extends AbstractStreamOperator<Milestone>
            implements OneInputStreamOperator<Milestone, Milestone> {
        private static final long serialVersionUID = 1L;
        private static volatile CountDownLatch seen = new CountDownLatch(1);
        private static volatile long millis;

        static void reset(long target) {
            millis = target;
            seen = new CountDownLatch(2);
        }

        @Override
        public void processElement(StreamRecord<Milestone> element) {
            output.collect(element);
        }

        @Override
        public void processWatermark(Watermark watermark) throws Exception {
            super.processWatermark(watermark);
            if (watermark.getTimestamp() == millis) {
                seen.countDown();
            }
        }
    }
}
