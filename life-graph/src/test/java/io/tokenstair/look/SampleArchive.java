package io.tokenstair.look;

import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.LayerReport;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.cause.Part;
import io.tokenstair.look.archive.ResultTableFixture;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A small archive of one engine's run in which every token state, a missing layer, several sequences, requests without a token and
 * hostile ids occur. Gaps follow from steps that the sequences share, so parts add up and a token's step leads to its neighbours.
 */
public final class SampleArchive {
    public static final String ENGINE = "engine-0";
    public static final String PREEMPTED = "chat-2";
    public static final int PREEMPTED_TOKEN = 96;
    public static final String HOSTILE = "<script>alert(1)</script>\u001b[31m\u202e&\"'";
    public static final String LONGEST = "long-" + "x".repeat(251);
    public static final String UNSEEN_BY_ENGINE = "proxy-7";
    public static final long START_EPOCH_NANOS = 1_795_946_400_000_000_000L;
    /** A token whose delivery was seen on another clock, joined no better than it took. */
    static final int UNDECIDABLE_TOKEN = 97;

    private static final Long HOUR_MILLIS = START_EPOCH_NANOS / 1_000_000L;

    private static final long REFERENCE_NANOS = 20_000_000L;
    private static final int STEPS = 340;
    private static final int FIRST_STEP_ID = 4000;
    private static final int PREFILL_STEP = 80;
    private static final int PAUSE_STEP = 150;
    private static final int UNRESOLVED_STEP = 280;
    private static final int PREEMPTED_FROM_STEP = 117;
    private static final int RESUMED_STEP = 190;

    private final List<TokenAnalysis> tokens = new ArrayList<>();
    private final List<RequestAnalysis> requests = new ArrayList<>();
    private final List<StepAnalysis> steps = new ArrayList<>();
    private final List<Finding> findings = new ArrayList<>();
    private final List<EnumMap<Part, Long>> stepParts = new ArrayList<>();
    private final List<Long> stepEnds = new ArrayList<>();
    private final Map<String, int[]> members = new LinkedHashMap<>();
    private long noise = 42;

    private SampleArchive() {}

    /** Writes the archive into the folder named by the first argument, to look at it by hand. */
    public static void main(String[] arguments) {
        write(Path.of(arguments[0]));
    }

    /** Writes the archive into a folder. */
    public static void write(Path directory) {
        SampleArchive sample = new SampleArchive();
        sample.build();
        ResultTableFixture.write(directory, ResultTables.TOKEN_ANALYSIS, HOUR_MILLIS, sample.tokens);
        ResultTableFixture.write(directory, ResultTables.REQUEST_ANALYSIS, HOUR_MILLIS, sample.requests);
        ResultTableFixture.write(directory, ResultTables.STEP_ANALYSIS, HOUR_MILLIS, sample.steps);
        ResultTableFixture.write(directory, ResultTables.FINDING, HOUR_MILLIS, sample.findings);
        ResultTableFixture.write(
                directory,
                ResultTables.LAYER_REPORT,
                HOUR_MILLIS,
                List.of(
                        new LayerReport(null, "client", true, 640, 0),
                        new LayerReport(ENGINE, "steps", true, STEPS, 0),
                        new LayerReport(ENGINE, "kv-events", true, 211, 2),
                        new LayerReport(ENGINE, "spans", false, 0, 0)));
    }

