package io.tokenstair.job.cases;

import static io.tokenstair.job.cases.ToolOutputs.expected;
import static io.tokenstair.job.cases.ToolOutputs.file;
import static io.tokenstair.job.cases.ToolOutputs.gaps;
import static io.tokenstair.job.cases.ToolOutputs.percentile;
import static io.tokenstair.job.cases.ToolOutputs.request;
import static io.tokenstair.job.cases.ToolOutputs.slowest;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.tokenstair.archive.result.Remark;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.job.ToldInChinese;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The right values of each recorded tool output, as its {@code expected.json} has them, come out of import and replay; and a run whose
 * layers were imported one by one is one request each.
 */
class ToolOutputsIT {
    private static final double MS = 0.0011;

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "llamacpp, main, llamacpp/main_sse_capture.jsonl.gz",
        "llamacpp, spec, llamacpp/spec_sse_capture.jsonl.gz",
        "llamacpp, kvfull, llamacpp/kvfull_sse_capture.jsonl.gz",
        "dynamo_mocker, sse, dynamo_mocker/sse_capture.jsonl.gz",
        "llmd_inference_sim, sse, llmd_inference_sim/sse_capture.jsonl.gz"
    })
    void streamsComeOutAsTheyWereRead(String name, String part, String capture) throws Exception {
        JsonNode right = expected(name).get(part);
        ToolOutputs outputs = new ToolOutputs(folder).imported("sse-capture", file(capture));
        CaseResults results = outputs.replayed();

        streams(right, results);
        assertThat(results.findings())
                .allMatch(finding -> List.of("UNRESOLVED_STALL", "CLIENT_ABORT").contains(finding.cause()));
    }

    private static void streams(JsonNode right, CaseResults results) {
        assertThat(results.requests()).hasSize(right.get("requests").asInt());
        List<Long> ttfts = new ArrayList<>();
        long tokens = 0;
        for (Map.Entry<String, JsonNode> one : right.get("per_request").properties()) {
            String id = one.getKey();
            RequestAnalysis request = request(results, id);
            assertThat(request.requestId()).isEqualTo(id);
            assertThat(request.state()).as(id).isEqualTo("complete");
            stream(one.getValue(), request, results);
            tokens += request.usageTokens() == null ? request.tokenCount() : request.usageTokens();
            if (request.ttftNanos() != null) {
                ttfts.add(request.ttftNanos());
            }
        }
        Collections.sort(ttfts);
        assertThat(tokens).isEqualTo(right.get("total_output_tokens").asLong());
        assertThat(percentile(ttfts, 50)).isCloseTo(right.get("ttft_p50_ms").asDouble(), within(MS));
        same(right.get("itl_pooled_ms"), gaps(results, null));
        TokenAnalysis slowest = slowest(results, null);
        JsonNode most = right.get("max_gap");
        assertThat(slowest.requestId()).isEqualTo(most.get("request").asText());
        assertThat(slowest.tokenIndex())
                .isEqualTo(most.get("before_token_index_0based").asInt());
    }

    private static void stream(JsonNode right, RequestAnalysis request, CaseResults results) {
        String id = request.requestId();
        String outcome = right.get("outcome").asText();
        String endReason =
                outcome.startsWith("ok:") ? "length" : outcome.equals("client_abort") ? "aborted-by-client" : "error";
        assertThat(request.endReason()).as(id).isEqualTo(endReason);
        assertThat(request.tokenCount())
                .as(id)
                .isEqualTo(right.path("token_chunks").asLong());
        same(request.usageTokens(), right.get("output_tokens"), id);
        if (right.has("ttft_ms")) {
            assertThat(Objects.requireNonNull(request.ttftNanos()) / 1e6)
                    .as(id)
                    .isCloseTo(right.get("ttft_ms").asDouble(), within(MS));
            same(right.get("itl_ms"), gaps(results, id));
            assertThat(slowest(results, id).tokenIndex())
                    .isEqualTo(right.get("max_gap_before_token_index_0based").asInt());
        } else {
            assertThat(request.ttftNanos()).as(id).isNull();
        }
        if (right.has("prompt_tokens")) {
            same(request.promptTokens(), right.get("prompt_tokens"), id);
        } else if (right.has("prompt_processed_tokens")) {
            assertThat(Objects.requireNonNull(request.promptTokens()) - Objects.requireNonNull(request.cachedTokens()))
                    .isEqualTo(right.get("prompt_processed_tokens").asLong());
        }
        same(request.cachedTokens(), right.get("cached_tokens"), id);
        // Role and progress chunks, and nothing else, come before the first token without one.
        boolean role = right.path("role_or_empty_chunks").asInt() > 0
                || right.path("prompt_progress_chunks").asInt() > 0;
        assertThat(request.requestCauses().contains("ROLE_CHUNK")).as(id).isEqualTo(role);
    }

    private static void same(@Nullable Long value, @Nullable JsonNode right, String what) {
        if (right == null || right.isNull()) {
            assertThat(value).as(what).isNull();
        } else {
            assertThat(value).as(what).isEqualTo(right.asLong());
        }
    }

    private static void same(JsonNode right, List<Long> nanos) {
        assertThat(nanos).hasSize(right.get("n").asInt());
        assertThat(percentile(nanos, 50)).isCloseTo(right.get("p50").asDouble(), within(MS));
        assertThat(percentile(nanos, 99)).isCloseTo(right.get("p99").asDouble(), within(MS));
        assertThat(percentile(nanos, 100)).isCloseTo(right.get("max").asDouble(), within(MS));
    }

    @Test
    void draftsShareAStepAndAreTokensOfTheirOwn() throws Exception {
        CaseResults results = new ToolOutputs(folder)
                .imported("sse-capture", file("llamacpp/spec_sse_capture.jsonl.gz"))
                .replayed();

        // Four accepted drafts came within 0.1 ms of the token whose step made them.
        assertThat(gaps(results, "s1").stream().filter(gap -> gap < 100_000)).hasSizeGreaterThanOrEqualTo(4);
        assertThat(request(results, "s1").tokenCount()).isEqualTo(48);
    }

    @Test
    void theTasksOfALlamaServersLogAreTheRequestsOfItsStreams() throws Exception {
        for (String part : List.of("main", "spec", "kvfull")) {
            JsonNode right = expected("llamacpp").get(part);
            ToolOutputs outputs = new ToolOutputs(folder.resolve(part))
                    .imported("llamacpp-log", file("llamacpp/" + part + "_server.log"))
                    .imported("sse-capture", file("llamacpp/" + part + "_sse_capture.jsonl.gz"));
            CaseResults results = outputs.replayed();

            streams(right, results);
            assertThat(results.requests()).allMatch(request -> request.engines().equals(List.of("llamacpp")));
            if (part.equals("kvfull")) {
                // Each of the three ended with an error of its own.
                assertThat(remark(outputs, "context-full")).contains("was full 1 time: 3 requests ended with it");
            }
            assertThat(results.requests())
                    .allSatisfy(request -> assertThat(request.aliases())
                            .anyMatch(alias -> alias.startsWith(part + "_server.log#task-")));
        }
    }

    @Test
    void everyLayerOfADynamoRunIsOneRequestEach() throws Exception {
        JsonNode right = expected("dynamo_mocker");
        ToolOutputs outputs = new ToolOutputs(folder)
                .imported("dynamo-trace", file("dynamo_mocker/request_trace.000000.jsonl.gz"))
                .imported(
                        "kv-events",
                        file("dynamo_mocker/kv_events_live.jsonl.gz"),
                        file("dynamo_mocker/kv_events_replay.jsonl.gz"),
                        "--engine",
                        "worker-9035572966219299194")
                .imported("dynamo-fpm", file("dynamo_mocker/fpm.9035572966219299194.000000.jsonl.gz"))
                .imported("sse-capture", file("dynamo_mocker/sse_capture.jsonl.gz"));
        CaseResults results = outputs.replayed();

        for (Map.Entry<String, JsonNode> one :
                right.get("sse").get("per_request").properties()) {
            RequestAnalysis request = request(results, one.getKey());
            assertThat(request.requestId()).isEqualTo(one.getKey());
            assertThat(request.aliases()).contains("req-" + one.getKey());
            assertThat(request.engines()).containsExactly("worker-9035572966219299194");
        }
        assertThat(results.requests()).hasSize(7);
        // The router foretold 96 tokens from the cache; they had been evicted, and the engine's usage says so.
        assertThat(request(results, "a5").cachedTokens()).isZero();
        assertThat(request(results, "a7").cachedTokens()).isEqualTo(96);
        // Its client left: the engine's own count of it is the frontend's.
        assertThat(request(results, "a6").endReason()).isEqualTo("aborted-by-client");
        assertThat(request(results, "a6").usageTokens()).isEqualTo(20);
        // A wait for admission that the trace books as prefill is no prefill here.
        assertThat(results.findings())
                .noneMatch(finding ->
                        List.of("PREFILL_INTERFERENCE", "PREFIX_HIT_COLLAPSE").contains(finding.cause()));
        passes(right.get("fpm_trace"), outputs.steps());
        assertThat(remark(outputs, "forward-passes"))
                .startsWith("214 forward passes took 32.")
                .contains("51.3 ms at most")
                .contains("In 3 stretches", "up to 2 requests that had been preempted", "up to 277 tokens");
        assertThat(outputs.layers()).noneMatch(layer -> layer.lostCount() != null && layer.lostCount() > 0);
    }

    private static String remark(ToolOutputs outputs, String topic) throws Exception {
        List<String> told = outputs.remarks().stream()
                .filter(remark -> remark.topic().equals(topic))
                .peek(ToldInChinese::remark)
                .map(Remark::narrative)
                .toList();
        assertThat(told).as(topic).hasSize(1);
        return told.get(0);
    }

    private static void passes(JsonNode right, List<StepAnalysis> steps) {
        assertThat(steps).hasSize(right.get("iterations").asInt());
        assertThat(steps.stream().mapToLong(StepAnalysis::decodeSequences).sum())
                .isEqualTo(right.get("sum_decode_slots").asLong());
        assertThat(steps.stream().mapToLong(StepAnalysis::prefillTokens).sum())
                .isEqualTo(right.get("sum_prefill_tokens").asLong());
    }

    @Test
    void aTraceOfAFrontendKnowsFirstTokensAndMeansAndNoStall() throws Exception {
        JsonNode right = expected("dynamo_mocker").get("request_trace");
        CaseResults results = new ToolOutputs(folder)
                .imported("dynamo-trace", file("dynamo_mocker/request_trace.000000.jsonl.gz"))
                .replayed();

        trace(right, results);
        assertThat(results.tokens()).isEmpty();
        assertThat(results.findings()).isEmpty();
        // cached_tokens of the trace is a forecast.
        assertThat(results.requests()).allMatch(request -> request.cachedTokens() == null);
    }

    /** Counts and first tokens of a run; who wrote the right values calls three of them by a name of its own. */
    private static void totals(
            JsonNode right, CaseResults results, String requests, String promptTokens, String ttftMax) {
        assertThat(results.requests()).hasSize(right.get(requests).asInt());
        assertThat(results.requests().stream()
                        .mapToLong(RequestAnalysis::tokenCount)
                        .sum())
                .isEqualTo(right.get("output_tokens").asLong());
        assertThat(results.requests().stream()
                        .mapToLong(request -> Objects.requireNonNull(request.promptTokens()))
                        .sum())
                .isEqualTo(right.get(promptTokens).asLong());
        List<Long> ttfts = results.requests().stream()
                .map(request -> Objects.requireNonNull(request.ttftNanos()))
                .sorted()
                .toList();
        assertThat(percentile(ttfts, 50)).isCloseTo(right.get("ttft_p50_ms").asDouble(), within(MS));
        assertThat(percentile(ttfts, 100)).isCloseTo(right.get(ttftMax).asDouble(), within(MS));
    }

    private static void trace(JsonNode right, CaseResults results) {
        totals(right, results, "records", "input_tokens", "max_ttft_ms");
        List<Long> means = results.requests().stream()
                .map(request -> Objects.requireNonNull(request.tpotNanos()))
                .sorted()
                .toList();
        assertThat(percentile(means, 50)).isCloseTo(right.get("avg_itl_p50_ms").asDouble(), within(MS));
    }

    @Test
    void aStallOfAllStreamsIsNoPreemptionAndNoKvPressure() throws Exception {
        JsonNode right = expected("sglang_bench_serving");
        ToolOutputs outputs = new ToolOutputs(folder)
                .imported("sglang-bench", file("sglang_bench_serving/bench.jsonl"))
                .imported("dynamo-trace", file("sglang_bench_serving/dynamo_request_trace.jsonl.gz"))
                .imported("dynamo-fpm", file("sglang_bench_serving/dynamo_fpm.jsonl.gz"));
        CaseResults results = outputs.replayed();

        results.never("PREEMPTION", "PREEMPTION_STORM", "KV_PRESSURE", "PREEMPTION_LOOP", "SEAT_LIMIT");
        passes(right.get("server_side_fpm"), outputs.steps());
        // The steps took 33 ms; between two of them were 750.
        StepAnalysis late = outputs.steps().stream()
                .max((a, b) -> Long.compare(a.idleNanos(), b.idleNanos()))
                .orElseThrow();
        JsonNode delay = right.get("server_side_fpm")
                .get("largest_unexplained_delay_ms_observed_gap_minus_wall")
                .get(0);
        List<StepAnalysis> working = outputs.steps().stream()
                .filter(step -> step.stepId() == delay.get("counter_id").asLong())
                .toList();
        assertThat(working)
                .singleElement()
                .satisfies(step -> assertThat(step.idleNanos() / 1e6)
                        .isCloseTo(delay.get("ms").asDouble(), within(0.1)));
        assertThat(late.idleNanos()).isPositive();
    }

    @ParameterizedTest
    @CsvSource({"mocker", "llamacpp"})
    void gapsBetweenChunksOfAiperfAndTheFirstTokenWithoutTheConnecting(String part) throws Exception {
        JsonNode right = expected("aiperf").get(part);
        ToolOutputs outputs =
                new ToolOutputs(folder).imported("aiperf", file("aiperf/" + part + "_profile_export.jsonl.gz"));
        CaseResults results = outputs.replayed();

        assertThat(results.requests()).hasSize(right.get("records").asInt());
        same(right.get("itl_from_inter_chunk_latency_ms"), gaps(results, null));
        assertThat(results.requests().stream()
                        .mapToLong(request -> Objects.requireNonNull(request.usageTokens()))
                        .sum())
                .as("the engine's counts")
                .isEqualTo(right.get("sum_usage_completion_tokens").asLong());
        List<Long> ttfts = results.requests().stream()
                .map(request -> Objects.requireNonNull(request.ttftNanos()))
                .sorted()
                .toList();
        assertThat(percentile(ttfts, 50))
                .isCloseTo(right.get("ttft_p50_ms_without_connect").asDouble(), within(MS));
        List<Long> means = results.requests().stream()
                .map(request -> Objects.requireNonNull(request.tpotNanos()))
                .sorted()
                .toList();
        assertThat(percentile(means, 50))
                .isCloseTo(right.get("itl_mean_by_engine_tokens_p50_ms").asDouble(), within(MS));
        TokenAnalysis slowest = slowest(results, null);
        JsonNode most = right.get("max_gap");
        assertThat(request(results, slowest.requestId()).aliases())
                .contains("session-" + most.get("session_num").asInt());
        assertThat(slowest.tokenIndex())
                .isEqualTo(most.get("before_chunk_index_0based").asInt());
        if (part.equals("llamacpp")) {
            assertThat(outputs.said()).contains("8 answers have another length by the client's tokenizer");
        } else {
            assertThat(outputs.said()).contains("connections took up to 1175 ms");
        }
    }

    @Test
    void theServersOwnTraceOfAnAiperfRunIsJoinedByTheIdsOfTheRawPackets() throws Exception {
        JsonNode right = expected("aiperf").get("mocker");
        ToolOutputs outputs = new ToolOutputs(folder)
                .imported(
                        "aiperf",
                        file("aiperf/mocker_profile_export_raw.jsonl.gz"),
                        file("aiperf/mocker_profile_export.jsonl.gz"),
                        file("aiperf/mocker_profile_export_aiperf.json.gz"))
                .imported("aiperf", file("aiperf/mocker_server_metrics_export.jsonl.gz"))
                .imported("dynamo-trace", file("aiperf/mocker_dynamo_request_trace.jsonl.gz"));
        CaseResults results = outputs.replayed();

        assertThat(results.requests())
                .hasSize(12)
                .allMatch(request -> request.engines().size() == 1);
        same(right.get("itl_from_inter_chunk_latency_ms"), gaps(results, null));
    }

    @Test
    void aReportOfGuideLlmHasNoLongestGapAndNoneIsMadeUp() throws Exception {
        JsonNode right = expected("guidellm");
        ToolOutputs outputs = new ToolOutputs(folder).imported("guidellm", file("guidellm/benchmarks.json.gz"));
        CaseResults results = outputs.replayed();

        assertThat(outputs.said()).contains("a longest gap is not available");
        assertThat(results.tokens()).isEmpty();
        assertThat(results.findings()).isEmpty();
        totals(right, results, "requests", "prompt_tokens", "ttft_max_ms");
        same(
                right.get("mean_itl_per_request_ms"),
                results.requests().stream()
                        .map(request -> Objects.requireNonNull(request.tpotNanos()))
                        .sorted()
                        .toList());
        double weighted = 0;
        long intervals = 0;
        for (RequestAnalysis request : results.requests()) {
            weighted += Objects.requireNonNull(request.tpotNanos()) / 1e6 * (request.tokenCount() - 1);
            intervals += request.tokenCount() - 1;
        }
        assertThat(intervals).isEqualTo(right.get("decode_intervals").asLong());
        assertThat(weighted / intervals)
                .isCloseTo(right.get("token_weighted_mean_itl_ms").asDouble(), within(MS));
    }

    @Test
    void theServersTraceOfAGuideLlmRunIsJoinedByTheIdsOfItsAnswers() throws Exception {
        JsonNode right = expected("guidellm");
        ToolOutputs outputs = new ToolOutputs(folder)
                .imported("guidellm", file("guidellm/benchmarks.json.gz"))
                .imported("dynamo-trace", file("guidellm/dynamo_request_trace.jsonl.gz"))
                .imported("dynamo-fpm", file("guidellm/dynamo_fpm.jsonl.gz"));
        CaseResults results = outputs.replayed();

        assertThat(results.requests())
                .hasSize(12)
                .allMatch(request -> request.engines().size() == 1);
        passes(right.get("server_side_fpm"), outputs.steps());
        results.never("PREEMPTION", "KV_PRESSURE");
    }

    @Test
    void theFirstKvMessageOfASimulatorIsNumberOneAndNothingIsLost() throws Exception {
        ToolOutputs outputs = new ToolOutputs(folder)
                .imported(
                        "kv-events",
                        file("llmd_inference_sim/kv_events_live.jsonl"),
                        file("llmd_inference_sim/kv_events_replay.jsonl"))
                .imported("sse-capture", file("llmd_inference_sim/sse_capture.jsonl.gz"));
        CaseResults results = outputs.replayed();

        assertThat(outputs.said()).contains("kv-events                 5          5          0");
        assertThat(outputs.layers()).noneMatch(layer -> layer.lostCount() != null && layer.lostCount() > 0);
        // Chunks name it cmpl-<X-Request-Id>-0; the capture by its own name.
        assertThat(request(results, "m1").aliases()).contains("req-m1", "cmpl-req-m1-0");
    }
}
