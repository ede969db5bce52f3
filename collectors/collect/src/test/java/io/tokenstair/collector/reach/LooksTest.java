package io.tokenstair.collector.reach;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

@Timeout(60)
class LooksTest {
    private static final String NO_MODELS = "{\"object\":\"list\",\"data\":[]}";

    @TempDir
    Path folder;

    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : open) {
            one.close();
        }
    }

    private AnsweringServer server(Map<String, String> answers, @Nullable String header) throws IOException {
        AnsweringServer server = AnsweringServer.of(answers, header);
        open.add(server);
        return server;
    }

    private static Seen seen(Look look) throws InterruptedException {
        return Looks.all(List.of(look), Looks.DEADLINE).get(0);
    }

    private static String models(String owner, String... ids) {
        StringBuilder text = new StringBuilder("{\"object\":\"list\",\"data\":[");
        for (String id : ids) {
            text.append(text.charAt(text.length() - 1) == '[' ? "" : ",")
                    .append("{\"id\":\"" + id + "\",\"object\":\"model\",\"owned_by\":\"" + owner + "\"}");
        }
        return text.append("]}").toString();
    }

    private String upstream(Map<String, String> answers, @Nullable String header) throws Exception {
        AnsweringServer server = server(answers, header);
        Seen seen = seen(UpstreamLook.at("upstream", server.base(), null));
        assertThat(server.asked()).isNotEmpty().allMatch(request -> request.startsWith("GET "));
        // TensorRT-LLM's metrics are emptied by reading them.
        assertThat(server.asked()).doesNotContain("GET /metrics", "GET /perf_metrics");
        assertThat(seen.status()).isEqualTo(Seen.Status.OK);
        return seen.found();
    }

    @Test
    void enginesAreKnownByWhatTheyAnswer() throws Exception {
        assertThat(upstream(
                        Map.of("/v1/models", models("vllm", "tiny", "lora-a"), "/version", "{\"version\":\"0.32.0\"}"),
                        "uvicorn"))
                .isEqualTo("vLLM 0.32.0, model tiny and 1 more");
        assertThat(upstream(
                        Map.of(
                                "/v1/models",
                                models("sglang", "Qwen/Qwen3-8B"),
                                "/get_server_info",
                                "{\"version\":\"0.5.9\",\"model_path\":\"Qwen/Qwen3-8B\"}"),
                        "uvicorn"))
                .isEqualTo("SGLang 0.5.9, model Qwen/Qwen3-8B");
        assertThat(upstream(
                        Map.of(
                                "/v1/models",
                                models("llamacpp", "tiny.gguf"),
                                "/props",
                                "{\"build_info\":\"b1-7e4c0a9\"}"),
                        "llama.cpp"))
                .isEqualTo("llama.cpp b1-7e4c0a9, model tiny.gguf");
        assertThat(upstream(
                        Map.of("/v2", "{\"name\":\"triton\",\"version\":\"2.60.0\",\"extensions\":[\"statistics\"]}"),
                        null))
                .isEqualTo("Triton 2.60.0");
        assertThat(upstream(
                        Map.of("/v1/models", models("tensorrt_llm", "m"), "/version", "{\"version\":\"1.2.0\"}"),
                        "uvicorn"))
                .isEqualTo("TensorRT-LLM 1.2.0, model m");
        assertThat(upstream(Map.of("/v1/models", models("nvidia", "m")), null)).isEqualTo("Dynamo, model m");
        assertThat(upstream(Map.of("/v1/models", NO_MODELS), null)).isEqualTo("a server that is not known (HTTP 200)");
        assertThat(upstream(Map.of("/v1/models", models("vllm", "a\\u001b[31m")), null))
                .isEqualTo("vLLM, model a?[31m");
    }

    private int free() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Takes connections and gives each these bytes, or never anything. */
    private int raw(byte @Nullable [] answer) throws IOException {
        ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        open.add(listening);
        Thread thread = new Thread(() -> {
            List<Socket> sockets = new ArrayList<>();
            while (!listening.isClosed()) {
                try {
                    Socket socket = listening.accept();
                    sockets.add(socket);
                    if (answer != null) {
                        socket.getOutputStream().write(answer);
                        socket.close();
                    }
                } catch (IOException ended) {
                    continue;
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
        return listening.getLocalPort();
    }

    @Test
    void whoDoesNotAnswerIsToldWithWhatToDo() throws Exception {
        Seen absent = seen(UpstreamLook.at("upstream", URI.create("http://127.0.0.1:" + free()), null));
        assertThat(absent.status()).isEqualTo(Seen.Status.FAILED);
        assertThat(absent.found()).isEqualTo("nobody listens there");
        assertThat(absent.advice()).startsWith("start the engine, or check that port ");
        Seen noHttp = seen(UpstreamLook.at(
                "upstream",
                URI.create("http://127.0.0.1:" + raw("hello\r\n".getBytes(StandardCharsets.US_ASCII))),
                null));
        assertThat(noHttp.status()).isEqualTo(Seen.Status.WARNING);
        assertThat(noHttp.advice()).contains("gRPC");
        Seen noTls = seen(UpstreamLook.at(
                "upstream",
                URI.create("https://127.0.0.1:" + server(Map.of(), null).port()),
                null));
        assertThat(noTls.status()).isEqualTo(Seen.Status.FAILED);
        assertThat(noTls.found()).isEqualTo("takes connections, and answers nothing to TLS");
        assertThat(seen(UpstreamLook.at("upstream", URI.create("http://no-such-host.invalid:8000"), null))
                        .found())
                .isEqualTo("no such host");
    }

    @Test
    void aHundredSilentAddressesCostOneDeadline() throws Exception {
        int silent = raw(null);
        List<Look> looks = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            looks.add(UpstreamLook.at("upstream", URI.create("http://127.0.0.1:" + silent), null));
            looks.add(MetricsLook.at("metrics", URI.create("http://127.0.0.1:" + silent + "/metrics"), null));
            looks.add(ZeroMqLook.at("kv-events", "tcp://127.0.0.1:" + silent, List.of("PUB"), "SUB", "vLLM"));
        }
        long before = System.nanoTime();
        List<Seen> seen = Looks.all(looks, Duration.ofMillis(1_000));
        assertThat((System.nanoTime() - before) / 1_000_000).isBetween(900L, 4_000L);
        assertThat(seen).hasSize(60).allMatch(one -> one.status() == Seen.Status.FAILED);
        assertThat(seen.get(0).found()).isEqualTo("no answer within 1.0 s");
    }

    @Test
    void aZeroMqSocketIsGreetedAndItsKindIsTold() throws Exception {
        try (ZContext context = new ZContext()) {
            int publisher = context.createSocket(SocketType.PUB).bindToRandomPort("tcp://127.0.0.1");
            int replay = context.createSocket(SocketType.ROUTER).bindToRandomPort("tcp://127.0.0.1");
            List<String> publishers = List.of("PUB", "XPUB");
            assertThat(seen(ZeroMqLook.at("kv-events", "tcp://127.0.0.1:" + publisher, publishers, "SUB", "vLLM")))
                    .isEqualTo(Seen.ok("a ZeroMQ socket of kind PUB"));
            assertThat(seen(ZeroMqLook.at(
                            "kv-replay", "tcp://127.0.0.1:" + replay, List.of("ROUTER"), "DEALER", "vLLM")))
                    .isEqualTo(Seen.ok("a ZeroMQ socket of kind ROUTER"));
            Seen mixed = seen(ZeroMqLook.at("kv-events", "tcp://127.0.0.1:" + replay, publishers, "SUB", "vLLM"));
            assertThat(mixed.status()).isEqualTo(Seen.Status.FAILED);
            assertThat(mixed.found() + mixed.advice()).contains("kind ROUTER").contains("mixed up");
            // The publisher serves others as before.
            ZMQ.Socket subscriber = context.createSocket(SocketType.SUB);
            assertThat(subscriber.connect("tcp://127.0.0.1:" + publisher)).isTrue();
        }
        assertThat(seen(ZeroMqLook.at(
                                "kv-events",
                                "tcp://127.0.0.1:" + server(Map.of(), null).port(),
                                List.of("PUB"),
                                "SUB",
                                "vLLM"))
                        .found())
                .isEqualTo("somebody listens there who speaks no ZeroMQ");
        assertThat(seen(ZeroMqLook.at("kv-events", "tcp://*:5557", List.of("PUB"), "SUB", "vLLM"))
                        .status())
                .isEqualTo(Seen.Status.FAILED);
    }

    private static String recorded(String path) throws IOException {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("captures"))) {
            root = java.util.Objects.requireNonNull(root.getParent());
        }
        try (InputStream raw = Files.newInputStream(root.resolve(path));
                InputStream in = path.endsWith(".gz") ? new GZIPInputStream(raw) : raw) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void aScrapeTellsWhoseNamesItHoldsAndWhatItLacks() throws Exception {
        String vllm = recorded("captures/kv_pressure_preemption/metrics_after.prom.gz");
        AnsweringServer engine = server(Map.of("/metrics", vllm), null);
        URI metrics = engine.base().resolve("/metrics");
        Seen whole = seen(MetricsLook.at("metrics", metrics, Engine.VLLM));
        assertThat(whole.status()).as(whole.found()).isEqualTo(Seen.Status.OK);
        assertThat(whole.found()).startsWith("vLLM's names, ");
        assertThat(engine.asked()).containsExactly("GET /metrics");
        Seen other = seen(MetricsLook.at("metrics", metrics, Engine.SGLANG));
        assertThat(other.status()).isEqualTo(Seen.Status.WARNING);
        assertThat(other.advice()).contains("SGLang");

        Seen less = MetricsLook.judged(vllm.replaceAll("(?m)^vllm:num_preemptions.*$", ""), null);
        assertThat(less.status()).isEqualTo(Seen.Status.WARNING);
        assertThat(less.found()).endsWith("; lacks vllm:num_preemptions_total");

        // An SGLang of before retraction was counted.
        Seen old = MetricsLook.judged(
                recorded("flink-jobs/src/test/resources/real/sglang_metrics_dump/sglang_metrics_partial.prom"), null);
        assertThat(old.found())
                .startsWith("SGLang's names, ")
                .endsWith("; lacks sglang:num_retracted_reqs, sglang:queue_time_seconds_bucket");

        assertThat(MetricsLook.judged("[{\"iter\":1}]", null).advice()).contains("/prometheus/metrics");
        assertThat(MetricsLook.judged("<html>", null).status()).isEqualTo(Seen.Status.FAILED);
        assertThat(seen(MetricsLook.at("metrics", engine.base().resolve("/nothing"), null))
                        .found())
                .isEqualTo("HTTP 404");
    }

    @Test
    void aPortIsFreeOrHasAnOwner() throws Exception {
        assertThat(seen(PortLook.at("listen", "127.0.0.1", free()))).isEqualTo(Seen.ok("free"));
        int taken = server(Map.of(), null).port();
        Seen seen = seen(PortLook.at("listen", "127.0.0.1", taken));
        assertThat(seen.status()).isEqualTo(Seen.Status.FAILED);
        if (Files.isDirectory(Path.of("/proc/self/fd"))) {
            assertThat(seen.found())
                    .matches("taken by .{1,80} \\(process "
                            + ProcessHandle.current().pid() + "\\)");
        }
        assertThat(seen(PortLook.atZeroMq("probe", "tcp://127.0.0.1:" + taken)).status())
                .isEqualTo(Seen.Status.FAILED);
        assertThat(seen(PortLook.atZeroMq("probe", "tcp://*:" + free()))).isEqualTo(Seen.ok("free"));
        assertThat(seen(PortLook.at("listen", "203.0.113.1", 8100)).found()).isEqualTo("no address of this machine");
    }

    @Test
    void aFolderIsWrittenToOnceAndLeftAsItWas() throws Exception {
        Seen there = seen(LogLook.at(folder.toString()));
        assertThat(there.found()).matches("\\d+\\.\\d GiB free");
        try (var files = Files.list(folder)) {
            assertThat(files).isEmpty();
        }
        assertThat(seen(LogLook.at(folder.resolve("a/b").toString())).found()).startsWith("made at the start; ");
        assertThat(folder.resolve("a")).doesNotExist();
        Path file = Files.writeString(folder.resolve("file"), "x");
        assertThat(seen(LogLook.at(file.resolve("log").toString())).status()).isEqualTo(Seen.Status.FAILED);
        Seen broker = seen(LogLook.at("kafka://127.0.0.1:" + free() + "/t"));
        assertThat(broker.advice()).startsWith("start the broker");
        Seen noBroker =
                seen(LogLook.at("kafka://127.0.0.1:" + raw("hello".getBytes(StandardCharsets.US_ASCII)) + "/t"));
        assertThat(noBroker.status()).isEqualTo(Seen.Status.FAILED);
        assertThat(noBroker.advice()).startsWith("check");
        assertThat(seen(LogLook.at("kafka://nowhere")).advice()).contains("kafka://host:port/topic");
    }
}
