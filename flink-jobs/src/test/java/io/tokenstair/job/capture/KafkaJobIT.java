package io.tokenstair.job.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.job.source.FolderLogSource;
import io.tokenstair.job.source.KafkaBroker;
import io.tokenstair.job.source.KafkaLogSource;
import io.tokenstair.log.FolderLogReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole job over a real KRaft broker says what it says over a folder. */
class KafkaJobIT {
    @TempDir
    Path folder;

    @Test
    void aTopicGivesTheSameFindingsAsAFolder() throws Exception {
        Path log = Captures.log("kv_pressure_preemption", folder.resolve("log"));
        List<byte[]> records = new ArrayList<>();
        try (FolderLogReader reader = new FolderLogReader(log.resolve("partition-0000"), 0)) {
            for (byte[] record = reader.next(); record != null; record = reader.next()) {
                records.add(record);
            }
        }
        JobRuns ofFolder = JobRuns.of(
                RuntimeExecutionMode.STREAMING, 1, FolderLogSource.bounded(log), folder.resolve("of-folder"));
        try (KafkaBroker broker = KafkaBroker.start()) {
            broker.createTopic("tokenstair", 1);
            try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                    Map.of("bootstrap.servers", broker.bootstrapServers()),
                    new ByteArraySerializer(),
                    new ByteArraySerializer())) {
                for (byte[] record : records) {
                    producer.send(new ProducerRecord<>("tokenstair", 0, null, record));
                }
            }
            JobRuns ofTopic = JobRuns.of(
                    RuntimeExecutionMode.STREAMING,
                    2,
                    KafkaLogSource.bounded(broker.bootstrapServers(), "tokenstair", new Properties()),
                    folder.resolve("of-topic"));
            assertThat(JobRuns.difference(ofTopic.tokens(), ofFolder.tokens())).isEmpty();
            assertThat(JobRuns.difference(ofTopic.findings(), ofFolder.findings()))
                    .isEmpty();
            assertThat(ofTopic.tokens()).isNotEmpty();
            assertThat(ofTopic.findings()).isNotEmpty();
        }
    }
}
