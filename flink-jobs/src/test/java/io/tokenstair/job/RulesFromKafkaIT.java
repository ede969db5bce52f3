package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.RawTableReader;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.capture.Captures;
import io.tokenstair.job.capture.JobRuns;
import io.tokenstair.job.source.KafkaBroker;
import io.tokenstair.look.rule.RulesMain;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A job takes the rules that {@code rules apply} sent to a topic of a real broker: the commands themselves. */
class RulesFromKafkaIT {
    private static final String TOPIC = "rules";

    @TempDir
    Path folder;

    private Path rule(String id, int version) throws Exception {
        return Files.writeString(
                folder.resolve(id + "-" + version + ".yaml"), "id: " + id + "\nversion: " + version + """

                description: A request ended.
                severity: info
                cause: PREEMPTION
                key: request
                stages:
                  - {name: end, kind: FINISHED}
                within: 1s
                finding: Request {end.requestId} ended.
                examples:
                  - name: one
                    given: [{kind: FINISHED, at: 0ms, requestId: a}]
                    expect: match
                  - name: none
                    given: [{kind: PREEMPTED, at: 0ms, requestId: a}]
                    expect: no-match
                """);
    }

    private static void apply(String... words) {
        List<String> arguments = new ArrayList<>(List.of("apply"));
        arguments.addAll(List.of(words));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int code = RulesMain.run(arguments.toArray(String[]::new), out, err, Map.of());
        assertThat(code).as(err.toString(StandardCharsets.UTF_8)).isZero();
    }

    private static List<LoggedEvent> raw(Path archive, String table) throws Exception {
        List<LoggedEvent> events = new ArrayList<>();
        for (Path file : ArchiveLayout.files(archive, table)) {
            try (RawTableReader reader = RawTableReader.open(table, file)) {
                while (reader.hasNext()) {
                    events.add(EventCodec.decode(reader.next().wireBytes()));
                }
            }
        }
        return events;
    }

    private static long found(TreeSet<String> findings, String rule) {
        return findings.stream().filter(row -> row.contains("rule=" + rule)).count();
    }

    @Test
    void whatWasAppliedToTheTopicHoldsAndWhatIsNoRevisionIsRefused() throws Exception {
        Path log = Captures.log("kv_pressure_preemption", folder.resolve("log"));
        Path archive = folder.resolve("archive");
        try (KafkaBroker broker = KafkaBroker.start()) {
            broker.createTopic(TOPIC, 1);
            String control = "kafka://" + broker.bootstrapServers() + "/" + TOPIC;
            apply(rule("gone", 1).toString(), "--to", control);
            apply(rule("ends", 1).toString(), "--to", control);
            apply(rule("ends", 2).toString(), "--to", control);
            apply("--retire", "gone", "--to", control);
            try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                    Map.of("bootstrap.servers", broker.bootstrapServers()),
                    new ByteArraySerializer(),
                    new ByteArraySerializer())) {
                producer.send(new ProducerRecord<>(TOPIC, 0, null, new byte[] {1, 2, 3}))
                        .get();
            }

            assertThat(JobMain.run(
                            "run",
                            "--once",
                            "--from",
                            log.toString(),
                            "--rules-from",
                            control,
                            "--parallelism",
                            "2",
                            "--archive",
                            archive.toString()))
                    .isZero();
        }
        TreeSet<String> findings = JobRuns.rows(archive, ResultTables.FINDING);
        long ends = JobRuns.rows(archive, ResultTables.MILESTONE).stream()
                .filter(row -> row.contains("milestoneKind=FINISHED"))
                .count();
        assertThat(found(findings, "ends, ruleRevision=2,")).isPositive().isEqualTo(ends);
        assertThat(found(findings, "ends, ruleRevision=1,")).isZero();
        assertThat(found(findings, "gone,")).isZero();
        assertThat(found(findings, "kv-pressure-then-recompute,"))
                .as("the built-in rules hold too")
                .isPositive();
        List<RuleRevised> applied = new ArrayList<>();
        for (LoggedEvent row : raw(archive, "rule_revised")) {
            if (row.header().collectorId().equals("rules-apply")) {
                applied.add((RuleRevised) row.event());
            }
        }
        applied.sort((left, right) -> Long.compare(index(left), index(right)));
        assertThat(applied)
                .extracting(revised -> revised.ruleId() + " " + revised.action() + " " + revised.version())
                .containsExactly("gone set 1", "ends set 1", "ends set 2", "gone retire 1");
        assertThat(raw(archive, "rejected"))
                .extracting(row -> ((Rejected) row.event()).reason())
                .anyMatch(reason -> reason.startsWith("record 4: "));

        Path again = folder.resolve("replay");
        assertThat(JobMain.run("replay", "--archive", archive.toString(), "--out", again.toString()))
                .isZero();
        assertThat(JobRuns.difference(JobRuns.rows(again, ResultTables.FINDING), findings))
                .isEmpty();
    }

    private static long index(RuleRevised revised) {
        return revised.scheduleIndex() == null ? -1 : revised.scheduleIndex();
    }
}
