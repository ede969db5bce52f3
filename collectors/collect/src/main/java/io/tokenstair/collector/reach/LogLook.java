package io.tokenstair.collector.reach;

import io.tokenstair.log.KafkaAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** Looks at where events go: a folder that can be written to and has room, or a broker with its topic. */
public final class LogLook {
    private static final long LEAST_BYTES = 64L << 20;
    private static final long WANTED_BYTES = 1L << 30;
    private static final int PATIENCE_MILLIS = 2_000;

    private LogLook() {}

    /** A look at the address of a log, as collectors take it. */
    public static Look at(String address) {
        return new Look("to", address, () -> look(address));
    }

    private static Seen look(String address) throws InterruptedException {
        if (!address.startsWith("kafka:")) {
            try {
                return folder(Path.of(address));
            } catch (InvalidPathException noPath) {
                return Seen.failed("no path", "give kafka://host:port/topic or a folder");
            }
        }
        KafkaAddress kafka = KafkaAddress.of(address);
        if (kafka == null) {
            return Seen.failed("not an address of a topic", "give kafka://host:port/topic");
        }
        return topic(kafka);
    }

    static Seen folder(Path folder) {
        Path there = folder.toAbsolutePath();
        while (there != null && !Files.exists(there)) {
            there = there.getParent();
        }
        if (there == null || !Files.isDirectory(there)) {
            return Seen.failed("not a folder: " + there, "give another one");
        }
        try {
            // What a file system says of permissions is not always so: a file is made, and taken away at once.
            Files.delete(Files.createTempFile(there, ".tokenstair-doctor", ""));
            long free = Files.getFileStore(there).getUsableSpace();
            String found = (there.equals(folder.toAbsolutePath()) ? "" : "made at the start; ")
                    + String.format(Locale.ROOT, "%.1f GiB free", free / (double) (1L << 30));
            if (free < LEAST_BYTES) {
                return Seen.failed(found, "free some space: events would be lost");
            }
            return free < WANTED_BYTES ? Seen.warning(found, "free some space: it will be full soon") : Seen.ok(found);
        } catch (IOException failed) {
            return Seen.failed(
                    "cannot be written to: " + failed.getClass().getSimpleName(), "check the permissions of " + there);
        }
    }

    private static Seen topic(KafkaAddress kafka) throws InterruptedException {
        int colon = kafka.servers().lastIndexOf(':');
        String host = kafka.servers().substring(0, colon);
        int port = Integer.parseInt(kafka.servers().substring(colon + 1));
        Seen absence = TcpPeer.absence(host, port, "the broker");
        if (absence != null) {
            return absence;
        }
        if (!BrokerPeer.answers(host, port)) {
            return Seen.failed(
                    "somebody listens there who does not answer as a broker",
                    "check the port, and that it speaks without TLS and login there");
        }
        try (Admin admin = admin(kafka.servers())) {
            TopicDescription topic = admin.describeTopics(List.of(kafka.topic()))
                    .allTopicNames()
                    .get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)
                    .get(kafka.topic());
            int partitions = topic == null ? 0 : topic.partitions().size();
            return Seen.ok("broker and topic, " + partitions + (partitions == 1 ? " partition" : " partitions"));
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof UnknownTopicOrPartitionException) {
                return Seen.warning(
                        "a broker, without the topic " + kafka.topic(),
                        "make it: kafka-topics.sh --bootstrap-server " + kafka.servers() + " --create --topic "
                                + kafka.topic() + "; many brokers make it by themselves");
            }
            Throwable cause = failed.getCause() == null ? failed : failed.getCause();
            return Seen.failed(
                    "the broker does not answer: " + cause.getClass().getSimpleName(),
                    "check that it is a broker of Kafka, and that it speaks without TLS and login there");
        } catch (TimeoutException silent) {
            return Seen.failed(
                    "a broker that says nothing of the topic within " + PATIENCE_MILLIS / 1_000 + " s",
                    "see the broker's log");
        }
    }

    private static Admin admin(String servers) {
        Properties settings = new Properties();
        settings.setProperty(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
        settings.setProperty(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, Integer.toString(PATIENCE_MILLIS / 2));
        settings.setProperty(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, Integer.toString(PATIENCE_MILLIS));
        return Admin.create(settings);
    }
}
