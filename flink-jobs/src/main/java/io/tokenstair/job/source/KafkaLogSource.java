package io.tokenstair.job.source;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Makes sources over a log that is a Kafka topic. A record's value is the log record, its topic partition the origin and its offset the
 * ordinal; keys, headers and Kafka's own timestamps are not read. A record without a value is passed on as no bytes, to be rejected and
 * counted. Without a checkpoint reading begins at the first record the topic still has.
 */
public final class KafkaLogSource {
    /** The consumer group when none is given. */
    public static final String DEFAULT_GROUP = "tokenstair";

    private KafkaLogSource() {}

    /**
     * A source that ends at the records the topic has when the job starts.
     *
     * @param properties further consumer settings, such as security; {@code group.id} among them names the group
     */
    public static KafkaSource<RawRecord> bounded(String bootstrapServers, String topic, Properties properties) {
        return builder(bootstrapServers, topic, properties)
                .setBounded(OffsetsInitializer.latest())
                .build();
    }

    /**
     * A source that goes on with what is produced, and with partitions that are added.
     *
     * @param properties further consumer settings, such as security; {@code group.id} among them names the group
     */
    public static KafkaSource<RawRecord> unbounded(String bootstrapServers, String topic, Properties properties) {
        return builder(bootstrapServers, topic, properties).build();
    }

    private static KafkaSourceBuilder<RawRecord> builder(String bootstrapServers, String topic, Properties properties) {
        return KafkaSource.<RawRecord>builder()
                .setProperties(properties)
                .setBootstrapServers(bootstrapServers)
                .setTopics(topic)
                .setGroupId(properties.getProperty(ConsumerConfig.GROUP_ID_CONFIG, DEFAULT_GROUP))
                .setStartingOffsets(OffsetsInitializer.earliest())
                .setDeserializer(new ToRawRecord());
    }

    /** Wraps a Kafka record's value. */
    private static final class ToRawRecord implements KafkaRecordDeserializationSchema<RawRecord> {
        private static final long serialVersionUID = 1L;
        private static final byte[] NO_BYTES = {};

        private transient @Nullable Map<Integer, String> origins;

        @Override
        public void open(DeserializationSchema.InitializationContext context) {
            origins = new HashMap<>();
        }

        @Override
        public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<RawRecord> out) {
            Map<Integer, String> names = origins;
            if (names == null) {
                names = new HashMap<>();
                origins = names;
            }
            String origin = names.computeIfAbsent(record.partition(), partition -> record.topic() + "-" + partition);
            byte[] value = record.value();
            out.collect(RawRecord.of(value == null ? NO_BYTES : value, origin, record.offset()));
        }

        @Override
        public TypeInformation<RawRecord> getProducedType() {
            return RawRecordTypeInfo.INSTANCE;
        }
    }
}
