package io.tokenstair.live;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A real vLLM on this machine's CPU with the probe in it and KV events on; a tiny model of random weights. */
final class LiveVllm implements AutoCloseable {
    private static final int MINUTES_TO_START = 8;

    private final ChildProcess server;
    private final StreamingClient client;
    private final String probe;
    private final String kvEvents;
    private final String kvReplay;

    private LiveVllm(ChildProcess server, StreamingClient client, String probe, String kvEvents, String kvReplay) {
        this.server = server;
        this.client = client;
        this.probe = probe;
        this.kvEvents = kvEvents;
        this.kvReplay = kvReplay;
    }

    /** What a test skips itself for: this machine cannot run the engine, and why. */
    static final class CannotRunException extends Exception {
        private static final long serialVersionUID = 1L;

        CannotRunException(String why) {
            super(why);
        }
    }

    private static Path here() {
        return Path.of(System.getProperty("project.root", "..")).resolve("live-engines").toAbsolutePath().normalize();
    }

    /** The environment that was given, or one made now. */
    static Path environment() throws IOException, InterruptedException, CannotRunException {
        String given = System.getProperty("vllm.venv", "");
        Path venv = given.isBlank() ? here().resolve("target/vllm-venv") : Path.of(given);
        Path log = Files.createDirectories(here().resolve("target")).resolve("vllm-environment.log");
        try (ChildProcess made = ChildProcess.start(
                log, Map.of(), List.of(here().resolve("vllm-environment.sh").toString(), venv.toString()))) {
            if (!made.process().waitFor(25, TimeUnit.MINUTES)) {
                throw new CannotRunException("making the Python environment took more than 25 minutes: " + made.output());
            }
            if (made.process().exitValue() != 0) {
                throw new CannotRunException(made.output().strip());
            }
        }
        return venv;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static String address(int port) {
        return "tcp://127.0.0.1:" + port;
    }

    /**
     * Starts it with so few KV blocks that eight requests do not fit, and waits until it answers.
     *
     * @param work where its model and log go
     * @param pendingMessages messages that the probe holds for a collector that does not take them; absent for its default
     */
    static LiveVllm start(Path venv, Path work, @Nullable Integer pendingMessages)
            throws IOException, InterruptedException, CannotRunException {
        Path python = venv.resolve("bin/python");
        Path model = work.resolve("model");
        try (ChildProcess made = ChildProcess.start(
                work.resolve("model.log"),
                Map.of(),
                List.of(python.toString(), here().resolve("make_model.py").toString(), model.toString()))) {
            if (made.await(180) != 0) {
                throw new CannotRunException("the tiny model cannot be made: " + made.output());
            }
        }
        int port = freePort();
        int probePort = freePort();
        int kvPort = freePort();
        int replayPort = freePort();
        Map<String, String> environment = new HashMap<>(Map.of(
                "HF_HUB_OFFLINE", "1",
                "VLLM_NO_USAGE_STATS", "1",
                "DO_NOT_TRACK", "1",
                "TOKENSTAIR_PROBE", address(probePort)));
        if (pendingMessages != null) {
            environment.put("TOKENSTAIR_PROBE_PENDING", pendingMessages.toString());
        }
        List<String> command = new ArrayList<>(List.of(python.toString(), "-m", "vllm.entrypoints.openai.api_server"));
        command.addAll(List.of("--model", model.toString(), "--load-format", "dummy", "--served-model-name", "tiny"));
        command.addAll(List.of("--host", "127.0.0.1", "--port", String.valueOf(port), "--dtype", "bfloat16"));
        command.addAll(List.of("--enforce-eager", "--max-model-len", "2048", "--block-size", "32"));
        command.addAll(List.of("--kv-cache-memory-bytes", "1000000000", "--num-gpu-blocks-override", "76"));
        command.addAll(List.of("--max-num-batched-tokens", "512", "--enable-prefix-caching"));
        command.addAll(List.of("--scheduler-cls", "tokenstair_probe.scheduler.ProbeScheduler"));
        command.addAll(List.of(
                "--kv-events-config",
                "{\"enable_kv_cache_events\":true,\"publisher\":\"zmq\",\"endpoint\":\"tcp://*:" + kvPort
                        + "\",\"replay_endpoint\":\"tcp://*:" + replayPort + "\",\"topic\":\"kv\"}"));
        ChildProcess server = ChildProcess.start(work.resolve("server.log"), environment, command);
        LiveVllm vllm = new LiveVllm(
                server,
                new StreamingClient(URI.create("http://127.0.0.1:" + port)),
                address(probePort),
                address(kvPort),
                address(replayPort));
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES_TO_START);
        while (!vllm.client.isHealthy()) {
            if (server.process().waitFor(1, TimeUnit.SECONDS) || System.nanoTime() > end) {
                String output = server.output();
                vllm.close();
                throw new CannotRunException("the server did not come up: " + output);
            }
        }
        return vllm;
    }

    StreamingClient client() {
        return client;
    }

    /** Starts a collector of all it says, into this log. */
    ChildProcess collect(Path log, Path output) throws IOException {
        return ChildProcess.java(
                output,
                "io.tokenstair.collector.CollectMain",
                "vllm",
                "--to",
                log.toString(),
                "--probe",
                probe,
                "--kv-events",
                kvEvents,
                "--kv-replay",
                kvReplay,
                "--metrics",
                Objects.requireNonNull(client.server()).resolve("/metrics").toString(),
                "--metrics-every",
                "2s");
    }

    @Override
    public void close() throws InterruptedException {
        server.close();
    }
}
