package io.tokenstair.collect.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.tokenstair.collect.engine.sglang.SglangCollector;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.KvBlocksStored;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.StepCompleted;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** SGLang live, by its published schema and a recorded scrape: the engine cannot run here. */
@Timeout(120)
class SglangCollectorTest {
    // The bytes of SGLang's events as its own library writes them: arrays, hashes with a sign, media of its own.
    private static final byte[] EVENTS = HexFormat.of()
            .parseHex("93cb41daac4ee01000009397ab426c6f636b53746f726564"
                    + "91fbc0910901c0a347505593ac426c6f636b52656d6f7665649103aa4350555f50494e4e454491b0416c6c426c6f636b73436c6561726564"
                    + "c0");

    @TempDir
    Path folder;

    private final Heard heard = new Heard();

    private SglangCollector collector(List<String> fpm, List<String> kv, List<String> replay, @Nullable URI metrics) {
        return new SglangCollector(
                new SglangCollector.Settings(
                        "sglang", "sglang-0", fpm, kv, replay, "kv-events", metrics, Duration.ofMillis(50)),
                heard);
    }

    private static byte[] number(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }

    private static byte[] received(ZMQ.Socket socket) {
        socket.setReceiveTimeOut(100);
        byte[] frame = null;
        for (int i = 0; i < 300 && frame == null; i++) {
            frame = socket.recv();
        }
        assertThat(frame).isNotNull();
        return frame == null ? new byte[0] : frame;
    }

    @Test
    void kvEventsAreReadAndReplayedInItsOwnLayout() throws Exception {
        String address = Heard.free();
        String replayAddress = Heard.free();
        try (ZContext context = new ZContext();
                SglangCollector collector = collector(List.of(), List.of(address), List.of(replayAddress), null)) {
            ZMQ.Socket publisher = context.createSocket(SocketType.XPUB);
            publisher.bind(address);
            ZMQ.Socket router = context.createSocket(SocketType.ROUTER);
            router.bind(replayAddress);
            assertThat(received(publisher)).isNotEmpty();
            publisher.sendMore("kv-events");
            publisher.sendMore(number(2));
            publisher.send(EVENTS);
            byte[] identity = received(router);
            received(router);
            assertThat(ByteBuffer.wrap(received(router)).getLong()).isZero();
            for (int i = 0; i <= 2; i++) {
                answer(router, identity, number(i), EVENTS);
            }
            answer(router, identity, number(-1), new byte[0]);
            Heard.awaitText(collector::status, "KV messages 3, lost 0, rejected 0");
        }
        assertThat(heard.all(KvBlocksStored.class)).hasSize(3).allSatisfy(stored -> {
            assertThat(stored.engineId()).isEqualTo("sglang-0");
            assertThat(stored.blockHashes()).containsExactly(-5L);
        });
        assertThat(heard.all(KvBlocksEvicted.class)).hasSize(6);
        assertThat(heard.all(KvBlocksEvicted.class).get(0).medium()).isEqualTo("CPU_PINNED");
    }

    /** No topic: number and payload, behind the delimiter. */
    private static void answer(ZMQ.Socket router, byte[] identity, byte[] number, byte[] payload) {
        router.sendMore(identity);
        router.sendMore(new byte[0]);
        router.sendMore(number);
        router.send(payload);
    }

    @Test
    void forwardPassesAreStepsOfTheEngineThatIsNamed() throws Exception {
        String address = Heard.free();
        try (ZContext context = new ZContext();
                SglangCollector collector = collector(List.of(address), List.of(), List.of(), null)) {
            ZMQ.Socket publisher = context.createSocket(SocketType.XPUB);
            publisher.bind(address);
            assertThat(received(publisher)).isNotEmpty();
            for (int i = 0; i < 3; i++) {
                publisher.sendMore("");
                publisher.sendMore(number(i));
                publisher.send(pass(i, i == 2 ? 1 : 0));
            }
            Heard.awaitText(collector::status, "forward passes 3, lost 0, rejected 0");
        }
        assertThat(heard.all(StepCompleted.class).stream().map(StepCompleted::engineId))
                .containsExactly("sglang-0", "sglang-0", "sglang-0-dp1");
        assertThat(heard.all(StepCompleted.class)).allSatisfy(step -> {
            assertThat(step.decodeTokens()).isEqualTo(3);
            assertThat(step.waitingCount()).isEqualTo(2);
        });
    }

