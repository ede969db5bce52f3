package io.tokenstair.job.source;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.gateway.Gateway;
import io.tokenstair.gateway.GatewaySettings;
import io.tokenstair.log.CollectorFeed;
import io.tokenstair.log.LogOutlet;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
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
    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
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

    @Test
    void aBrokerThatGoesAwayAndComesBackCostsEventsAndNoRequest() throws Exception {
        HttpServer engine = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        String stream = "data: {\"choices\":[{\"index\":0,\"token_ids\":[1]}]}\n\n".repeat(8) + "data: [DONE]\n\n";
        engine.createContext("/", exchange -> {
            exchange.getRequestBody().readAllBytes();
            exchange.getResponseHeaders().set("content-type", "text/event-stream");
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(stream.getBytes(StandardCharsets.UTF_8));
            exchange.close();
        });
        engine.start();
        try (KafkaBroker broker = KafkaBroker.start()) {
            broker.createTopic("live", 1);
            LogOutlet outlet = LogOutlet.open(
                    "kafka://" + broker.bootstrapServers() + "/live",
                    new LogOutlet.Settings(256, Duration.ofMillis(5), Duration.ofMillis(50), Duration.ofSeconds(30)));
            Gateway gateway = Gateway.start(
                    GatewaySettings.before(
                            URI.create("http://127.0.0.1:" + engine.getAddress().getPort())),
                    outlet.feed("gateway-1"));
            int requests = 0;
            for (; requests < 20; requests++) {
                assertThat(answer(gateway)).isEqualTo(stream);
            }
            waitFor(() -> outlet.status().keptCount() > 0);
            assertThat(outlet.status().lostCount()).isZero();
            broker.goAway();
            long started = System.nanoTime();
            while (outlet.status().lostCount() == 0) {
                assertThat(answer(gateway)).isEqualTo(stream);
                requests++;
                assertThat(System.nanoTime() - started).isLessThan(120_000_000_000L);
            }
            for (int i = 0; i < 50; i++, requests++) {
                assertThat(answer(gateway)).isEqualTo(stream);
            }
            broker.comeBack();
            long before = outlet.status().keptCount();
            waitFor(() ->
                    outlet.status().keptCount() > before && outlet.status().trouble() == null);
            for (int i = 0; i < 20; i++, requests++) {
                assertThat(answer(gateway)).isEqualTo(stream);
            }
            assertThat(gateway.requestCount()).isEqualTo(requests);
            assertThat(gateway.brokenRecordCount()).isZero();
            gateway.close();
            outlet.close();

            LogOutlet.Status status = outlet.status();
            assertThat(status.offeredCount()).isEqualTo(status.keptCount() + status.lostCount());
            // Each request is received, has its chunks and is completed.
            assertThat(status.offeredCount()).isEqualTo(3L * requests);
            List<LoggedEvent> read = read(broker.bootstrapServers(), "live", 1);
            List<LoggedEvent> ofGateway = read.stream()
                    .filter(logged -> logged.event() instanceof RequestReceived
                            || logged.event() instanceof ChunkDelivered
                            || logged.event() instanceof RequestCompleted)
                    .toList();
            assertThat(ofGateway).hasSize((int) status.keptCount());
            long missing = read.stream()
                    .map(LoggedEvent::event)
                    .filter(CollectorGap.class::isInstance)
                    .map(CollectorGap.class::cast)
                    .mapToLong(gap -> gap.lastMissingSequence() - gap.firstMissingSequence() + 1)
                    .sum();
            assertThat(missing).isEqualTo(status.lostCount()).isPositive();
            assertThat(ofGateway.get(ofGateway.size() - 1).event()).isInstanceOf(RequestCompleted.class);
        } finally {
            engine.stop(0);
        }
    }

    private static String answer(Gateway gateway) throws Exception {
        HttpResponse<String> answer = HTTP.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + gateway.port() + "/v1/completions"))
                        .timeout(Duration.ofSeconds(30))
                        .POST(HttpRequest.BodyPublishers.ofString("{}"))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).isEqualTo(200);
        return answer.body();
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