    private void build() {
        // A sequence runs in the steps from its first to its last (exclusive).
        members.put("chat-1", new int[] {0, STEPS});
        members.put(PREEMPTED, new int[] {21, STEPS});
        members.put("doc-1", new int[] {PREFILL_STEP, PREFILL_STEP + 12});
        members.put("share-5", new int[] {230, 254});
        members.put("fan-out", new int[] {260, 280});
        members.put("fan-out#1", new int[] {260, 280});
        members.put("late-3", new int[] {30, 62});
        members.put(HOSTILE, new int[] {290, 300});
        members.put(LONGEST, new int[] {300, 306});
        runSteps();
        members.forEach((name, span) -> {
            int choice = name.endsWith("#1") ? 1 : 0;
            sequence(name.replace("#1", ""), choice, span[0], span[1]);
        });
        deliveredOnly();
        requests.add(new RequestAnalysis(
                "refused-1",
                0,
                0,
                List.of(),
                List.of(),
                "complete",
                "error",
                null,
                null,
                0L,
                9000L,
                null,
                null,
                null,
                List.of(),
                false,
                START_EPOCH_NANOS + 700_000_000L,
                START_EPOCH_NANOS + 703_000_000L,
                null,
                List.of(),
                "HTTP 400"));
        requests.add(new RequestAnalysis(
                "warm-up-1",
                0,
                0,
                List.of(),
                List.of(ENGINE),
                "complete",
                "length",
                null,
                null,
                0L,
                4L,
                0L,
                0,
                null,
                List.of(),
                true,
                null,
                null,
                null,
                List.of(),
                null));
        findings();
    }

    private boolean runs(String name, int[] span, int step) {
        boolean away = name.equals(PREEMPTED) && step >= PREEMPTED_FROM_STEP && step < RESUMED_STEP;
        return step >= span[0] && step < span[1] && !away;
    }

    private void runSteps() {
        long end = START_EPOCH_NANOS;
        for (int step = 0; step < STEPS; step++) {
            int current = step;
            int batch = (int) members.entrySet().stream()
                    .filter(member -> runs(member.getKey(), member.getValue(), current))
                    .count();
            EnumMap<Part, Long> parts = new EnumMap<>(Part.class);
            parts.put(Part.REFERENCE, REFERENCE_NANOS);
            parts.put(Part.BATCH, (batch - 2) * 640_000L);
            parts.put(Part.CONTEXT, step * 9_100L - 1_200_000L);
            if (step == PREFILL_STEP || step == PREFILL_STEP + 1) {
                parts.put(Part.PREFILL, 187_400_000L);
            }
            if (step == RESUMED_STEP) {
                parts.put(Part.RECOMPUTE_OTHER, 61_300_000L);
            }
            if (step == PAUSE_STEP) {
                parts.put(Part.HOST_PAUSE, 2_412_000_000L);
            }
            if (step == UNRESOLVED_STEP) {
                parts.put(Part.UNEXPLAINED, 88_000_000L);
            } else {
                parts.put(Part.UNEXPLAINED, nextNoise());
            }
            if (step == 230) {
                parts.put(Part.PREFILL, 33_000_000L);
            }
            long nanos = parts.values().stream().mapToLong(Long::longValue).sum();
            end += nanos;
            stepParts.add(parts);
            stepEnds.add(end);
            long unexplained = parts.getOrDefault(Part.UNEXPLAINED, 0L) + parts.getOrDefault(Part.HOST_PAUSE, 0L);
            steps.add(new StepAnalysis(
                    ENGINE,
                    0,
                    FIRST_STEP_ID + step,
                    end,
                    12_000L,
                    nanos,
                    150_000L,
                    nanos - unexplained,
                    REFERENCE_NANOS,
                    batch,
                    batch,
                    2_000L + 40L * step,
                    parts.containsKey(Part.PREFILL) ? 4_096L : 0L,
                    step == RESUMED_STEP ? 1_311L : 0L,
                    batch,
                    step > 116 && step < 190 ? 1 : 0,
                    380L + step,
                    1_024L,
                    90_000L,
                    null,
                    null,
                    null,
                    batch,
                    null,
                    0L,
                    null,
                    null,
                    null,
                    null,
                    null,
                    420L));
        }
    }

    private long nextNoise() {
        noise = noise * 6364136223846793005L + 1442695040888963407L;
        return (noise >>> 40) % 1_900_000L - 900_000L;
    }

