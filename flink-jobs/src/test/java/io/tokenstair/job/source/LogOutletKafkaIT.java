package io.tokenstair.job.source;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.log.CollectorFeed;
import io.tokenstair.log.LogOutlet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LogOutletKafkaIT {
    private static final LogOutlet.Settings QUICK =
            new LogOutlet.Settings(256, Duration.ofMillis(5), Duration.ofMillis(50), Duration.ofSeconds(10));

    @Test
    void aTopicThatComesLaterHasWhatFittedInTheQueueAndSaysWhatIsMissing() throws Exception {
        try (KafkaBroker broker = KafkaBroker.start()) {
            LogOutlet outlet = LogOutlet.open("kafka://" + broker.bootstrapServers() + "/later", QUICK);
            CollectorFeed feed = outlet.feed("gateway-1");
            for (int i = 0; i < 1_000; i++) {
                feed.offer(new IdAliased("request-" + i, "alias-" + i, "test"));
            }
            waitFor(() -> outlet.status().trouble() != null);
            assertThat(outlet.status().trouble()).contains("later");
            assertThat(outlet.status().keptCount()).isZero();
            broker.createTopic("later", 3);
            waitFor(() -> outlet.status().keptCount() >= 256 && outlet.status().trouble() == null);
            feed.offer(new IdAliased("last", "last", "test"));
            outlet.close();

            LogOutlet.Status status = outlet.status();
            assertThat(status.offeredCount()).isEqualTo(1_001);
            assertThat(status.keptCount() + status.lostCount()).isEqualTo(1_001);
            List<LoggedEvent> read = read(broker.bootstrapServers(), "later", 3);
            assertThat(read.stream().filter(logged -> logged.event() instanceof IdAliased))
                    .hasSize((int) status.keptCount());
            long missing = read.stream()
                    .map(LoggedEvent::event)
                    .filter(CollectorGap.class::isInstance)
                    .map(CollectorGap.class::cast)
                    .mapToLong(gap -> gap.lastMissingSequence() - gap.firstMissingSequence() + 1)
                    .sum();
            assertThat(missing).isEqualTo(status.lostCount()).isPositive();
            assertThat(read).extracting(logged -> logged.header().sequence()).isSorted();
        }
    }

    @Test
    void aBrokerThatWentAwayCostsWhatItHadNotTaken() throws Exception {
        LogOutlet outlet;
        CollectorFeed feed;
        try (KafkaBroker broker = KafkaBroker.start()) {
            broker.createTopic("gone", 1);
            outlet = LogOutlet.open(
                    "kafka://" + broker.bootstrapServers() + "/gone",
                    new LogOutlet.Settings(256, Duration.ofMillis(5), Duration.ofMillis(50), Duration.ofSeconds(2)));
            feed = outlet.feed("gateway-1");
            for (int i = 0; i < 100; i++) {
                feed.offer(new IdAliased("request-" + i, "alias-" + i, "test"));
            }
            LogOutlet open = outlet;
            waitFor(() -> open.status().keptCount() == 100);
        }
        long started = System.nanoTime();
        for (int i = 0; i < 50_000; i++) {
            feed.offer(new IdAliased("request-" + i, "alias-" + i, "test"));
        }
        assertThat(System.nanoTime() - started).isLessThan(5_000_000_000L);
        outlet.close();
        assertThat(outlet.status().keptCount()).isEqualTo(100);
        assertThat(outlet.status().lostCount()).isEqualTo(50_000);
    }

    private static List<LoggedEvent> read(String servers, String topic, int partitions) throws Exception {
        Map<String, Object> settings = Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
        List<LoggedEvent> read = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> all = new ArrayList<>();
            for (int partition = 0; partition < partitions; partition++) {
                all.add(new TopicPartition(topic, partition));
            }
            consumer.assign(all);
            consumer.seekToBeginning(all);
            Map<TopicPartition, Long> ends = consumer.endOffsets(all);
            while (all.stream().anyMatch(partition -> consumer.position(partition) < ends.get(partition))) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                    read.add(EventCodec.decode(record.value()));
                }
            }
        }
        return read;
    }

    private static void waitFor(BooleanSupplier condition) throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        while (!condition.getAsBoolean()) {
            assertThat(never.await(5, TimeUnit.MILLISECONDS)).isFalse();
        }
    }
}
