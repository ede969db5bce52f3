package io.tokenstair.job.capture;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.cause.Part;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every recorded run: what the product says of each token against what the scheduler's own record says. */
class CaptureTruthTest {
    private static final Map<String, Set<String>> NAMES = Map.of(
            "preempted", Set.of("PREEMPTION"),
            "engine_paused", Set.of("HOST_PAUSE", "HOST_GAP"),
            "other_prefill", Set.of("PREFILL_INTERFERENCE", "DECODE_STARVED_BY_PREFILL", "TOKEN_BUDGET_STARVATION"),
            "other_recompute", Set.of("RECOMPUTE"));
    private static final Set<String> SCHEDULER_CAUSES = Set.of(
            "PREEMPTION",
            "PREFILL_INTERFERENCE",
            "RECOMPUTE",
            "DECODE_STARVED_BY_PREFILL",
            "TOKEN_BUDGET_STARVATION",
            "KV_PRESSURE");

    private static final Map<String, CaptureAnalysis> DONE = new TreeMap<>();

    @TempDir
    static Path folder;

    static List<String> captures() throws Exception {
        return Captures.names();
    }

    private static CaptureAnalysis analysis(String capture) throws Exception {
        CaptureAnalysis done = DONE.get(capture);
        if (done == null) {
            done = CaptureAnalysis.of(Captures.log(capture, folder.resolve(capture)));
            DONE.put(capture, done);
        }
        return done;
    }

    private static List<Finding> severe(CaptureAnalysis analysis) {
        return analysis.findings.stream()
                .filter(finding -> !finding.severity().equals("info"))
                .toList();
    }

    private static @Nullable Long[] parts(TokenAnalysis token) {
        return Arrays.stream(Part.values()).map(token::partNanos).toArray(Long[]::new);
    }

    private static TokenAnalysis token(CaptureAnalysis analysis, String requestId, int index) {
        TokenAnalysis token = analysis.tokens.get(CaptureAnalysis.key(requestId, 0, index));
        assertThat(token).as("%s token %d", requestId, index).isNotNull();
        return java.util.Objects.requireNonNull(token);
    }

    private static RequestAnalysis request(CaptureAnalysis analysis, String requestId) {
        RequestAnalysis request = analysis.requests.get(requestId + "#0");
        assertThat(request).as(requestId).isNotNull();
        return java.util.Objects.requireNonNull(request);
    }

    @ParameterizedTest
    @MethodSource("captures")
    void everyTokenIsThereOnceWithItsTrueGapAndPartsThatSumToIt(String capture) throws Exception {
        CaptureAnalysis analysis = analysis(capture);
        Truth truth = Truth.of(capture);
        assertThat(analysis.tokens.keySet()).isEqualTo(truth.tokens.keySet());
        assertThat(parts(analysis.tokens.values().iterator().next())).hasSize(Part.COUNT);
        analysis.tokens.forEach((key, token) -> {
            assertThat(token.gapNanos())
                    .as(key)
                    .isEqualTo(java.util.Objects.requireNonNull(truth.tokens.get(key))
                            .get("gap_ns")
                            .asLong());
            long sum = 0;
            for (Long part : parts(token)) {
                sum += part == null ? 0 : part;
            }
            assertThat(sum).as("parts of %s", key).isEqualTo(token.gapNanos());
        });
    }

    @ParameterizedTest
    @MethodSource("captures")
    void nearlyAllSlowTokensWhoseCauseIsKnownCarryIt(String capture) throws Exception {
        CaptureAnalysis analysis = analysis(capture);
        Truth truth = Truth.of(capture);
        List<String> wrong = new ArrayList<>();
        int known = 0;
        for (String key : truth.keys("slow_tokens")) {
            Set<String> causes = truth.causes(key);
            if (causes.isEmpty()) {
                continue;
            }
            known++;
            Set<String> allowed = new TreeSet<>();
            boolean first = false;
            for (String strong : List.of("preempted", "engine_paused")) {
                if (causes.contains(strong) && !first) {
                    allowed.addAll(java.util.Objects.requireNonNull(NAMES.get(strong)));
                    first = true;
                }
            }
            if (!first) {
                causes.forEach(cause -> allowed.addAll(java.util.Objects.requireNonNull(NAMES.get(cause))));
            }
            TokenAnalysis token = java.util.Objects.requireNonNull(analysis.tokens.get(key));
            if (token.cause() == null || !allowed.contains(token.cause())) {
                wrong.add(key + " is " + causes + " and was called " + token.cause());
            }
        }
        assertThat(wrong).as("of %d", known).hasSizeLessThanOrEqualTo(known / 20);
    }

