package io.tokenstair.collect.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.tokenstair.clock.HostClocks;
import io.tokenstair.collect.engine.dynamo.DynamoCollector;
import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.KvBlocksStored;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.StepCompleted;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** Dynamo live, by the recorded bytes of its own simulator over real sockets and files. */
@Timeout(120)
class DynamoCollectorTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path folder;

    private final Heard heard = new Heard();

    private DynamoCollector collector(
            List<String> fpm,
            @Nullable Path discovery,
            List<String> kv,
            List<String> replay,
            @Nullable Path trace,
            List<URI> metrics) {
        return new DynamoCollector(
                new DynamoCollector.Settings(
                        "dynamo",
                        fpm,
                        discovery,
                        kv,
                        replay,
                        "",
                        List.of("worker-7"),
                        trace,
                        false,
                        metrics,
                        Duration.ofMillis(100)),
                heard);
    }

    private static ZMQ.Socket publisher(ZContext context, String address) {
        ZMQ.Socket publisher = context.createSocket(SocketType.XPUB);
        publisher.setSndHWM(0);
        publisher.bind(address);
        return publisher;
    }

    /** Waits for the subscription, so that nothing is published into the void. */
    private static void awaitSubscriber(ZMQ.Socket publisher) {
        assertThat(received(publisher)).isNotEmpty();
    }

    /** The next frame that comes within 30 s. */
    private static byte[] received(ZMQ.Socket socket) {
        socket.setReceiveTimeOut(100);
        byte[] frame = null;
        for (int i = 0; i < 300 && frame == null; i++) {
            frame = socket.recv();
        }
        assertThat(frame).isNotNull();
        return Objects.requireNonNull(frame);
    }

    private static void send(ZMQ.Socket socket, List<byte[]> frames) {
        for (int i = 0; i < frames.size() - 1; i++) {
            socket.sendMore(frames.get(i));
        }
        socket.send(frames.get(frames.size() - 1));
    }

    private static List<byte[]> frames(String line) throws Exception {
        List<byte[]> frames = new ArrayList<>();
        for (JsonNode frame : JSON.readTree(line).get("frames_hex")) {
            frames.add(HexFormat.of().parseHex(frame.textValue()));
        }
        return frames;
    }

    private static byte[] number(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }

    private static void pack(MessageBufferPacker out, JsonNode value) throws Exception {
        if (value.isObject()) {
            out.packMapHeader(value.size());
            for (var entry : value.properties()) {
                out.packString(entry.getKey());
                pack(out, entry.getValue());
            }
        } else if (value.isIntegralNumber()) {
            out.packLong(value.longValue());
        } else if (value.isNumber()) {
            out.packDouble(value.doubleValue());
        } else {
            out.packString(value.textValue());
        }
    }

    private static byte[] packed(JsonNode value) throws Exception {
        MessageBufferPacker out = MessagePack.newDefaultBufferPacker();
        pack(out, value);
        return out.toByteArray();
    }

    @Test
    void theEventPlaneOfARealWorkerIsHeardWhereItsDiscoverySaysItIs() throws Exception {
        String address = Heard.free();
        Path channel = folder.resolve("v1/event_channels/backend%2Ftopic%2Fforward%2Dpass%2Dmetrics");
        try (ZContext context = new ZContext();
                DynamoCollector collector = collector(List.of(), folder, List.of(), List.of(), null, List.of())) {
            ZMQ.Socket publisher = publisher(context, address);
            // The worker comes after the collector.
            Files.createDirectories(channel);
            Files.writeString(
                    channel.resolve("1e1e79544544fe"),
                    "{\"type\":\"EventChannel\",\"scope\":{\"kind\":\"endpoint\"},\"topic\":\"forward-pass-metrics\","
                            + "\"instance_id\":8477755755021566,\"transport\":{\"kind\":\"Zmq\",\"config\":{\"endpoint\":\""
                            + address + "\"}}}");
            Files.writeString(channel.resolve("half"), "{\"type\":\"EventCh");
            awaitSubscriber(publisher);
            List<String> recorded = Heard.lines("dynamo-event-plane.jsonl.gz");
            for (String line : recorded) {
                send(publisher, frames(line));
            }
            Heard.awaitText(collector::status, "forward passes 68, lost 0, rejected 0");
        }
        // Two requests of 60 prompt tokens and 30 output tokens, one after the other.
        List<StepCompleted> steps = heard.all(StepCompleted.class);
        assertThat(steps).allSatisfy(step -> assertThat(step.engineId()).isEqualTo("worker-5715553416974106421"));
        assertThat(steps.stream().mapToLong(StepCompleted::prefillTokens).sum()).isEqualTo(60 + 59);
        assertThat(heard.told())
                .filteredOn(told -> told.event() instanceof StepCompleted)
                .allSatisfy(told -> assertThat(told.clockId()).isEqualTo(HostClocks.elapsedId()));
    }

    @Test
    void whatAnEngineItselfPublishesIsTheSameStepsAndPreemptionsAsTheFile() throws Exception {
        String address = Heard.free();
        List<JsonNode> passes = new ArrayList<>();
        for (String line : Heard.lines("dynamo-fpm-recv.jsonl.gz")) {
            passes.add(JSON.readTree(line).get("metrics"));
        }
        try (ZContext context = new ZContext();
                DynamoCollector collector = collector(List.of(address), null, List.of(), List.of(), null, List.of())) {
            ZMQ.Socket publisher = publisher(context, address);
            awaitSubscriber(publisher);
            for (JsonNode pass : passes) {
                long counter = pass.get("counter_id").longValue();
                if (counter >= 40 && counter < 45) {
                    continue;
                }
                send(publisher, List.of(new byte[0], number(counter), packed(pass)));
            }
            send(publisher, List.of(new byte[0], number(1), new byte[] {1, 2}));
            send(publisher, List.of(new byte[0]));
            Heard.awaitText(collector::status, "forward passes " + (passes.size() - 5) + ", lost 5, rejected 2");
        }
        List<StepCompleted> steps = heard.all(StepCompleted.class);
        assertThat(steps).hasSize(214 - 5);
        assertThat(steps.get(0).scheduleStartNanos()).isNotNull();
        assertThat(heard.all(CollectorGap.class))
                .containsExactly(new CollectorGap("dynamo-fpm worker 9035572966219299194", 40, 44));
        assertThat(heard.all(Rejected.class)).hasSize(2);
        // a6 and a4 were preempted during 23-62, a4 again during 108-125.
        assertThat(heard.all(MetricSampled.class).stream()
                        .filter(sample ->
                                sample.name().equals("dynamo:num_paused_requests") && sample.sampledValue() > 0))
                .hasSize(62 - 23 + 1 - 5 + 125 - 108 + 1);
    }

    @Test
    void kvEventsThatWereMissedAreAskedForAgain() throws Exception {
        String address = Heard.free();
        String replayAddress = Heard.free();
        List<String> live = Heard.lines("dynamo-kv-live.jsonl.gz");
        List<String> replay = Heard.lines("dynamo-kv-replay.jsonl.gz");
        try (ZContext context = new ZContext();
                DynamoCollector collector =
                        collector(List.of(), null, List.of(address), List.of(replayAddress), null, List.of())) {
            ZMQ.Socket publisher = publisher(context, address);
            ZMQ.Socket router = context.createSocket(SocketType.ROUTER);
            router.bind(replayAddress);
            awaitSubscriber(publisher);
            for (int i = 0; i < live.size(); i++) {
                if (i < 10 || i > 14) {
                    send(publisher, frames(live.get(i)));
                }
                if (i == 15 || i == 0) {
                    byte[] identity = received(router);
                    assertThat(router.recv()).isEmpty();
                    long from = ByteBuffer.wrap(router.recv()).getLong();
                    assertThat(from).isEqualTo(i == 0 ? 0 : 10);
                    for (String line : replay) {
                        List<byte[]> again = frames(line);
                        long number =
                                ByteBuffer.wrap(again.get(again.size() - 2)).getLong();
                        if (number < 0 || (number >= from && number <= i)) {
                            router.sendMore(identity);
                            send(router, again);
                        }
                    }
                    Heard.awaitText(collector::status, "KV messages " + (i + 1) + ", lost 0");
                }
            }
            Heard.awaitText(collector::status, "KV messages 65, lost 0, rejected 0");
        }
        assertThat(heard.all(KvBlocksStored.class))
                .hasSize(46)
                .allMatch(stored -> stored.engineId().equals("worker-7"));
        assertThat(heard.all(KvBlocksEvicted.class)).hasSize(31);
        assertThat(heard.all(CollectorGap.class)).isEmpty();
    }

    @Test
    void requestTracesAreFollowedThroughHalfLinesRotationAndDamage() throws Exception {
        List<String> records = Heard.lines("dynamo-request-trace.jsonl.gz");
        Path first = folder.resolve("trace.000000.jsonl");
        try (DynamoCollector collector =
                collector(List.of(), null, List.of(), List.of(), folder.resolve("trace.*.jsonl*"), List.of())) {
            String all = String.join("\n", records.subList(0, 3)) + "\n";
            Files.writeString(first, all.substring(0, all.length() - 40));
            Heard.awaitText(collector::status, "request traces 2, lost 0");
            Files.writeString(first, all.substring(all.length() - 40) + "{\"broken\n", StandardOpenOption.APPEND);
            Heard.awaitText(collector::status, "request traces 3, lost 0, rejected 1");
            // The next file is zipped, in two members, as the frontend writes it.
            Path second = folder.resolve("trace.000001.jsonl.gz");
            Files.write(second, zipped(records.subList(3, 5)));
            Heard.awaitText(collector::status, "request traces 5,");
            Files.write(second, zipped(records.subList(5, records.size())), StandardOpenOption.APPEND);
            Heard.awaitText(collector::status, "request traces 7,");
        }
        assertThat(records).hasSize(7);
        assertThat(heard.all(RequestReceived.class)).hasSize(7);
        assertThat(heard.all(RequestCompleted.class).stream()
                        .mapToLong(RequestCompleted::outputTokens)
                        .sum())
                .isEqualTo(564);
        assertThat(heard.all(Rejected.class)).hasSize(1).allSatisfy(rejected -> {
            assertThat(rejected.source()).isEqualTo("trace.*.jsonl*");
            assertThat(rejected.lineNumber()).isEqualTo(4);
        });
    }

    private static byte[] zipped(List<String> lines) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
            out.write((String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }

    @Test
    void metricsOfFrontendAndWorkersAreScraped() throws Exception {
        HttpServer server = Heard.serving(
                List.of("dynamo_frontend_inflight_requests{model=\"tiny\"} 3\n".getBytes(StandardCharsets.UTF_8)));
        try (DynamoCollector collector = collector(
                List.of(),
                null,
                List.of(),
                List.of(),
                null,
                List.of(Heard.at(server, "/metrics"), URI.create("http://127.0.0.1:9/metrics")))) {
            MetricSampled sample =
                    (MetricSampled) heard.await(MetricSampled.class::isInstance).event();
            assertThat(sample.labels()).isEqualTo("model=\"tiny\"");
            assertThat(collector.status()).contains("metrics ");
        } finally {
            server.stop(0);
        }
    }

    @Test
    void whatCannotBeMeantIsRefused() {
        assertThatThrownBy(() -> collector(List.of(), null, List.of(), List.of(), null, List.of()))
                .hasMessageContaining("Cannot collect nothing");
        assertThatThrownBy(() -> collector(
                        List.of(), null, List.of("tcp://a:1", "tcp://b:1"), List.of("tcp://a:2"), null, List.of()))
                .hasMessageContaining("replay");
    }
}
