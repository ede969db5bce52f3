package io.tokenstair.collect.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.tokenstair.clock.HostClocks;
import io.tokenstair.collect.engine.trtllm.TrtllmCollector;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.StepCompleted;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** TensorRT-LLM live: the one recorded answer of a real server, and answers built by its published schema, over HTTP. */
@Timeout(120)
class TrtllmCollectorTest {
    private final Heard heard = new Heard();

    private TrtllmCollector collector(HttpServer server) {
        return new TrtllmCollector(
                new TrtllmCollector.Settings(
                        "trtllm",
                        "trtllm",
                        Heard.at(server, "/metrics"),
                        Duration.ofMillis(50),
                        List.of(),
                        Duration.ofSeconds(1),
                        null,
                        "triton",
                        true),
                heard);
    }

    private static String iteration(int number, int generated, String stage, boolean paused) {
        return "{\"iter\":" + number + ",\"iterLatencyMS\":20.5,\"numActiveRequests\":1,\"numQueuedRequests\":2,"
                + "\"inflightBatchingStats\":{\"numScheduledRequests\":1,\"numContextRequests\":0,\"numGenRequests\":1,"
                + "\"numPausedRequests\":" + (paused ? 1 : 0)
                + ",\"numCtxTokens\":0},\"requestStats\":[{\"id\":7,\"stage\":\""
                + stage + "\",\"contextPrefillPosition\":64,\"numGeneratedTokens\":" + generated + ",\"scheduled\":"
                + !paused + ",\"paused\":" + paused + "}]}";
    }

    private static byte[] array(String... iterations) {
        return ("[" + String.join(",", iterations) + "]").getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void theRecordedIterationIsAStepOnceHoweverOftenItIsAnswered() throws Exception {
        HttpServer server = Heard.serving(List.of(Heard.recorded("trtllm-iter154.json.gz")));
        try (TrtllmCollector collector = collector(server)) {
            heard.await(StepCompleted.class::isInstance);
            long polls = 0;
            while (polls < 5) {
                // The same again, which a server that empties its queue would not say.
                polls += heard.told().isEmpty() ? 0 : 1;
                Thread.onSpinWait();
            }
            Heard.awaitText(collector::status, "iterations 1, lost 0, rejected 0");
        } finally {
            server.stop(0);
        }
        assertThat(heard.all(StepCompleted.class)).singleElement().satisfies(step -> {
            assertThat(step.stepId()).isEqualTo(154);
            assertThat(step.kvUsedBlocksCount()).isEqualTo(3);
            assertThat(step.kvTotalBlocksCount()).isEqualTo(101_256);
            assertThat(step.updateEndNanos()
                            - (step.scheduleStartNanos() == null
                                    ? 0L
                                    : step.scheduleStartNanos().longValue()))
                    .isEqualTo(7_006_884L);
        });
    }

    @Test
    void iterationsComeOnceWhatNobodyPolledIsLostAndANewStartBeginsAgain() throws Exception {
        HttpServer server = Heard.serving(List.of(
                array(),
                array(
                        iteration(10, 1, "GENERATION_IN_PROGRESS", false),
                        iteration(11, 2, "GENERATION_IN_PROGRESS", false)),
                array(
                        iteration(11, 2, "GENERATION_IN_PROGRESS", false),
                        iteration(14, 2, "GENERATION_IN_PROGRESS", true)),
                "{\"not\":\"an array\"}".getBytes(StandardCharsets.UTF_8),
                array("{\"iter\":15}", iteration(16, 3, "GENERATION_COMPLETE", false)),
                new byte[0],
                array(iteration(1, 1, "GENERATION_IN_PROGRESS", false)),
                array()));
        try (TrtllmCollector collector = collector(server)) {
            Heard.awaitText(collector::status, "iterations 5, lost 3, rejected 3");
        } finally {
            server.stop(0);
        }
        assertThat(heard.all(StepCompleted.class).stream().map(StepCompleted::stepId))
                .containsExactly(10L, 11L, 14L, 16L, 1L);
        assertThat(heard.all(CollectorGap.class).stream()
                        .flatMap(gap -> Stream.of(gap.firstMissingSequence(), gap.lastMissingSequence())))
                .containsExactly(12L, 13L, 15L, 15L);
        assertThat(heard.all(RequestPreempted.class)).hasSize(1);
        assertThat(heard.all(RequestFinished.class)).hasSize(1);
        assertThat(heard.all(Rejected.class).stream().map(Rejected::reason))
                .containsExactly("not a JSON array", "field iterLatencyMS: missing", "HTTP status 503");
        List<ClockSampled> clocks = heard.all(ClockSampled.class);
        assertThat(clocks).isNotEmpty().allSatisfy(sample -> {
            assertThat(sample.remoteClockId()).isEqualTo(HostClocks.elapsedId());
            // The clock of iterations without stamps runs as this machine's does, to within a poll.
            assertThat(sample.beforeNanos() - sample.remoteNanos())
                    .isBetween(0L, 2 * (sample.statedBoundNanos() == null ? 0L : sample.statedBoundNanos()));
        });
    }

    @Test
    void metricsOfTritonAreOfTheEngine() throws Exception {
        HttpServer server = Heard.serving(List.of("nv_trt_llm_request_metrics{model=\"m\",request_type=\"active\"} 2\n"
                .getBytes(StandardCharsets.UTF_8)));
        TrtllmCollector.Settings settings = new TrtllmCollector.Settings(
                "t",
                "trtllm",
                null,
                Duration.ofSeconds(1),
                List.of(Heard.at(server, "/metrics")),
                Duration.ofMillis(50),
                null,
                "triton",
                true);
        try (TrtllmCollector collector = new TrtllmCollector(settings, heard)) {
            MetricSampled sample =
                    (MetricSampled) heard.await(MetricSampled.class::isInstance).event();
            assertThat(sample.labels()).isEqualTo("engine=\"trtllm\",model=\"m\",request_type=\"active\"");
            assertThat(collector.status()).startsWith("metrics ");
        } finally {
            server.stop(0);
        }
        assertThatThrownBy(() -> new TrtllmCollector.Settings(
                        "t",
                        "trtllm",
                        null,
                        Duration.ofSeconds(1),
                        List.<URI>of(),
                        Duration.ofSeconds(1),
                        null,
                        "triton",
                        true))
                .hasMessageContaining("Cannot collect nothing");
    }
}
