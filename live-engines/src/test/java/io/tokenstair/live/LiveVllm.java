package io.tokenstair.live;

import io.tokenstair.live.StreamingClient.Dialect;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A real vLLM on this machine's CPU with the probe in it, KV events and OTLP on; a tiny model of random weights. */
final class LiveVllm implements AutoCloseable {
    private static final int MEMORY_GIB = 4;

    /** Who tells of KV blocks. */
    enum KvWay {
        /** The probe: vLLM's own publisher publishes nothing. */
        PROBE,
        /** vLLM's publisher, over ZeroMQ. */
        PUBLISHER
    }

    private final KvWay kvWay;

    private final Path work;
    private final LiveEngine engine;
    private final StreamingClient client;
    private final int port = Machine.freePort();
    private final String probe = address(Machine.freePort());
    private final int kvPort = Machine.freePort();
    private final int replayPort = Machine.freePort();
    private final int otlpPort = Machine.freePort();

    /**
     * One that is not started yet.
     *
     * @param work where its model and log go
     * @param kvWay who tells of its KV blocks
     */
    LiveVllm(Path work, KvWay kvWay) throws IOException {
        this.work = work;
        this.kvWay = kvWay;
        engine = new LiveEngine(work);
        client = new StreamingClient(URI.create("http://127.0.0.1:" + port), Dialect.VLLM);
    }

    private static String address(int port) {
        return "tcp://127.0.0.1:" + port;
    }

    /** Installs the probe of this checkout into a folder of its own, so that an environment can be shared. */
    private static Path installedProbe(Path python, Path work)
            throws IOException, InterruptedException, CannotRunException {
        Path sources = Machine.module().resolve("../collectors/vllm/probe").normalize();
        Path copy = work.resolve("probe-sources");
        // pip leaves files beside what it builds.
        Files.walkFileTree(sources, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes unused) throws IOException {
                Files.createDirectories(copy.resolve(sources.relativize(folder)));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes unused) throws IOException {
                Files.copy(file, copy.resolve(sources.relativize(file)));
                return FileVisitResult.CONTINUE;
            }
        });
        Path installed = work.resolve("probe");
        List<String> command = List.of(
                python.toString(),
                "-m",
                "pip",
                "install",
                "-q",
                "--disable-pip-version-check",
                "--no-deps",
                "--no-index",
                "--no-build-isolation",
                "--target",
                installed.toString(),
                copy.toString());
        try (ChildProcess pip = ChildProcess.start(work.resolve("probe.log"), Map.of(), command)) {
            if (pip.await(600) != 0) {
                throw new IOException("The probe cannot be installed: " + pip.output());
            }
        }
        return installed;
    }

    /**
     * Starts it with so few KV blocks that eight requests do not fit, and waits until it answers.
     *
     * @param pendingMessages messages that the probe holds for a collector that does not take them
     */
    void start(int pendingMessages) throws Exception {
        Machine.requireMemory(MEMORY_GIB);
        Path python = Machine.python("vllm", work);
        Path model = work.resolve("model");
        Machine.script(work, python, "make_model.py", model);
        Map<String, String> environment = Map.of(
                "PYTHONPATH", installedProbe(python, work).toString(),
                "HF_HUB_OFFLINE", "1",
                "VLLM_NO_USAGE_STATS", "1",
                "DO_NOT_TRACK", "1",
                "OTEL_EXPORTER_OTLP_TRACES_INSECURE", "true",
                "OTEL_BSP_SCHEDULE_DELAY", "500",
                "TOKENSTAIR_PROBE", probe,
                "TOKENSTAIR_PROBE_PENDING", String.valueOf(pendingMessages));
        List<String> command = new ArrayList<>(List.of(python.toString(), "-m", "vllm.entrypoints.openai.api_server"));
        command.addAll(List.of("--model", model.toString(), "--load-format", "dummy", "--served-model-name", "tiny"));
        command.addAll(List.of("--host", "127.0.0.1", "--port", String.valueOf(port), "--dtype", "bfloat16"));
        command.addAll(List.of("--enforce-eager", "--max-model-len", "2048", "--block-size", "32"));
        command.addAll(List.of("--kv-cache-memory-bytes", "1000000000", "--num-gpu-blocks-override", "76"));
        command.addAll(List.of("--max-num-batched-tokens", "512", "--enable-prefix-caching"));
        command.addAll(List.of("--scheduler-cls", "tokenstair_probe.scheduler.ProbeScheduler"));
        command.addAll(List.of("--otlp-traces-endpoint", "http://127.0.0.1:" + otlpPort));
        command.addAll(List.of(
                "--kv-events-config",
                kvWay == KvWay.PROBE
                        ? "{\"enable_kv_cache_events\":true,\"publisher\":\"null\"}"
                        : "{\"enable_kv_cache_events\":true,\"publisher\":\"zmq\",\"endpoint\":\"tcp://*:" + kvPort
                                + "\",\"replay_endpoint\":\"tcp://*:" + replayPort + "\",\"topic\":\"kv\"}"));
        engine.start("vllm", environment, command);
        engine.awaitAnswer(client, "/health", "");
    }

    /** Asks the engine itself. */
    StreamingClient client() {
        return client;
    }

    /** Starts collectors of all it says, into this log, with a gateway before it. They may be there first. */
    LiveEngine.Collecting collect(CollectedLog log) throws Exception {
        return LiveEngine.collect(
                log,
                client,
                "  - type: vllm\n    probe: " + probe
                        + (kvWay == KvWay.PROBE
                                ? ""
                                : "\n    kv-events: " + address(kvPort) + "\n    kv-replay: " + address(replayPort))
                        + "\n    metrics: "
                        + client.server().resolve("/metrics")
                        + "\n    metrics-every: 2s\n  - type: otlp\n    grpc: 127.0.0.1:" + otlpPort
                        + "\n    http: 127.0.0.1:"
                        + Machine.freePort() + "\n");
    }

    @Override
    public void close() throws InterruptedException {
        engine.close();
    }
}