    private void sequence(String requestId, int choice, int first, int last) {
        int index = 0;
        int previous = -1;
        long gapSum = 0;
        boolean late = requestId.equals("late-3");
        long deliveredBefore = 0;
        for (int step = first; step < last; step++) {
            if (!runs(requestId, new int[] {first, last}, step)) {
                continue;
            }
            EnumMap<Part, Long> parts = new EnumMap<>(stepParts.get(step));
            if (index == 0) {
                parts.put(Part.QUEUE_WAIT, 3_250_000L);
            }
            if (previous >= 0 && step - previous > 1) {
                long waited = stepEnds.get(step - 1) - stepEnds.get(previous);
                parts.put(Part.PREEMPTED_WAIT, waited);
                parts.put(Part.RECOMPUTE_OWN, parts.remove(Part.RECOMPUTE_OTHER));
            }
            TokenAnalysis token = token(requestId, choice, index, step, parts, late, deliveredBefore);
            deliveredBefore = token.deliveredEpochNanos() == null ? 0 : token.deliveredEpochNanos();
            tokens.add(token);
            gapSum += index == 0 || token.gapNanos() == null ? 0 : token.gapNanos();
            previous = step;
            index++;
        }
        boolean preempted = requestId.equals(PREEMPTED);
        boolean collapsed = requestId.equals("share-5");
        requests.add(new RequestAnalysis(
                requestId,
                0,
                choice,
                List.of("cmpl-" + (requestId.length() > 20 ? "unusual" : requestId) + "-" + choice),
                List.of(ENGINE),
                "complete",
                "length",
                31_000_000L,
                index < 2 ? null : gapSum / (index - 1),
                (long) index,
                requestId.equals("doc-1") ? 8_192L : 512L,
                collapsed ? 0L : 256L,
                preempted ? 1 : 0,
                preempted ? 1_311L : null,
                collapsed ? List.of("PREFIX_HIT_COLLAPSE") : List.of(),
                false,
                stepEnds.get(first) - 40_000_000L,
                stepEnds.get(last - 1) + 1_000_000L,
                0,
                List.of(),
                null));
    }

