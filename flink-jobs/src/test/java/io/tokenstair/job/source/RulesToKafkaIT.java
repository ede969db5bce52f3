package io.tokenstair.job.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.tokenstair.event.RuleRevised;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.look.rule.RulesMain;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rules that are applied to a topic are records of it, in the wire form that a job reads. */
class RulesToKafkaIT {
    private static final String TOPIC = "rules";

    @TempDir
    Path folder;

    @Test
    void appliedRulesAreRecordsOfTheTopicInTheirOrder() throws Exception {
        Path rule = Files.writeString(folder.resolve("seen.yaml"), """
                id: seen
                version: 4
                description: A request was preempted.
                severity: info
                cause: PREEMPTION
                key: request
                stages:
                  - {name: preempted, kind: PREEMPTED}
                within: 1s
                finding: It was preempted.
                examples:
                  - name: one
                    given: [{kind: PREEMPTED, at: 0ms, requestId: a}]
                    expect: match
                  - name: none
                    given: [{kind: FINISHED, at: 0ms, requestId: a}]
                    expect: no-match
                """);
        try (KafkaBroker broker = KafkaBroker.start()) {
            broker.createTopic(TOPIC, 1);
            String log = "kafka://" + broker.bootstrapServers() + "/" + TOPIC;

            apply(rule.toString(), "--to", log);
            apply("--retire", "seen", "--to", log);

            assertThat(records(broker.bootstrapServers(), 2))
                    .extracting(RuleRevised::ruleId, RuleRevised::action, RuleRevised::version)
                    .containsExactly(tuple("seen", RuleRevised.SET, 4), tuple("seen", RuleRevised.RETIRE, null));
        }
    }

    private static void apply(String... words) {
        List<String> arguments = new ArrayList<>(List.of("apply"));
        arguments.addAll(List.of(words));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int code = RulesMain.run(arguments.toArray(String[]::new), out, err, Map.of());
        assertThat(code).as(err.toString(StandardCharsets.UTF_8)).isZero();
    }

    private static List<RuleRevised> records(String servers, int count) throws Exception {
        List<RuleRevised> records = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, servers),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            TopicPartition partition = new TopicPartition(TOPIC, 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            for (int tries = 0; records.size() < count && tries < 60; tries++) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
                    records.add((RuleRevised) EventCodec.decode(record.value()).event());
                }
            }
        }
        return records;
    }
}