    @ParameterizedTest
    @MethodSource("captures")
    void noiseIsNeverBlamedOnTheScheduler(String capture) throws Exception {
        CaptureAnalysis analysis = analysis(capture);
        Truth truth = Truth.of(capture);
        Set<String> contended = truth.keys("of_those_core_contention");
        int covered = 0;
        for (String key : truth.keys("slow_without_known_cause")) {
            TokenAnalysis token = java.util.Objects.requireNonNull(analysis.tokens.get(key));
            assertThat(SCHEDULER_CAUSES).as(key).doesNotContain(String.valueOf(token.cause()));
            covered += contended.contains(key) && "HOST_CONTENTION".equals(token.cause()) ? 1 : 0;
        }
        // Where core waits are close to half of the excess, the model and the truth's local median may disagree.
        assertThat(covered).isGreaterThanOrEqualTo(contended.size() * 8 / 10);
    }

    @ParameterizedTest
    @MethodSource("captures")
    void deliveredTokensEqualTheClientsOwnCount(String capture) throws Exception {
        CaptureAnalysis analysis = analysis(capture);
        Truth.of(capture).summary.get("stream_match").fields().forEachRemaining(stream -> {
            String name = stream.getKey().contains("#") ? stream.getKey() : stream.getKey() + "#0";
            RequestAnalysis request = analysis.requests.get(name);
            assertThat(request).as(name).isNotNull();
            assertThat(java.util.Objects.requireNonNull(request).tokenCount())
                    .as(name)
                    .isEqualTo(stream.getValue().get("client_tokens").asLong());
        });
        analysis.tokens
                .values()
                .forEach(token -> assertThat(token.deliveryNanos()).isNotNegative());
    }

    @Test
    void quietAndSteadyRunsRaiseNoWarning() throws Exception {
        assertThat(severe(analysis("quiet"))).isEmpty();
        assertThat(severe(analysis("steady_load"))).isEmpty();
    }

    @Test
    void everyPreemptedRequestIsNamedAtItsTokenAndWaitingIsToldFromRecomputing() throws Exception {
        for (String capture : List.of("kv_pressure_preemption", "async_order", "priority")) {
            CaptureAnalysis analysis = analysis(capture);
            Set<String> preempted = new TreeSet<>();
            for (JsonNode record : Truth.of(capture).summary.get("preemptions")) {
                String requestId = record.get("req").asText();
                int delayed = record.get("delayed_token").asInt();
                preempted.add(CaptureAnalysis.key(requestId, 0, delayed));
                TokenAnalysis token = token(analysis, requestId, delayed);
                assertThat(token.cause()).isEqualTo("PREEMPTION");
                assertThat(token.state()).isEqualTo("recompute");
                assertThat(token.partPreemptedWaitNanos())
                        .isCloseTo(
                                record.get("waited_ns").asLong(), org.assertj.core.data.Percentage.withPercentage(5));
                assertThat(token.partRecomputeOwnNanos()).isPositive();
                assertThat(analysis.findings)
                        .anyMatch(finding -> finding.cause().equals("PREEMPTION")
                                && requestId.equals(finding.requestId())
                                && Integer.valueOf(delayed).equals(finding.firstTokenIndex()));
            }
            // Those who merely shared the steps were not preempted.
            analysis.tokens.forEach((key, token) -> {
                if ("PREEMPTION".equals(token.cause())) {
                    assertThat(preempted).contains(key);
                }
            });
        }
    }

    @Test
    void prefillsNameTheBigPromptAndNoKvPressure() throws Exception {
        CaptureAnalysis analysis = analysis("prefill_interference");
        analysis.tokens.values().stream()
                .filter(token -> token.requestId().startsWith("victim")
                        && token.gapNanos() != null
                        && token.gapNanos() > 80_000_000L
                        && token.tokenIndex() > 0)
                .forEach(token -> {
                    assertThat(token.cause()).isEqualTo("PREFILL_INTERFERENCE");
                    assertThat(token.culpritRequestId()).startsWith("intruder");
                });
        assertThat(analysis.findings).noneMatch(finding -> finding.cause().equals("KV_PRESSURE"));
        assertThat(severe(analysis)).extracting(Finding::culpritRequestId).contains("intruder-0", "intruder-1");
    }

