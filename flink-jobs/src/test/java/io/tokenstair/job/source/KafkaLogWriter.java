package io.tokenstair.job.source;

import io.tokenstair.log.FolderLogReader;
import java.nio.file.Path;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** Writes log records to a topic, those of a collector always to the same partition, so that they keep their order. */
public final class KafkaLogWriter implements AutoCloseable {
    private final KafkaProducer<byte[], byte[]> producer;
    private final String topic;
    private final int partitions;

    /** Opens a topic with this many partitions. */
    public KafkaLogWriter(String bootstrapServers, String topic, int partitions) {
        this.topic = topic;
        this.partitions = partitions;
        this.producer = new KafkaProducer<>(
                Map.of(
                        ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers,
                        ProducerConfig.ACKS_CONFIG, "all",
                        ProducerConfig.LINGER_MS_CONFIG, "5"),
                new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    /** Appends one record; null for one without a value. */
    public void append(String collectorId, byte @Nullable [] record) {
        int partition = Math.floorMod(collectorId.hashCode(), partitions);
        producer.send(new ProducerRecord<>(topic, partition, null, record));
    }

    /** Appends every record of a folder log and gives their number. */
    public long appendLog(Path log) throws Exception {
        long count = 0;
        for (Path partition : FolderLogReader.partitions(log)) {
            try (FolderLogReader reader = new FolderLogReader(partition, 0)) {
                for (byte[] bytes = reader.next(); bytes != null; bytes = reader.next()) {
                    append(RawRecord.of(bytes, "", 0).collectorId, bytes);
                    count++;
                }
            }
        }
        flush();
        return count;
    }

    /** Waits until the broker has every record. */
    public void flush() {
        producer.flush();
    }

    @Override
    public void close() {
        producer.close();
    }
}