    private TokenAnalysis token(
            String requestId,
            int choice,
            int index,
            int step,
            EnumMap<Part, Long> parts,
            boolean late,
            long deliveredBefore) {
        long gap = parts.values().stream().mapToLong(Long::longValue).sum();
        long stalled = parts.getOrDefault(Part.HOST_PAUSE, 0L)
                + parts.getOrDefault(Part.UNEXPLAINED, 0L)
                + parts.getOrDefault(Part.PREEMPTED_WAIT, 0L)
                + parts.getOrDefault(Part.QUEUE_WAIT, 0L);
        String state = "normal";
        String cause = null;
        String culprit = null;
        String confidence = null;
        String why = null;
        List<String> evidence = new ArrayList<>();
        List<String> chain = new ArrayList<>();
        String stepEvent = "vllm-0/1/" + (9_000 + step);
        if (parts.containsKey(Part.PREEMPTED_WAIT)) {
            state = "recompute";
            cause = "PREEMPTION";
            culprit = "chat-1";
            confidence = "established";
            why = "a preemption record names the sequence";
            evidence.addAll(List.of("preempted-wait", "vllm-0/1/8117", "recompute-own", stepEvent));
            chain.add("chat-1 took the last free KV blocks in step 4117. [vllm-0/1/9117]");
            chain.add("The scheduler preempted chat-2 and discarded 1,311 tokens. [vllm-0/1/8117]");
            chain.add("It waited 73 steps without blocks, then computed its tokens again. [vllm-0/1/8190, " + stepEvent
                    + "]");
        } else if (parts.containsKey(Part.HOST_PAUSE)) {
            state = "stalled";
            cause = "HOST_PAUSE";
            confidence = "established";
            why = "the engine's threads neither ran nor waited for a core";
            evidence.addAll(List.of("host-pause", "vllm-0/1/77"));
            chain.add("No thread of the engine ran for 2.41 s. [vllm-0/1/77, vllm-0/1/78]");
        } else if (requestId.equals("share-5") && index == 0) {
            state = "kv-miss";
            cause = "PREFILL_INTERFERENCE";
            confidence = "established";
            why = "the step record counts the prompt tokens";
            evidence.addAll(List.of("prefill", stepEvent));
            chain.add("256 prompt tokens that had been cached were computed again. [" + stepEvent + "]");
        } else if (parts.getOrDefault(Part.PREFILL, 0L) > 100_000_000L && !requestId.equals("doc-1")) {
            state = "stalled";
            cause = "PREFILL_INTERFERENCE";
            culprit = "doc-1";
            confidence = "consistent-with";
            why = "the model was cold";
            evidence.addAll(List.of("prefill", stepEvent));
            chain.add("The step also computed 4,096 prompt tokens of doc-1. [" + stepEvent + "]");
        } else if (parts.getOrDefault(Part.RECOMPUTE_OTHER, 0L) > 0) {
            state = "stalled";
            cause = "RECOMPUTE";
            culprit = PREEMPTED;
            confidence = "established";
            why = "the step record counts the recomputed tokens";
            evidence.addAll(List.of("recompute-other", stepEvent));
            chain.add("The step computed 1,311 tokens of chat-2 again. [" + stepEvent + "]");
        } else if (step == UNRESOLVED_STEP) {
            state = "stalled";
            cause = "UNRESOLVED_STALL";
            confidence = "unresolved";
            why = "no record covers the time";
            chain.add("88.0 ms of the step are covered by no record. [" + stepEvent + "]");
        }
        long produced = stepEnds.get(step);
        long output = 210_000L;
        long gateway = 90_000L;
        String deliveryCause = null;
        if (late && index % 8 != 7) {
            // Held until the eighth token of the group is made.
            int release = Math.min(61, step + 7 - index % 8);
            gateway = stepEnds.get(release) - produced + 90_000L;
            deliveryCause = "GATEWAY_BUFFERING";
        }
        long delivered = Math.max(deliveredBefore, produced + output + gateway);
        gateway = delivered - produced - output;
        return new TokenAnalysis(
                requestId,
                0,
                choice,
                index,
                ENGINE,
                (long) FIRST_STEP_ID + step,
                produced,
                delivered,
                12_000L,
                "produced",
                gap,
                gap - stalled,
                REFERENCE_NANOS,
                gap - REFERENCE_NANOS,
                512 + index,
                steps.get(step).batchSequences(),
                state,
                cause,
                culprit,
                confidence,
                why,
                parts.get(Part.REFERENCE),
                parts.get(Part.QUEUE_WAIT),
                parts.get(Part.PREEMPTED_WAIT),
                null,
                null,
                parts.get(Part.BATCH),
                parts.get(Part.CONTEXT),
                parts.get(Part.PREFILL),
                parts.get(Part.RECOMPUTE_OWN),
                parts.get(Part.RECOMPUTE_OTHER),
                null,
                null,
                null,
                null,
                null,
                null,
                parts.get(Part.HOST_PAUSE),
                null,
                parts.get(Part.UNEXPLAINED),
                output + gateway,
                output,
                gateway,
                null,
                null,
                null,
                deliveryCause,
                evidence,
                chain,
                List.of(),
                index == UNDECIDABLE_TOKEN ? 500_000L : 0L,
                cause == null ? null : "anomaly",
                180L,
                index == UNDECIDABLE_TOKEN ? 250L : 0L);
    }

