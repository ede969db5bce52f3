package io.tokenstair.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.tokenstair.event.Event;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.StepCompleted;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** The collector over real sockets. */
class VllmCollectorTest {
    private final BlockingQueue<Event> told = new LinkedBlockingQueue<>();
    private final List<Event> seen = new ArrayList<>();

    private static String free() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return "tcp://127.0.0.1:" + socket.getLocalPort();
        }
    }

    private static VllmSettings settings(
            @Nullable String probe, List<String> kvEvents, List<String> kvReplay, @Nullable URI metrics) {
        return new VllmSettings("vllm", "vllm-0", probe, kvEvents, kvReplay, "", metrics, Duration.ofMillis(100), null);
    }

    private VllmCollector collector(VllmSettings settings) {
        return new VllmCollector(settings, (collector, clock, nanos, event) -> told.add(event));
    }

    /** The counts come after the events they count: the collector reads them once a turn of its loop. */
    private void awaitStatus(VllmCollector collector, String counts) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!collector.status().contains(counts) && System.nanoTime() < end) {
            Event more = told.poll(10, TimeUnit.MILLISECONDS);
            if (more != null) {
                seen.add(more);
            }
        }
        assertThat(collector.status()).contains(counts);
    }

    /** The first event that is as it should be, within 30 s. */
    private Event await(Predicate<Event> wanted) throws InterruptedException {
        while (true) {
            Event event = told.poll(30, TimeUnit.SECONDS);
            assertThat(event).as("no such event among %s", seen.size()).isNotNull();
            seen.add(event);
            if (wanted.test(event)) {
                return event;
            }
        }
    }

    @Test
    void whatAProbeSendsArrives() throws Exception {
        String address = free();
        try (VllmCollector collector = collector(settings(address, List.of(), List.of(), null));
                ZContext context = new ZContext()) {
            ZMQ.Socket push = context.createSocket(SocketType.PUSH);
            push.connect(address);
            List<byte[][]> messages =
                    RecordedMessages.of("probe-vllm-0.32.0.bin.gz").messages();
            for (byte[][] message : messages) {
                push.sendMore(message[0]);
                push.send(message[1]);
            }
            Event last = await(event -> event instanceof StepCompleted step && step.stepId() == 607);

            assertThat(last).isNotNull();
            assertThat(seen.stream().filter(StepCompleted.class::isInstance)).hasSize(608);
            awaitStatus(collector, "probe records 789, lost 0, rejected 0");
        }
    }

    @Test
    void whatWasPublishedBeforeTheCollectorCameIsReplayed() throws Exception {
        String address = free();
        String replayAddress = free();
        try (ZContext context = new ZContext();
                VllmCollector collector = collector(settings(null, List.of(address), List.of(replayAddress), null))) {
            ZMQ.Socket publisher = context.createSocket(SocketType.PUB);
            ZMQ.Socket router = context.createSocket(SocketType.ROUTER);
            publisher.bind(address);
            router.bind(replayAddress);
            router.setReceiveTimeOut(200);
            // Published until the subscriber is there; from then on it asks for what came before.
            List<byte[]> request = new ArrayList<>();
            int next = 0;
            while (request.isEmpty()) {
                publish(publisher, next++);
                byte[] identity = router.recv();
                if (identity != null) {
                    request.add(identity);
                    request.add(router.recv());
                    request.add(router.recv());
                }
                assertThat(next).isLessThan(300);
            }
            assertThat(ByteBuffer.wrap(request.get(2)).getLong()).isZero();
            for (int i = 0; i < next; i++) {
                answer(router, request.get(0), number(i), payload(i));
            }
            answer(router, request.get(0), number(-1), new byte[0]);
            int published = next;
            await(event -> event instanceof KvBlocksEvicted evicted && evicted.batchSequence() == published - 1);

            assertThat(seen.stream().map(event -> ((KvBlocksEvicted) event).batchSequence()))
                    .hasSize(published)
                    .isSorted()
                    .doesNotHaveDuplicates();
            awaitStatus(collector, "KV messages " + published + ", lost 0");
        }
    }

    private static byte[] number(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }

    private static byte[] payload(long hash) throws Exception {
        MessageBufferPacker out = MessagePack.newDefaultBufferPacker();
        out.packArrayHeader(3).packDouble(1_790_000_000 + hash).packArrayHeader(1);
        out.packArrayHeader(2).packString("BlockRemoved").packArrayHeader(1).packLong(hash);
        out.packInt(0);
        return out.toByteArray();
    }

    private static void publish(ZMQ.Socket publisher, long sequence) throws Exception {
        publisher.sendMore("kv");
        publisher.sendMore(number(sequence));
        publisher.send(payload(sequence));
    }

    private static void answer(ZMQ.Socket router, byte[] identity, byte[] number, byte[] payload) {
        router.sendMore(identity);
        router.sendMore(new byte[0]);
        router.sendMore("kv".getBytes(StandardCharsets.UTF_8));
        router.sendMore(number);
        router.send(payload);
    }

    @Test
    void metricsAreScraped() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        byte[] body = "# HELP x y\nvllm:num_requests_running{engine=\"0\",model_name=\"tiny\"} 3.0\nnonsense{\n"
                .getBytes(StandardCharsets.UTF_8);
        server.createContext("/metrics", exchange -> {
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/metrics");
        try (VllmCollector collector = collector(settings(null, List.of(), List.of(), url))) {
            MetricSampled sample = (MetricSampled) await(MetricSampled.class::isInstance);

            assertThat(sample)
                    .isEqualTo(new MetricSampled(
                            url.toString(), "vllm:num_requests_running", "engine=\"0\",model_name=\"tiny\"", 3.0));
        } finally {
            server.stop(0);
        }
    }

    @Test
    void anAddressThatCannotBeUsedIsNamed() {
        assertThatThrownBy(() -> collector(settings("tcp://nowhere", List.of(), List.of(), null)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("address");
        assertThatThrownBy(() -> settings(null, List.of(), List.of(), null))
                .hasMessageContaining("Cannot collect nothing");
        assertThatThrownBy(() -> settings(null, List.of("tcp://a:1", "tcp://b:1"), List.of("tcp://a:2"), null))
                .hasMessageContaining("replay");
    }
}
