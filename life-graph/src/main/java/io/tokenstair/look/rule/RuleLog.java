package io.tokenstair.look.rule;

import io.tokenstair.event.Event;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.log.FolderLogAppender;
import io.tokenstair.log.FolderLogReader;
import io.tokenstair.log.KafkaAddress;
import io.tokenstair.look.archive.UnusableInputException;
import io.tokenstair.look.text.Terminal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** Where revisions of rules are sent: the folder of an embedded log, or a Kafka topic. */
final class RuleLog {
    private static final int KAFKA_WAIT_MILLIS = 15_000;

    private RuleLog() {}

    /**
     * Appends events, in their order.
     *
     * @param address {@code kafka://host:port/topic} or a folder
     * @throws UnusableInputException where they cannot be appended
     */
    static void append(String address, List<LoggedEvent> events) {
        if (isFolder(address)) {
            toFolder(Path.of(address), events);
            return;
        }
        KafkaAddress kafka = KafkaAddress.of(address);
        if (kafka == null) {
            throw new UnusableInputException(
                    "Cannot read the address " + Terminal.safe(address) + ": give kafka://host:port/topic");
        }
        toTopic(kafka.servers(), kafka.topic(), events);
    }

    /** True where it is no topic. */
    static boolean isFolder(String address) {
        return !address.startsWith("kafka://");
    }

    /** The rules a folder ever got a text of; none of what cannot be read, or of a topic. */
    static Set<String> ruleIds(String address) {
        Set<String> ids = new TreeSet<>();
        Path folder = isFolder(address) ? Path.of(address) : null;
        if (folder == null || !Files.isDirectory(folder)) {
            return ids;
        }
        try {
            for (Path partition : FolderLogReader.partitions(folder)) {
                try (FolderLogReader reader = new FolderLogReader(partition, 0)) {
                    for (byte[] bytes = reader.rest(); bytes != null; bytes = reader.rest()) {
                        if (decoded(bytes) instanceof RuleRevised revised && revised.text() != null) {
                            ids.add(revised.ruleId());
                        }
                    }
                }
            }
        } catch (IOException unreadable) {
            return ids;
        }
        return ids;
    }

    private static @Nullable Event decoded(byte[] bytes) {
        try {
            return EventCodec.decode(bytes).event();
        } catch (WireException damaged) {
            return null;
        }
    }

    /** One partition for all sendings: partitions are read in any order, and a later revision must come after an earlier one. */
    private static void toFolder(Path folder, List<LoggedEvent> events) {
        try {
            requireLogOrNew(folder);
            FolderLogAppender.append(
                    folder, events.stream().map(EventCodec::encode).toList());
        } catch (IOException failure) {
            throw new UnusableInputException(
                    "Cannot write to the log " + folder + ": "
                            + failure.getClass().getSimpleName() + "; check that the folder can be written to",
                    failure);
        }
    }

    private static void requireLogOrNew(Path folder) throws IOException {
        if (Files.exists(folder) && !Files.isDirectory(folder)) {
            throw new UnusableInputException("Cannot write to the log " + folder + ": it is no folder");
        }
        if (Files.isDirectory(folder)) {
            try (Stream<Path> entries = Files.list(folder)) {
                boolean other = entries.anyMatch(entry -> Files.isDirectory(entry)
                        && FolderLogReader.partitionIndex(entry.getFileName().toString()) == null);
                if (other && FolderLogReader.partitions(folder).isEmpty()) {
                    throw new UnusableInputException("Cannot write to the log " + folder
                            + ": it holds something else; name the folder that holds partition-0000, or a new one");
                }
            }
        }
    }

    private static void toTopic(String servers, String topic, List<LoggedEvent> events) {
        Map<String, Object> settings = Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, servers,
                ProducerConfig.ACKS_CONFIG, "all",
                ProducerConfig.MAX_BLOCK_MS_CONFIG, KAFKA_WAIT_MILLIS,
                ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, KAFKA_WAIT_MILLIS,
                ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 2 * KAFKA_WAIT_MILLIS);
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (LoggedEvent event : events) {
                // One partition, so that they keep their order.
                Future<?> sent = producer.send(new ProducerRecord<>(topic, 0, null, EventCodec.encode(event)));
                sent.get();
            }
        } catch (KafkaException | ExecutionException failure) {
            String reason =
                    String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
            throw new UnusableInputException(
                    Terminal.safe("Cannot send to topic " + topic + " of " + servers + ": " + reason), failure);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new UnusableInputException("Cannot send: stopped while waiting for the broker", stopped);
        }
    }
}
