package io.tokenstair.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.KvBlocksStored;
import io.tokenstair.event.SpanRecorded;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.live.StreamingClient.Dialect;
import io.tokenstair.live.StreamingClient.Streamed;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The real frontend, router and event plane of Dynamo with its engine simulator, behind the gateway, with its spans, request traces, forward-pass
 * metrics and KV events: every token that a client received is found once, under its request. Where the machine cannot run it the test says why
 * and is skipped.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class LiveDynamoIT {
    private static final int MINUTES = 5;

    private final int httpPort = freePort();
    private final int otlpPort = freePort();
    private final int kvPort = freePort();
    private final int replayPort = freePort();

    private static int freePort() {
        try {
            return Machine.freePort();
        } catch (IOException none) {
            throw new UncheckedIOException(none);
        }
    }

    private Map<String, String> environment(Path work) throws IOException {
        Map<String, String> environment = new HashMap<>(Map.of(
                "HF_HUB_OFFLINE", "1",
                "DYN_DISCOVERY_BACKEND", "file",
                "DYN_FILE_KV",
                        Files.createDirectories(work.resolve("discovery")).toString(),
                "DYN_REQUEST_PLANE", "tcp",
                "DYN_EVENT_PLANE", "zmq",
                "DYN_TCP_RPC_HOST", "127.0.0.1",
                "DYN_EVENT_PLANE_HOST", "127.0.0.1",
                "DYN_SYSTEM_ENABLED", "true"));
        environment.putAll(Map.of(
                "DYN_REQUEST_TRACE", "1",
                "DYN_REQUEST_TRACE_SINKS", "file",
                "DYN_REQUEST_TRACE_FILE_PATH",
                        Files.createDirectories(work.resolve("traces"))
                                .resolve("trace")
                                .toString(),
                "DYN_REQUEST_TRACE_FILE_FLUSH_INTERVAL_MS", "200",
                "DYN_FPM_TRACE", "1",
                "DYN_FPM_MODE", "full",
                "DYN_FPM_OUTPUT_PATH",
                        Files.createDirectories(work.resolve("passes"))
                                .resolve("fpm")
                                .toString()));
        environment.putAll(Map.of(
                "DYN_LOGGING_JSONL", "true",
                "OTEL_EXPORT_ENABLED", "true",
                "OTEL_BSP_SCHEDULE_DELAY", "500",
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:" + otlpPort,
                "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://127.0.0.1:" + otlpPort));
        return environment;
    }

    private static Map<String, String> with(Map<String, String> environment, String name, String value) {
        Map<String, String> more = new HashMap<>(environment);
        more.put(name, value);
        return more;
    }

    private void start(LiveEngine engine, Path work, Path python) throws IOException, InterruptedException {
        Path model = work.resolve("model");
        Machine.script(work, python, "make_words_model.py", model);
        Map<String, String> environment = environment(work);
        engine.start(
                "frontend",
                with(environment, "DYN_SYSTEM_PORT", String.valueOf(freePort())),
                List.of(
                        python.toString(),
                        "-m",
                        "dynamo.frontend",
                        "--http-host",
                        "127.0.0.1",
                        "--http-port",
                        String.valueOf(httpPort),
                        "--router-mode",
                        "kv",
                        "--kv-cache-block-size",
                        "16"));
        engine.start(
                "mocker",
                with(environment, "DYN_SYSTEM_PORT", String.valueOf(freePort())),
                List.of(
                        python.toString(),
                        "-m",
                        "dynamo.mocker",
                        "--model-path",
                        model.toString(),
                        "--model-name",
                        "tiny",
                        "--zmq-kv-events-ports",
                        String.valueOf(kvPort),
                        "--zmq-replay-ports",
                        String.valueOf(replayPort),
                        "--num-gpu-blocks-override",
                        "64",
                        "--block-size",
                        "16",
                        "--max-num-seqs",
                        "8",
                        "--max-num-batched-tokens",
                        "256"));
    }

    @Test
    void everyTokenIsExplainedUnderItsRequest() throws Exception {
        Path work = Machine.work("dynamo");
        Analysis analysis = new Analysis(work);
        StreamingClient direct = new StreamingClient(URI.create("http://127.0.0.1:" + httpPort), Dialect.DYNAMO);
        CollectedLog log = new CollectedLog(work.resolve("log"));
        Map<String, Streamed> streamed = new TreeMap<>();
        String collectors = "  - type: otlp\n    grpc: 127.0.0.1:" + otlpPort + "\n    http: 127.0.0.1:" + freePort()
                + "\n  - type: dynamo\n    kv-events: tcp://127.0.0.1:" + kvPort + "\n    kv-replay: tcp://127.0.0.1:"
                + replayPort + "\n    fpm-discovery: " + work.resolve("discovery") + "\n    metrics: "
                + direct.server().resolve("/metrics") + "\n";
        try (LiveEngine engine = new LiveEngine(work);
                LiveEngine.Collecting collecting = LiveEngine.collect(log, direct, collectors)) {
            Machine.orSkip("Dynamo", () -> {
                Machine.requireMemory(2);
                start(engine, work, Machine.python("dynamo", work));
                engine.awaitAnswer(direct, "/v1/models", "tiny");
                return engine;
            });
            streamed.putAll(collecting.client().stream("few", 3, 40, 60));
            // Together more than 64 blocks of 16: some are preempted.
            streamed.putAll(collecting.client().stream("many", 8, 100, 120));
            assertThat(StreamingClient.counts(streamed).values()).containsOnly(60, 120);
            Machine.waitFor(
                    MINUTES,
                    () -> log.endedAtTheGateway() == streamed.size()
                            && log.only(SpanRecorded.class).size() >= streamed.size()
                            && !log.only(StepCompleted.class).isEmpty()
                            && !log.only(KvBlocksStored.class).isEmpty());
        }
        assertThat(log.rejected()).isEmpty();
        assertThat(log.endedAtTheGateway()).isEqualTo(streamed.size());
        assertThat(log.only(SpanRecorded.class)).hasSizeGreaterThanOrEqualTo(streamed.size());
        assertThat(log.only(StepCompleted.class)).isNotEmpty();
        assertThat(log.only(KvBlocksStored.class)).isNotEmpty();
        Analysis.noTextIn(log, streamed);

        Path live = analysis.run(log, "live");
        analysis.everyTokenOnceAtItsRequest(live, streamed);
        analysis.sameWords(live, analysis.replay(live, "live-again"));

        // The frontend's own file beside it: its names are known to be the client's once all of them are there.
        Path archive = analysis.archived(log, "archive");
        analysis.imported("dynamo-trace", archive, files(work.resolve("traces")));
        Path results = analysis.replay(archive, "results");
        analysis.everyTokenOnceAtItsRequest(results, streamed);
        analysis.sameWords(results, analysis.replay(archive, "results-again"));
    }

    private static String[] files(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().map(Path::toString).toArray(String[]::new);
        }
    }
}
