package io.tokenstair.job.source;

import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.test.KafkaClusterTestKit;
import org.apache.kafka.common.test.TestKitNodes;

/** A real Kafka broker, with its own controller, in this process: starts in seconds on a free port and leaves nothing behind. */
public final class KafkaBroker implements AutoCloseable {
    private final KafkaClusterTestKit kit;

    private KafkaBroker(KafkaClusterTestKit kit) {
        this.kit = kit;
    }

    /** Starts a broker and waits until it takes requests. */
    public static KafkaBroker start() throws Exception {
        TestKitNodes nodes = new TestKitNodes.Builder()
                .setCombined(true)
                .setNumBrokerNodes(1)
                .setNumControllerNodes(1)
                .build();
        KafkaClusterTestKit kit = new KafkaClusterTestKit.Builder(nodes)
                .setConfigProp("auto.create.topics.enable", "false")
                .setConfigProp("offsets.topic.replication.factor", "1")
                .setConfigProp("offsets.topic.num.partitions", "1")
                .setConfigProp("transaction.state.log.replication.factor", "1")
                .setConfigProp("transaction.state.log.min.isr", "1")
                .setConfigProp("transaction.state.log.num.partitions", "1")
                .build();
        KafkaBroker broker = new KafkaBroker(kit);
        try {
            kit.format();
            kit.startup();
            kit.waitForReadyBrokers();
            return broker;
        } catch (Exception e) {
            broker.close();
            throw e;
        }
    }

    /** The address for clients. */
    public String bootstrapServers() {
        return kit.bootstrapServers();
    }

    /** Makes a topic that keeps records of any age: test data are dated as the test likes. */
    public void createTopic(String name, int partitions) throws Exception {
        Properties admin = new Properties();
        admin.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers());
        try (Admin client = Admin.create(admin)) {
            NewTopic topic =
                    new NewTopic(name, partitions, (short) 1).configs(Map.of(TopicConfig.RETENTION_MS_CONFIG, "-1"));
            client.createTopics(List.of(topic)).all().get(60, TimeUnit.SECONDS);
        }
    }

    /** Takes the broker away; its topics stay on disk. */
    public void goAway() {
        kit.brokers().values().forEach(broker -> {
            broker.shutdown();
            broker.awaitShutdown();
        });
    }

    /** Brings it back, at the same address. */
    public void comeBack() throws Exception {
        kit.brokers().values().forEach(broker -> broker.startup());
        kit.waitForReadyBrokers();
    }

    @Override
    public void close() throws Exception {
        kit.close();
    }
}