    @Test
    void aPublisherAtASocketOfTheFileSystemIsHeard() throws Exception {
        String address = Heard.free();
        Path file = folder.resolve("fpm.ipc");
        try (ZContext context = new ZContext();
                SglangCollector collector = collector(List.of("ipc://" + file), List.of(), List.of(), null);
                ServerSocketChannel publishing = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            ZMQ.Socket publisher = context.createSocket(SocketType.XPUB);
            publisher.bind(address);
            // The library here does not publish at such sockets either: what comes there is handed to its port. It
            // comes late.
            publishing.bind(UnixDomainSocketAddress.of(file));
            int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
            SocketChannel near = publishing.accept();
            SocketChannel far = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            CompletableFuture<Void> in = CompletableFuture.runAsync(() -> pump(near, far));
            CompletableFuture<Void> back = CompletableFuture.runAsync(() -> pump(far, near));
            assertThat(received(publisher)).isNotEmpty();
            publisher.sendMore("");
            publisher.sendMore(number(7));
            publisher.send(pass(7, 0));
            Heard.awaitText(collector::status, "forward passes 1, lost 0, rejected 0");
            near.close();
            far.close();
            CompletableFuture.allOf(in, back).join();
        }
        assertThat(heard.all(StepCompleted.class)).hasSize(1);
    }

    private static void pump(SocketChannel from, SocketChannel to) {
        ByteBuffer buffer = ByteBuffer.allocate(4_096);
        try {
            while (from.read(buffer) >= 0) {
                buffer.flip();
                to.write(buffer);
                buffer.clear();
            }
        } catch (IOException closed) {
            return;
        }
    }

    private static byte[] pass(int counter, int rank) throws Exception {
        MessageBufferPacker out = MessagePack.newDefaultBufferPacker();
        out.packMapHeader(6)
                .packString("version")
                .packInt(1)
                .packString("worker_id")
                .packString("");
        out.packString("dp_rank").packInt(rank).packString("counter_id").packInt(counter);
        out.packString("wall_time")
                .packDouble(0.0183)
                .packString("scheduled_requests")
                .packMapHeader(4);
        out.packString("num_prefill_requests")
                .packInt(0)
                .packString("sum_prefill_tokens")
                .packInt(0);
        out.packString("num_decode_requests")
                .packInt(3)
                .packString("sum_decode_kv_tokens")
                .packInt(24_576);
        byte[] before = out.toByteArray();
        MessageBufferPacker whole = MessagePack.newDefaultBufferPacker();
        whole.packMapHeader(7).writePayload(before, 1, before.length - 1);
        whole.packString("queued_requests").packMapHeader(2);
        whole.packString("num_prefill_requests")
                .packInt(1)
                .packString("num_decode_requests")
                .packInt(1);
        return whole.toByteArray();
    }

    @Test
    void theRecordedScrapeIsOfTheEngineThatIsNamed() throws Exception {
        HttpServer server = Heard.serving(List.of(Heard.recorded("sglang-metrics.prom.gz")));
        try (SglangCollector collector = collector(List.of(), List.of(), List.of(), Heard.at(server, "/metrics"))) {
            MetricSampled sample =
                    (MetricSampled) heard.await(MetricSampled.class::isInstance).event();
            assertThat(sample.name()).startsWith("sglang:");
            assertThat(sample.labels()).contains("engine=");
            assertThat(collector.status()).startsWith("metrics ");
        } finally {
            server.stop(0);
        }
        assertThatThrownBy(() -> collector(List.of(), List.of(), List.of(), null))
                .hasMessageContaining("Cannot collect nothing");
    }
}
