package io.tokenstair.job.request;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Confidence;
import io.tokenstair.cause.Part;
import io.tokenstair.cause.Severity;
import io.tokenstair.job.finding.Findings;
import io.tokenstair.job.staircase.Rise;
import io.tokenstair.job.staircase.StaircaseDetector;
import io.tokenstair.job.staircase.StaircaseShape;
import io.tokenstair.job.staircase.StaircaseVerdict;
import io.tokenstair.narrative.Milliseconds;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What is concluded of a sequence when it closes. */
final class RequestFindings {
    private static final int LOOP_PREEMPTIONS = 3;
    private static final int GROWTH_TOKENS = 200;
    private static final double GROWTH_SHARE = 0.15;
    private static final double GROWTH_CORRELATION = 0.4;
    private static final double GROWTH_ERRORS = 20;

    private final String requestId;
    private final RequestOutput output;
    private final DeliveryFindings deliveries;

    RequestFindings(String requestId, RequestOutput output) {
        this.requestId = requestId;
        this.output = output;
        this.deliveries = new DeliveryFindings(requestId, output);
    }

    /** What is concluded of a sequence when it closes, and the causes that its request carries. */
    void findings(
            LifetimeState lifetime,
            SequenceLife sequence,
            int index,
            boolean abortedByClient,
            List<String> missing,
            TreeSet<Cause> requestCauses) {
        for (SlowGroup group : sequence.groups) {
            output.finding(slowFinding(lifetime, sequence, index, group, missing));
        }
        deliveries.findings(lifetime, sequence, index, missing, requestCauses);
        if (abortedByClient) {
            boolean closed = "client-closed".equals(lifetime.outcome());
            String abort = closed ? lifetime.completedEventId() : sequence.finishedEventId;
            requestCauses.add(Cause.CLIENT_ABORT);
            output.finding(requestFinding(
                    lifetime,
                    sequence,
                    index,
                    "client-abort",
                    Cause.CLIENT_ABORT,
                    Severity.INFO,
                    Confidence.ESTABLISHED,
                    closed ? "the client closed the stream" : "the engine recorded an abort",
                    null,
                    evidence(abort),
                    missing,
                    "The client ended the stream after " + sequence.tokenCount + " tokens" + cite(abort) + "."));
        }
        if (sequence.multiToken) {
            requestCauses.add(Cause.MULTI_TOKEN_CHUNK);
        }
        if (lifetime.roleChunk) {
            requestCauses.add(Cause.ROLE_CHUNK);
        }
        loop(lifetime, sequence, index, missing, requestCauses);
        overtaken(lifetime, sequence, index, missing, requestCauses);
        if (TokenRows.isPrefixLost(sequence)) {
            requestCauses.add(Cause.PREFIX_HIT_COLLAPSE);
            boolean evicted = sequence.prefixEvidence.size() > 1;
            String by = sequence.prefixEvictedFor == null
                    ? evicted ? "" : "; no eviction of them is recorded"
                    : "; they were evicted while " + sequence.prefixEvictedFor + " was computed";
            String pool = sequence.prefixPoolPercent == null
                    ? ""
                    : "; " + sequence.prefixPoolPercent + " % of the KV pool were in use";
            output.finding(requestFinding(
                    lifetime,
                    sequence,
                    index,
                    "prefix-hit-collapse",
                    Cause.PREFIX_HIT_COLLAPSE,
                    Severity.of(sequence.firstLostNanos, sequence.firstLostNanos, 1, sequence.tokenCount),
                    Confidence.ESTABLISHED,
                    evicted
                            ? "the same block hashes were stored, evicted and stored again"
                            : "the same block hashes were stored before and are stored again",
                    sequence.prefixEvictedFor,
                    sequence.prefixEvidence,
                    missing,
                    sequence.prefixRecomputedTokens + " of its " + sequence.promptTokens
                            + " prompt tokens had been cached before and were computed again; "
                            + (sequence.cachedTokens == null ? 0 : sequence.cachedTokens) + " were found" + by + pool
                            + cite(sequence.prefixEvidence.isEmpty() ? "" : sequence.prefixEvidence.get(0)) + "."));
        }
        growth(lifetime, sequence, index, missing, requestCauses);
        staircase(lifetime, sequence, index, missing, requestCauses);
    }

