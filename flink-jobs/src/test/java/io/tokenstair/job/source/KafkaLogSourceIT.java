package io.tokenstair.job.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class KafkaLogSourceIT {
    private static final int PARTITIONS = 3;

    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(1)
            .setNumberSlotsPerTaskManager(2)
            .build());

    private static KafkaBroker broker;

    @TempDir
    Path folder;

    @BeforeAll
    static void startBroker() throws Exception {
        broker = KafkaBroker.start();
    }

    @AfterAll
    static void stopBroker() throws Exception {
        broker.close();
    }

    @Test
    void aTopicGivesTheRecordsOfTheFolderLogItWasFilledFrom() throws Exception {
        for (int partition = 0; partition < 3; partition++) {
            Records.writePartition(folder, partition, 1000);
        }
        broker.createTopic("copied", PARTITIONS);
        try (KafkaLogWriter writer = new KafkaLogWriter(broker.bootstrapServers(), "copied", PARTITIONS)) {
            assertThat(writer.appendLog(folder)).isEqualTo(3000);
        }
        KafkaSource<RawRecord> source = KafkaLogSource.bounded(broker.bootstrapServers(), "copied", new Properties());
        try (CloseableIterator<RawRecord> records = records(source)) {
            List<String> read = new ArrayList<>();
            while (records.hasNext()) {
                RawRecord record = records.next();
                assertThat(record.origin).matches("copied-[012]");
                assertThat(record.ordinal).isBetween(0L, 2999L);
                read.add(Records.name(record));
            }
            read.sort(null);
            assertThat(read).isEqualTo(Records.expected(3, 1000));
        }
    }

    @Test
    void anUnboundedReadSeesWhatIsProducedLaterAndRecordsWithoutAValue() throws Exception {
        broker.createTopic("followed", PARTITIONS);
        KafkaSource<RawRecord> source =
                KafkaLogSource.unbounded(broker.bootstrapServers(), "followed", new Properties());
        try (KafkaLogWriter writer = new KafkaLogWriter(broker.bootstrapServers(), "followed", PARTITIONS);
                CloseableIterator<RawRecord> records = records(source)) {
            writer.append("a", Records.bytes("a", 0));
            writer.flush();
            assertThat(Records.name(records.next())).isEqualTo("a/0");
            writer.append("a", null);
            writer.append("a", Records.bytes("a", 1));
            writer.flush();
            RawRecord empty = records.next();
            assertThat(empty.bytes).isEmpty();
            assertThat(empty.kindTag).isZero();
            assertThat(empty.ordinal).isEqualTo(1);
            assertThat(Records.name(records.next())).isEqualTo("a/1");
        }
    }

    private static CloseableIterator<RawRecord> records(KafkaSource<RawRecord> source) throws Exception {
        Configuration settings = new Configuration();
        settings.set(PipelineOptions.GENERIC_TYPES, false);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(settings);
        env.setParallelism(2);
        return env.fromSource(source, CollectorWatermarks.strategy(Duration.ofSeconds(5)), "kafka-log")
                .uid("kafka-log")
                .executeAndCollect();
    }
}