    /** A request that only its client recorded: gaps by arrival, no parts, one stamp lost. */
    private void deliveredOnly() {
        List<String> missing = List.of("steps", "kv-events");
        long delivered = START_EPOCH_NANOS + 900_000_000L;
        for (int index = 0; index < 30; index++) {
            long gap = 24_000_000L + index * 35_000L;
            delivered += gap;
            boolean lost = index == 11 || index == 12;
            tokens.add(new TokenAnalysis(
                    UNSEEN_BY_ENGINE,
                    0,
                    0,
                    index,
                    null,
                    null,
                    null,
                    lost ? null : delivered,
                    null,
                    lost ? null : "delivered",
                    lost ? null : gap,
                    null,
                    null,
                    null,
                    null,
                    null,
                    "unknown",
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    List.of(),
                    List.of(),
                    missing,
                    null));
        }
        requests.add(new RequestAnalysis(
                UNSEEN_BY_ENGINE,
                0,
                0,
                List.of(),
                List.of(),
                "gap",
                "stop",
                24_000_000L,
                24_500_000L,
                30L,
                null,
                null,
                null,
                null,
                List.of(),
                false,
                START_EPOCH_NANOS + 900_000_000L,
                delivered,
                null,
                missing,
                null));
    }

    private void findings() {
        TokenAnalysis preempted = tokens.stream()
                .filter(token -> token.requestId().equals(PREEMPTED) && token.tokenIndex() == PREEMPTED_TOKEN)
                .findFirst()
                .orElseThrow();
        findings.add(new Finding(
                "3f1c9a",
                "kv-pressure-recompute",
                1,
                "PREEMPTION",
                "critical",
                ENGINE,
                PREEMPTED,
                0,
                0,
                stepEnds.get(PREEMPTED_FROM_STEP - 1),
                preempted.producedEpochNanos(),
                12_000L,
                PREEMPTED_TOKEN,
                PREEMPTED_TOKEN,
                "chat-1",
                "established",
                "a preemption record names the sequence",
                List.of("vllm-0/1/8117", "vllm-0/1/8190"),
                List.of(),
                List.of("reference", "preempted-wait", "recompute-own"),
                List.of(
                        preempted.partReferenceNanos(),
                        preempted.partPreemptedWaitNanos(),
                        preempted.partRecomputeOwnNanos()),
                "chat-2 lost its KV blocks to chat-1, waited 73 steps and computed 1,311 tokens again [vllm-0/1/8117]"
                        + " [vllm-0/1/8190]."));
        findings.add(new Finding(
                "a07b11",
                "host-pause",
                1,
                "HOST_PAUSE",
                "critical",
                ENGINE,
                null,
                null,
                null,
                stepEnds.get(PAUSE_STEP - 1),
                stepEnds.get(PAUSE_STEP),
                12_000L,
                null,
                null,
                null,
                "established",
                "the engine's threads neither ran nor waited for a core",
                List.of("vllm-0/1/77"),
                List.of("spans"),
                List.of("reference", "host-pause"),
                List.of(REFERENCE_NANOS, 2_412_000_000L),
                "No thread of engine-0 ran for 2.41 s [vllm-0/1/77]."));
        findings.add(new Finding(
                "c4d2e0",
                "prefill-interference",
                2,
                "PREFILL_INTERFERENCE",
                "warning",
                ENGINE,
                "chat-1",
                0,
                0,
                stepEnds.get(PREFILL_STEP - 1),
                stepEnds.get(PREFILL_STEP + 1),
                12_000L,
                80,
                81,
                "doc-1",
                "consistent-with",
                "the model was cold",
                List.of("vllm-0/1/9080", "vllm-0/1/9081"),
                List.of(),
                List.of("reference", "prefill"),
                List.of(40_000_000L, 374_800_000L),
                "Two steps of chat-1 also computed prompt tokens of doc-1 [vllm-0/1/9080] [vllm-0/1/9081]."));
        findings.add(new Finding(
                "77aa00",
                "client-timing",
                1,
                "UNRESOLVED_STALL",
                "info",
                null,
                UNSEEN_BY_ENGINE,
                0,
                0,
                null,
                null,
                null,
                null,
                null,
                null,
                "unresolved",
                "no engine record",
                List.of(),
                List.of("steps", "kv-events"),
                List.of(),
                List.of(),
                "The engine of proxy-7 did not report."));
    }
}