    private void loop(
            LifetimeState lifetime,
            SequenceLife sequence,
            int index,
            List<String> missing,
            TreeSet<Cause> requestCauses) {
        long gained = sequence.lastPreemptedOutputTokens - sequence.firstPreemptedOutputTokens;
        if (sequence.preemptions < LOOP_PREEMPTIONS
                || !sequence.recomputedBetweenKnown
                || sequence.recomputedBetweenTokens <= gained) {
            return;
        }
        requestCauses.add(Cause.PREEMPTION_LOOP);
        output.finding(requestFinding(
                lifetime,
                sequence,
                index,
                "preemption-loop",
                Cause.PREEMPTION_LOOP,
                preemptionSeverity(sequence),
                Confidence.ESTABLISHED,
                "its preemption records",
                sequence.kvHolder,
                sequence.preemptionEvidence,
                missing,
                "It was preempted " + sequence.preemptions + " times and between them computed "
                        + sequence.recomputedBetweenTokens + " tokens again while it gained " + gained
                        + (sequence.discardedKnown
                                ? "; in all, " + sequence.discardedTokens + " computed tokens were discarded"
                                : "")
                        + (sequence.kvHolder == null
                                ? ""
                                : "; most of the other KV space was held by " + sequence.kvHolder)
                        + cite(String.join(", ", sequence.preemptionEvidence)) + "."));
    }

    private void overtaken(
            LifetimeState lifetime,
            SequenceLife sequence,
            int index,
            List<String> missing,
            TreeSet<Cause> requestCauses) {
        if (sequence.overtakenBy == null) {
            return;
        }
        requestCauses.add(Cause.PREEMPTED_THEN_OVERTAKEN);
        output.finding(requestFinding(
                lifetime,
                sequence,
                index,
                "preempted-then-overtaken",
                Cause.PREEMPTED_THEN_OVERTAKEN,
                preemptionSeverity(sequence),
                Confidence.ESTABLISHED,
                "preemption record and the order of scheduling",
                sequence.overtakenBy,
                sequence.overtakenEvidence,
                missing,
                "It was preempted"
                        + (sequence.overtakenDiscardedTokens == null
                                ? ""
                                : " with " + sequence.overtakenDiscardedTokens + " computed tokens")
                        + ", and while it waited " + sequence.overtakenBy
                        + ", which is no more urgent and had started later or not at all, ran first"
                        + (sequence.overtakenCount > 1
                                ? "; so it went after " + sequence.overtakenCount + " of its preemptions"
                                : "")
                        + cite(String.join(", ", sequence.overtakenEvidence)) + "."));
    }

    /** By what its preemptions cost its tokens, and the token that has not come yet. */
    private static Severity preemptionSeverity(SequenceLife sequence) {
        long most = 0;
        long sum = 0;
        long tokens = 0;
        for (SlowGroup group : sequence.groups) {
            if (group.cause.equals(Cause.PREEMPTION.name())) {
                most = Math.max(most, group.mostLostNanos);
                sum += group.sumLostNanos;
                tokens += group.tokens;
            }
        }
        Long since = sequence.tokenCount > 0 ? Long.valueOf(sequence.lastEndNanos) : sequence.queuedNanos;
        if (since != null && sequence.lastFactNanos != null && sequence.lastFactNanos > since) {
            long pending = sequence.lastFactNanos - since;
            most = Math.max(most, pending);
            sum += pending;
            tokens++;
        }
        return Severity.of(most, sum, tokens, sequence.tokenCount + 1);
    }

    private static List<String> evidence(String id) {
        return id.isEmpty() ? List.of() : List.of(id);
    }

    private static String cite(String id) {
        return id.isEmpty() ? "" : " [" + id + "]";
    }

    private void growth(
            LifetimeState lifetime,
            SequenceLife sequence,
            int index,
            List<String> missing,
            TreeSet<Cause> requestCauses) {
        long n = sequence.growthCount;
        if (n < GROWTH_TOKENS) {
            return;
        }
        double meanX = (double) sequence.growthX / n;
        double meanY = (double) sequence.growthY / n;
        double xx = sequence.growthXx - n * meanX * meanX;
        double xy = sequence.growthXy - n * meanX * meanY;
        double yy = sequence.growthYy - n * meanY * meanY;
        if (xx <= 0 || yy <= 0) {
            return;
        }
        double slopeMicros = xy / xx;
        double correlation = xy / StrictMath.sqrt(xx * yy);
        double atStart = meanY + slopeMicros * (sequence.growthLeastContext - meanX);
        double rise = slopeMicros * (sequence.growthMostContext - sequence.growthLeastContext);
        double residuals = (1 - correlation * correlation) * yy;
        double slopeErrors =
                residuals <= 0 ? Double.MAX_VALUE : slopeMicros / StrictMath.sqrt(residuals / (n - 2) / xx);
        double modelShare = slopeMicros <= 0 ? 0 : sequence.residentNanosPerToken / 1e3 / slopeMicros;
        boolean modelAgrees = modelShare >= 0.5 && modelShare <= 2;
        if (atStart <= 0
                || rise < GROWTH_SHARE * atStart
                || slopeErrors < GROWTH_ERRORS
                || correlation < GROWTH_CORRELATION
                || !modelAgrees) {
            return;
        }
        requestCauses.add(Cause.CONTEXT_GROWTH);
        output.finding(requestFinding(
                lifetime,
                sequence,
                index,
                "context-growth",
                Cause.CONTEXT_GROWTH,
                Severity.INFO,
                Confidence.CONSISTENT_WITH,
                "gap rises in a line with the request's own context, and the engine's model has that slope",
                null,
                List.of(),
                missing,
                String.format(
                        Locale.ROOT,
                        "The gap rose from %.1f ms at %d tokens of context to %.1f ms at %d: a slope of %.2f ms per 1000 tokens"
                                + " (r %.2f), no step.",
                        atStart / 1e3,
                        sequence.growthLeastContext,
                        (atStart + rise) / 1e3,
                        sequence.growthMostContext,
                        slopeMicros,
                        correlation)));
    }

