package io.tokenstair.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.live.StreamingClient.Dialect;
import io.tokenstair.live.StreamingClient.Streamed;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A real llama.cpp server with a model of random weights and fewer slots than clients, behind the gateway, with its own log: every token that a client
 * received is found once, under its request. Where the machine cannot run the engine the test says why and is skipped.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class LiveLlamaCppIT {
    private static final int MINUTES = 5;

    private static List<String> command(Path python, Path model, int port) {
        return List.of(
                python.resolveSibling("llama-server-vulkan").toString(),
                "-m",
                model.toString(),
                "--device",
                "none",
                "-t",
                "1",
                "-tb",
                "1",
                "--host",
                "127.0.0.1",
                "--port",
                String.valueOf(port),
                // More than connections: where threads are scarce it closes kept connections that a request is on its
                // way on.
                "--threads-http",
                "32",
                "--metrics",
                "--slots",
                "--no-ui",
                "-c",
                "4096",
                "-np",
                "4",
                "-no-kvu",
                "--context-shift",
                "-b",
                "64",
                "-ub",
                "64",
                "--log-timestamps",
                "--log-prefix");
    }

    @Test
    void everyTokenIsExplainedUnderItsRequest() throws Exception {
        Path work = Machine.work("llamacpp");
        Analysis analysis = new Analysis(work);
        int port = Machine.freePort();
        StreamingClient direct = new StreamingClient(URI.create("http://127.0.0.1:" + port), Dialect.LLAMA_CPP);
        CollectedLog log = new CollectedLog(work.resolve("log"));
        String collectors =
                "  - type: llamacpp\n    metrics: " + direct.server().resolve("/metrics") + "\n    slots: "
                        + direct.server().resolve("/slots") + "\n";
        Map<String, Streamed> streamed = new TreeMap<>();
        LiveEngine engine = new LiveEngine(work);
        try (engine) {
            Machine.orSkip("llama.cpp", () -> {
                Machine.requireMemory(1);
                Path python = Machine.python("llamacpp", work);
                Path model = work.resolve("tiny.gguf");
                Machine.script(work, python, "make_gguf.py", model);
                engine.start("llamacpp", Map.of(), command(python, model, port));
                engine.awaitAnswer(direct, "/health", "ok");
                return engine;
            });
            try (LiveEngine.Collecting collecting = LiveEngine.collect(log, direct, collectors)) {
                streamed.putAll(collecting.client().stream("few", 3, 40, 60));
                // Eight clients, four slots: some wait.
                streamed.putAll(collecting.client().stream("many", 8, 80, 100));
                streamed.putAll(collecting.client().stream("long", 2, 150, 20));
                assertThat(StreamingClient.counts(streamed).values()).containsOnly(60, 100, 20);
                Machine.waitFor(
                        MINUTES,
                        () -> log.endedAtTheGateway() == streamed.size()
                                && !log.only(MetricSampled.class).isEmpty());
            }
        }
        assertThat(log.rejected()).isEmpty();
        assertThat(log.endedAtTheGateway()).isEqualTo(streamed.size());
        assertThat(log.only(MetricSampled.class)).isNotEmpty();
        Analysis.noTextIn(log, streamed);

        Path live = analysis.run(log, "live");
        analysis.everyTokenOnceAtItsRequest(live, streamed);
        analysis.sameWords(live, analysis.replay(live, "live-again"));

        // The server's own log says the same of each, under names of its own.
        CollectedLog tasks = analysis.imported(
                "llamacpp-log", work.resolve("tasks"), engine.log("llamacpp").toString());
        assertThat(tasks.only(RequestFinished.class))
                .extracting(RequestFinished::outputTokens)
                .containsExactlyInAnyOrderElementsOf(StreamingClient.counts(streamed).values().stream()
                        .map(Integer::longValue)
                        .toList());
    }
}
