package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.capture.Captures;
import io.tokenstair.job.rule.RevisedRules;
import io.tokenstair.job.sink.RawArchiveRow;
import io.tokenstair.job.source.CollectorWatermarks;
import io.tokenstair.job.source.KafkaBroker;
import io.tokenstair.job.source.KafkaLogSource;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.source.RawRecordTypeInfo;
import io.tokenstair.log.FolderLogReader;
import io.tokenstair.milestone.Milestone;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Rules that come while the job runs, from a topic that never ends, beside events from one that never ends. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EndlessRulesFromKafkaIT {
    private static final String EVENTS = "events";
    private static final String RULES = "rules";

    @TempDir
    Path folder;

    private static byte[] revision(int number, String id, int version, boolean set) {
        String text = "id: " + id + "\nversion: " + version
                + "\ndescription: d\nseverity: info\ncause: PREEMPTION\nkey: request"
                + "\nstages:\n  - name: end\n    kind: FINISHED\nwithin: 1s\nfinding: Request {end.requestId} ended.\n";
        return EventCodec.encode(new LoggedEvent(
                new EventHeader("rules-apply", 1, number, "none", null, null),
                new RuleRevised(
                        id,
                        set ? version : null,
                        set ? RuleRevised.SET : RuleRevised.RETIRE,
                        set ? text : null,
                        null,
                        null,
                        null,
                        "r.yaml")));
    }

    /** What was said, also before: two subtasks say what one read in any order. */
    private static String awaited(LinkedBlockingQueue<String> said, Predicate<String> wanted, List<String> seen)
            throws InterruptedException {
        for (String before : seen) {
            if (wanted.test(before)) {
                return before;
            }
        }
        while (true) {
            String next = said.poll(90, TimeUnit.SECONDS);
            assertThat(next).as("what was awaited; said before: %s", seen).isNotNull();
            seen.add(String.valueOf(next));
            if (wanted.test(String.valueOf(next))) {
                return String.valueOf(next);
            }
        }
    }

    @Test
    void whatComesWhileTheJobRunsIsTakenAndRubbishIsRefused() throws Exception {
        List<byte[]> events = events(folder.resolve("log"));
        Said.said.clear();
        List<String> seen = new ArrayList<>();
        try (KafkaBroker broker = KafkaBroker.start()) {
            broker.createTopic(EVENTS, 1);
            broker.createTopic(RULES, 1);
            Configuration settings = JobEnvironment.settings(RuntimeExecutionMode.STREAMING);
            settings.set(RestartStrategyOptions.RESTART_STRATEGY, "disable");
            StreamExecutionEnvironment environment = StreamExecutionEnvironment.createLocalEnvironment(2, settings);
            environment.enableCheckpointing(500);
            wire(environment, broker.bootstrapServers());
            JobClient job = environment.executeAsync("endless");
            try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                    Map.of("bootstrap.servers", broker.bootstrapServers()),
                    new ByteArraySerializer(),
                    new ByteArraySerializer())) {
                send(producer, RULES, revision(0, "early", 1, true));
                awaited(Said.said, said -> said.equals("early set 1 from the beginning"), seen);
                for (byte[] event : events) {
                    producer.send(new ProducerRecord<>(EVENTS, 0, null, event));
                }
                awaited(Said.said, said -> said.equals("found early 1"), seen);
                send(producer, RULES, null);
                send(producer, RULES, new byte[] {1, 2, 3});
                awaited(Said.said, said -> said.startsWith("refused record 1: no bytes"), seen);
                awaited(Said.said, said -> said.startsWith("refused record 2: "), seen);
                send(producer, RULES, revision(1, "late", 1, true));
                awaited(Said.said, said -> said.equals("late set 1 from later on"), seen);
                send(producer, RULES, revision(2, "earlly", 1, false));
                awaited(Said.said, said -> said.endsWith("there is no rule earlly. Did you mean early?"), seen);
                send(producer, RULES, revision(3, "early", 1, false));
                awaited(Said.said, said -> said.equals("early retire 1 from later on"), seen);
            } catch (Exception | AssertionError e) {
                // What failed leaves no job behind that takes the processors from the tests to come.
                job.cancel().get(60, TimeUnit.SECONDS);
                throw e;
            }
            job.stopWithSavepoint(true, folder.resolve("savepoint").toUri().toString(), SavepointFormatType.CANONICAL)
                    .get(120, TimeUnit.SECONDS);
            job.getJobExecutionResult().get(60, TimeUnit.SECONDS);
        }
        Said.said.drainTo(seen);
        assertThat(seen).doesNotContain("found late 1");
    }

    /** A recorded run by event time, and behind it of each collector an event much later: all before is complete then. */
    private static List<byte[]> events(Path log) throws Exception {
        List<RawRecord> records = new ArrayList<>();
        for (Path partition : FolderLogReader.partitions(Captures.log("kv_pressure_preemption", log))) {
            try (FolderLogReader reader = new FolderLogReader(partition, 0)) {
                for (byte[] record = reader.rest(); record != null; record = reader.rest()) {
                    records.add(RawRecord.of(record, "log", records.size()));
                }
            }
        }
        records.sort(Comparator.comparingLong(record -> record.coarseEpochMillis));
        long lastMillis = records.get(records.size() - 1).coarseEpochMillis;
        Map<String, RawRecord> last = new TreeMap<>();
        records.forEach(record -> last.put(record.collectorId, record));
        List<byte[]> events = new ArrayList<>();
        records.forEach(record -> events.add(record.bytes));
        last.forEach((collector, record) -> events.add(EventCodec.encode(new LoggedEvent(
                new EventHeader(
                        collector, record.collectorEpoch, record.sequence + 1, "none", null, lastMillis + 600_000),
                new CollectorGap("end", 0, 1)))));
        return events;
    }

    private static void send(KafkaProducer<byte[], byte[]> producer, String topic, byte @Nullable [] bytes)
            throws Exception {
        producer.send(new ProducerRecord<>(topic, 0, null, bytes)).get(60, TimeUnit.SECONDS);
    }

    private static void wire(StreamExecutionEnvironment environment, String servers) {
        DataStream<RawRecord> records = environment
                .fromSource(
                        KafkaLogSource.unbounded(servers, EVENTS, new Properties()),
                        CollectorWatermarks.strategy(Duration.ofMillis(100)),
                        "log",
                        RawRecordTypeInfo.INSTANCE)
                .uid("log");
        DataStream<RawRecord> revisions = environment
                .fromSource(
                        KafkaLogSource.unbounded(servers, RULES, new Properties()),
                        WatermarkStrategy.noWatermarks(),
                        "rules-log",
                        RawRecordTypeInfo.INSTANCE)
                .setParallelism(1)
                .uid("rules-log");
        DataStream<Milestone> milestones = new AnalysisJob(false, List.of(), null, null)
                .wire(records)
                .milestones()
                .transform("shift-event-time", TypeInformation.of(Milestone.class), new ShiftEventTime())
                .uid("shift-event-time");
        RevisedRules rules =
                RevisedRules.of(false, List.of(), milestones, revisions, false, ShiftEventTime.SHIFT_MILLIS);
        said(
                rules.findings()
                        .map(finding -> "found " + finding.rule() + " " + finding.ruleRevision())
                        .returns(String.class),
                "findings");
        said(rules.archive().map(EndlessRulesFromKafkaIT::told).returns(String.class), "archive");
    }

    private static void said(SingleOutputStreamOperator<String> words, String name) {
        words.name(name)
                .uid(name)
                .transform("said-" + name, TypeInformation.of(String.class), new Said())
                .uid("said-" + name)
                .sinkTo(new DiscardingSink<>())
                .uid("nowhere-" + name);
    }

    private static String told(RawArchiveRow row) {
        Event event = row.event().event();
        if (event instanceof RuleRevised revised) {
            Long effective = revised.effectiveMillis();
            return revised.ruleId() + " " + revised.action() + " " + revised.version()
                    + (effective == null || effective == 0 ? " from the beginning" : " from later on");
        }
        return event instanceof Rejected rejected ? "refused " + rejected.reason() : event.toString();
    }

    /** Passes on what was said to the test. */
    private static final class Said extends AbstractStreamOperator<String>
            implements OneInputStreamOperator<String, String> {
        private static final long serialVersionUID = 1L;
        private static final LinkedBlockingQueue<String> said = new LinkedBlockingQueue<>();

        @Override
        public void processElement(StreamRecord<String> element) {
            said.add(element.getValue());
            output.collect(element);
        }
    }
}