    @Test
    void aStoppedEngineIsAHostPauseAndAWarning() throws Exception {
        CaptureAnalysis analysis = analysis("host_pause");
        Truth truth = Truth.of("host_pause");
        truth.summary
                .get("affected_tokens")
                .get("engine_paused")
                .fields()
                .forEachRemaining(stream -> stream.getValue()
                        .forEach(index -> assertThat(token(analysis, stream.getKey(), index.asInt())
                                        .cause())
                                .isEqualTo("HOST_PAUSE")));
        assertThat(severe(analysis)).hasSize(3).allSatisfy(finding -> {
            assertThat(finding.cause()).isEqualTo("HOST_PAUSE");
            assertThat(finding.severity()).isEqualTo("warning");
        });
    }

    @Test
    void aGrowingContextIsASlopeAndNoStaircase() throws Exception {
        CaptureAnalysis analysis = analysis("context_growth");
        assertThat(request(analysis, "growth-turn-0").requestCauses()).contains("CONTEXT_GROWTH");
        assertThat(analysis.findings)
                .noneMatch(finding -> finding.cause().equals("CONTEXT_STAIRCASE")
                        || finding.cause().equals("KV_PRESSURE")
                        || finding.cause().equals("PREEMPTION"));
    }

    @Test
    void noRecordedRunIsAStaircase() throws Exception {
        for (String capture : captures()) {
            assertThat(analysis(capture).findings)
                    .as(capture)
                    .noneMatch(finding -> finding.cause().equals("CONTEXT_STAIRCASE"));
        }
    }

    @Test
    void onlyTheFirstToAskAfterTheEvictionLostItsPrefix() throws Exception {
        CaptureAnalysis analysis = analysis("prefix_eviction");
        analysis.requests.forEach(
                (name, request) -> assertThat(request.requestCauses().contains("PREFIX_HIT_COLLAPSE"))
                        .as(name)
                        .isEqualTo(request.requestId().equals("share-4")));
        assertThat(token(analysis, "share-4", 0).state()).isEqualTo("kv-miss");
        assertThat(token(analysis, "share-0", 0).state()).isNotEqualTo("kv-miss");
        assertThat(analysis.findings)
                .filteredOn(finding -> finding.cause().equals("PREFIX_HIT_COLLAPSE"))
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.requestId()).isEqualTo("share-4");
                    assertThat(finding.severity()).isEqualTo("warning");
                    assertThat(finding.evidence()).isNotEmpty();
                });
    }

    @Test
    void abortsErrorsAndTwoSequencesKeepApart() throws Exception {
        CaptureAnalysis analysis = analysis("abort_and_n2");
        assertThat(analysis.requests).containsKeys("two#0", "two#1");
        assertThat(request(analysis, "two").tokenCount()).isEqualTo(120);
        RequestAnalysis leaver = request(analysis, "leaver");
        assertThat(leaver.endReason()).isEqualTo("aborted-by-client");
        assertThat(leaver.tokenCount()).isEqualTo(40);
        assertThat(leaver.ttftNanos()).isEqualTo(21_183_178L);
        assertThat(leaver.requestCauses()).contains("CLIENT_ABORT");
        RequestAnalysis early = request(analysis, "leaver-early");
        assertThat(early.endReason()).isEqualTo("aborted-by-client");
        assertThat(early.ttftNanos()).isNull();
        assertThat(early.tpotNanos()).isNull();
        for (String refused : List.of("bad-max-tokens", "bad-too-long", "bad-model")) {
            assertThat(request(analysis, refused).endReason()).isEqualTo("error");
            assertThat(request(analysis, refused).errorType()).isNotNull();
            assertThat(request(analysis, refused).missingLayers()).isEmpty();
        }
    }

    @Test
    void severalTokensOfOneEventAreNoStall() throws Exception {
        CaptureAnalysis analysis = analysis("stream_interval");
        assertThat(request(analysis, "merged-0").requestCauses()).contains("MULTI_TOKEN_CHUNK");
        assertThat(severe(analysis)).isEmpty();
    }

    @Test
    void waitingForASeatIsTheSeatLimit() throws Exception {
        CaptureAnalysis analysis = analysis("priority");
        for (String waiting : List.of("high-2", "high-3", "latelow-0", "latelow-1")) {
            assertThat(token(analysis, waiting, 0).cause()).as(waiting).isEqualTo("SEAT_LIMIT");
        }
    }

    @Test
    void warmUpsAreListedAndNotAnalysed() throws Exception {
        CaptureAnalysis analysis = analysis("quiet");
        assertThat(request(analysis, "warm-0").warmup()).isTrue();
        assertThat(analysis.tokens.keySet()).noneMatch(key -> key.startsWith("warm"));
        assertThat(analysis.findings)
                .noneMatch(finding -> String.valueOf(finding.requestId()).startsWith("warm"));
    }
}