    private void staircase(
            LifetimeState lifetime,
            SequenceLife sequence,
            int index,
            List<String> missing,
            TreeSet<Cause> requestCauses) {
        StaircaseVerdict verdict = StaircaseDetector.COMPACT.verdict(sequence.staircase);
        if (verdict.shape() != StaircaseShape.STAIRCASE) {
            return;
        }
        requestCauses.add(Cause.CONTEXT_STAIRCASE);
        StringBuilder rises = new StringBuilder();
        for (Rise rise : verdict.rises()) {
            rises.append(rises.isEmpty() ? "" : ", ")
                    .append(String.format(
                            Locale.ROOT, "token %d (+%.0f %%)", rise.onsetIndex(), 100 * rise.levelChangeRatio()));
        }
        output.finding(requestFinding(
                lifetime,
                sequence,
                index,
                "context-staircase",
                Cause.CONTEXT_STAIRCASE,
                Severity.WARNING,
                verdict.kvDriven() ? Confidence.ESTABLISHED : Confidence.CONSISTENT_WITH,
                verdict.kvDriven() ? "KV events are enriched at the rises" : "cause unproven: the shape alone",
                null,
                List.of(),
                missing,
                "The token time rose in " + verdict.riseCount() + " lasting steps beyond what the model expects: "
                        + rises + (verdict.kvDriven() ? "." : "; cause unproven.")));
    }

    private Finding slowFinding(
            LifetimeState lifetime, SequenceLife sequence, int index, SlowGroup group, List<String> missing) {
        List<String> layers = missing;
        if (group.cause.equals(Cause.UNRESOLVED_STALL.name()) && sequence.fromEngine && !sequence.gpuReported) {
            layers = new ArrayList<>(missing);
            layers.add("gpu");
        }
        Severity severity = Severity.of(group.mostLostNanos, group.sumLostNanos, group.tokens, sequence.tokenCount);
        List<String> names = new ArrayList<>();
        List<Long> nanos = new ArrayList<>();
        for (int ordinal = 0; ordinal < Part.COUNT; ordinal++) {
            if ((group.partMask & 1 << ordinal) != 0) {
                names.add(Part.ofOrdinal(ordinal).partName());
                nanos.add(group.partNanos[ordinal]);
            }
        }
        String which = group.tokens == 1
                ? "Token " + group.firstTokenIndex
                : group.tokens + " tokens from " + group.firstTokenIndex + " to " + group.lastTokenIndex;
        String worst = group.tokens == 1
                ? ""
                : ", most at token " + group.worstTokenIndex + " (" + Milliseconds.text(group.mostLostNanos) + ")";
        String headline = which + " lost " + Milliseconds.text(group.sumLostNanos) + worst + ".";
        String narrative = group.worstChain.isEmpty() ? headline : headline + " " + String.join(" ", group.worstChain);
        return Findings.identified(new Finding(
                "",
                "slow-token",
                1,
                group.cause,
                severity.severityName(),
                sequence.engines.isEmpty() ? null : sequence.engines.get(0),
                requestId,
                lifetime.ordinal,
                index,
                group.fromEpochNanos,
                group.toEpochNanos,
                group.boundNanos,
                group.firstTokenIndex,
                group.lastTokenIndex,
                group.culpritRequestId,
                group.confidence,
                group.confidenceWhy,
                group.evidence,
                layers,
                names,
                nanos,
                narrative,
                group.sigmaNanos));
    }

    private Finding requestFinding(
            LifetimeState lifetime,
            SequenceLife sequence,
            int index,
            String rule,
            Cause cause,
            Severity severity,
            Confidence confidence,
            String why,
            @Nullable String culprit,
            List<String> evidence,
            List<String> missing,
            String narrative) {
        return Findings.identified(new Finding(
                "",
                rule,
                1,
                cause.name(),
                severity.severityName(),
                sequence.engines.isEmpty() ? null : sequence.engines.get(0),
                requestId,
                lifetime.ordinal,
                index,
                sequence.fromEpochNanos,
                sequence.toEpochNanos,
                sequence.boundNanos,
                sequence.tokenCount == 0 ? null : Integer.valueOf(0),
                sequence.tokenCount == 0 ? null : Integer.valueOf((int) sequence.tokenCount - 1),
                culprit,
                confidence.levelName(),
                why,
                evidence,
                missing,
                List.of(),
                List.of(),
                narrative,
                sequence.sigmaNanos));
    }
}
