package io.tokenstair.log;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * A Kafka topic as an outlet's place. The key is the collector's id: its records stay in order in one partition. A record that the
 * broker has not taken within two minutes is lost.
 */
final class KafkaPlace implements LogPlace {
    private static final long MAX_IN_FLIGHT_BYTES = 16L << 20;
    private static final int MAX_BLOCK_MILLIS = 2_000;

    private final String servers;
    private final String topic;
    private final Outcome outcome;
    private final Map<String, Object> settings;
    private final AtomicLong inFlightBytes = new AtomicLong();
    private volatile @Nullable String failure;
    private @Nullable KafkaProducer<byte[], byte[]> producer;
    private boolean topicSeen;

    KafkaPlace(String servers, String topic, Outcome outcome) {
        this(servers, topic, outcome, Map.of());
    }

    /** A place whose producer has further settings, such as security. */
    KafkaPlace(String servers, String topic, Outcome outcome, Map<String, Object> further) {
        this.servers = servers;
        this.topic = topic;
        this.outcome = outcome;
        Map<String, Object> all = new HashMap<>();
        all.put(ProducerConfig.ACKS_CONFIG, "all");
        all.put(ProducerConfig.LINGER_MS_CONFIG, 50);
        all.put(ProducerConfig.BATCH_SIZE_CONFIG, 256 << 10);
        all.put(ProducerConfig.BUFFER_MEMORY_CONFIG, 3 * MAX_IN_FLIGHT_BYTES);
        all.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 15_000);
        all.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 120_000);
        all.putAll(further);
        // Never longer than the writer may be held up.
        all.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, MAX_BLOCK_MILLIS);
        all.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
        this.settings = all;
    }

    @Override
    public boolean take(OutletRecord record, byte[] bytes) throws IOException {
        KafkaProducer<byte[], byte[]> open = open();
        if (inFlightBytes.get() > MAX_IN_FLIGHT_BYTES) {
            return false;
        }
        byte[] key = record.feed().collectorId().getBytes(StandardCharsets.UTF_8);
        Sending sending = new Sending(record, bytes.length);
        inFlightBytes.addAndGet(bytes.length);
        try {
            // What becomes of it is told to the callback, errors of the call itself among it.
            var unused = open.send(new ProducerRecord<>(topic, key, bytes), sending);
        } catch (InterruptException stopped) {
            inFlightBytes.addAndGet(-bytes.length);
            throw new IOException("stopped while sending to " + servers, stopped);
        } finally {
            sending.calling = null;
        }
        if (sending.refused != null) {
            // It was not even queued: the broker is away. Whether it is back is asked before the next one.
            topicSeen = false;
            throw new IOException("topic " + topic + " of " + servers + ": " + reason(sending.refused));
        }
        return true;
    }

    /** What becomes of one record. */
    private final class Sending implements Callback {
        private final OutletRecord record;
        private final int bytes;
        /** The thread that is inside the call to send; absent after it. */
        private volatile @Nullable Thread calling = Thread.currentThread();

        private @Nullable Exception refused;

        private Sending(OutletRecord record, int bytes) {
            this.record = record;
            this.bytes = bytes;
        }

        @Override
        public void onCompletion(@Nullable RecordMetadata metadata, @Nullable Exception exception) {
            inFlightBytes.addAndGet(-bytes);
            if (exception == null) {
                failure = null;
                outcome.kept(record);
            } else if (exception instanceof RetriableException
                    && Thread.currentThread().equals(calling)) {
                refused = exception;
            } else {
                failure = reason(exception);
                outcome.lost(record, reason(exception));
            }
        }
    }

    private KafkaProducer<byte[], byte[]> open() throws IOException {
        try {
            KafkaProducer<byte[], byte[]> open = producer;
            if (open == null) {
                open = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
                producer = open;
            }
            if (!topicSeen) {
                if (open.partitionsFor(topic).isEmpty()) {
                    throw new IOException("topic " + topic + " of " + servers + " has no partition");
                }
                topicSeen = true;
            }
            return open;
        } catch (KafkaException away) {
            throw new IOException("topic " + topic + " of " + servers + ": " + reason(away), away);
        }
    }

    @Override
    public void flush() throws IOException {
        String refused = failure;
        if (refused != null) {
            failure = null;
            throw new IOException("topic " + topic + " of " + servers + ": " + refused);
        }
    }

    private static String reason(Exception away) {
        return String.valueOf(away.getMessage()).lines().findFirst().orElse("");
    }

    @Override
    public void close(Duration wait) {
        if (producer != null) {
            producer.close(wait);
            producer = null;
        }
    }
}
