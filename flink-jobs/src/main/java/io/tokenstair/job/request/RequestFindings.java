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
import io.tokenstair.narrative.Phrase;
import io.tokenstair.narrative.Tale;
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
    private final RequestMilestones milestones;

    RequestFindings(String requestId, RequestOutput output, RequestMilestones milestones) {
        this.milestones = milestones;
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
            milestones.concluded(Cause.CLIENT_ABORT, lifetime, sequence, LifetimeState.CLIENT, evidence(abort));
            output.finding(requestFinding(
                    lifetime,
                    sequence,
                    index,
                    "client-abort",
                    Cause.CLIENT_ABORT,
                    Severity.INFO,
                    Confidence.ESTABLISHED,
                    closed ? Phrase.WHY_CLIENT_CLOSED.say() : Phrase.WHY_ENGINE_ABORTED.say(),
                    LifetimeState.CLIENT,
                    evidence(abort),
                    missing,
                    new Tale().say(Phrase.CLIENT_ENDED.say(sequence.tokenCount), abort)));
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
            List<String> lost = sequence.prefixEvidence;
            Tale tale = new Tale()
                    .say(
                            Phrase.PREFIX_LOST.say(
                                    sequence.prefixRecomputedTokens,
                                    String.valueOf(sequence.promptTokens),
                                    sequence.cachedTokens == null ? 0 : sequence.cachedTokens),
                            lost.isEmpty() ? "" : lost.get(lost.size() - 1));
            String cited = lost.isEmpty() ? "" : lost.get(0);
            if (sequence.prefixEvictedFor != null) {
                tale.say(Phrase.EVICTED_FOR.say(sequence.prefixEvictedFor), cited);
            } else if (!evicted) {
                tale.say(Phrase.NO_EVICTION.say(), cited);
            }
            if (sequence.prefixPoolPercent != null) {
                tale.say(Phrase.POOL_IN_USE.say(sequence.prefixPoolPercent), cited);
            }
            output.finding(requestFinding(
                    lifetime,
                    sequence,
                    index,
                    "prefix-hit-collapse",
                    Cause.PREFIX_HIT_COLLAPSE,
                    Severity.of(sequence.firstLostNanos, sequence.firstLostNanos, 1, sequence.tokenCount),
                    Confidence.ESTABLISHED,
                    evicted ? Phrase.WHY_SAME_HASHES_EVICTED.say() : Phrase.WHY_SAME_HASHES.say(),
                    sequence.prefixEvictedFor,
                    sequence.prefixEvidence,
                    missing,
                    tale));
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
        if (!isLoop(sequence)) {
            return;
        }
        long gained = gainedTokens(sequence);
        requestCauses.add(Cause.PREEMPTION_LOOP);
        List<String> records = sequence.preemptionEvidence;
        Tale tale = new Tale()
                .say(
                        Phrase.PREEMPTED_AGAIN.say(sequence.preemptions, sequence.recomputedBetweenTokens, gained),
                        records);
        String last = records.isEmpty() ? "" : records.get(records.size() - 1);
        if (sequence.discardedKnown) {
            tale.say(Phrase.DISCARDED.say(sequence.discardedTokens), last);
        }
        if (sequence.kvHolder != null) {
            tale.say(Phrase.MOST_HELD_BY.say(sequence.kvHolder), last);
        }
        output.finding(requestFinding(
                lifetime,
                sequence,
                index,
                "preemption-loop",
                Cause.PREEMPTION_LOOP,
                preemptionSeverity(sequence),
                Confidence.ESTABLISHED,
                Phrase.WHY_ITS_PREEMPTIONS.say(),
                sequence.kvHolder,
                sequence.preemptionEvidence,
                missing,
                tale));
    }

    /** Whether it has been preempted again and again, and computed more tokens again than it gained in between. */
    static boolean isLoop(SequenceLife sequence) {
        return sequence.preemptions >= LOOP_PREEMPTIONS
                && sequence.recomputedBetweenKnown
                && sequence.recomputedBetweenTokens > gainedTokens(sequence);
    }

    private static long gainedTokens(SequenceLife sequence) {
        return sequence.lastPreemptedOutputTokens - sequence.firstPreemptedOutputTokens;
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
        List<String> records = sequence.overtakenEvidence;
        String computed = sequence.overtakenDiscardedTokens == null
                ? ""
                : " with " + sequence.overtakenDiscardedTokens + " computed tokens";
        Tale tale = new Tale().say(Phrase.OVERTAKEN.say(computed, sequence.overtakenBy), records);
        if (sequence.overtakenCount > 1) {
            tale.say(
                    Phrase.OVERTAKEN_OFTEN.say(sequence.overtakenCount),
                    records.isEmpty() ? "" : records.get(records.size() - 1));
        }
        output.finding(requestFinding(
                lifetime,
                sequence,
                index,
                "preempted-then-overtaken",
                Cause.PREEMPTED_THEN_OVERTAKEN,
                preemptionSeverity(sequence),
                Confidence.ESTABLISHED,
                Phrase.WHY_ORDER.say(),
                sequence.overtakenBy,
                sequence.overtakenEvidence,
                missing,
                tale));
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
        // Alone it reads a token more each step, beside others that grow as it does one for each of them.
        double together = modelShare * Math.max(1, (double) sequence.growthBatch / n);
        boolean modelAgrees = modelShare <= 2 && together >= 0.5;
        if (atStart <= 0
                || rise < GROWTH_SHARE * atStart
                || slopeErrors < GROWTH_ERRORS
                || correlation < GROWTH_CORRELATION
                || !modelAgrees) {
            return;
        }
        requestCauses.add(Cause.CONTEXT_GROWTH);
        milestones.concluded(Cause.CONTEXT_GROWTH, lifetime, sequence, null, evidence(sequence.finishedEventId));
        output.finding(requestFinding(
                lifetime,
                sequence,
                index,
                "context-growth",
                Cause.CONTEXT_GROWTH,
                Severity.INFO,
                Confidence.CONSISTENT_WITH,
                Phrase.WHY_LINE_WITH_CONTEXT.say(),
                null,
                List.of(),
                missing,
                new Tale()
                        .say(
                                Phrase.GREW_WITH_CONTEXT.say(
                                        String.format(Locale.ROOT, "%.1f ms", atStart / 1e3),
                                        sequence.growthLeastContext,
                                        String.format(Locale.ROOT, "%.1f ms", (atStart + rise) / 1e3),
                                        sequence.growthMostContext,
                                        String.format(Locale.ROOT, "%.2f ms", slopeMicros),
                                        String.format(Locale.ROOT, "%.2f", correlation)),
                                List.of())));
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
        List<String> evidence = sequence.riseEvidence;
        String last = evidence.isEmpty() ? "" : evidence.get(evidence.size() - 1);
        Tale tale = new Tale().say(Phrase.ROSE_IN_STEPS.say(verdict.riseCount(), rises), evidence);
        tale.say((verdict.kvDriven() ? Phrase.KV_AT_THE_RISES : Phrase.CAUSE_UNPROVEN).say(), last);
        output.finding(requestFinding(
                lifetime,
                sequence,
                index,
                "context-staircase",
                Cause.CONTEXT_STAIRCASE,
                Severity.WARNING,
                verdict.kvDriven() ? Confidence.ESTABLISHED : Confidence.CONSISTENT_WITH,
                verdict.kvDriven() ? Phrase.WHY_KV_AT_RISES.say() : Phrase.WHY_SHAPE_ALONE.say(),
                null,
                evidence,
                missing,
                tale));
    }

    private Finding slowFinding(
            LifetimeState lifetime, SequenceLife sequence, int index, SlowGroup group, List<String> missing) {
        List<String> layers = missing;
        if (group.cause.equals(Cause.UNRESOLVED_STALL.name()) && sequence.fromEngine && !sequence.gpuReported) {
            layers = new ArrayList<>(missing);
            layers.add("gpu");
        }
        Severity severity = SlowGroups.severity(sequence, group);
        List<String> names = new ArrayList<>();
        List<Long> nanos = new ArrayList<>();
        for (int ordinal = 0; ordinal < Part.COUNT; ordinal++) {
            if ((group.partMask & 1 << ordinal) != 0) {
                names.add(Part.ofOrdinal(ordinal).partName());
                nanos.add(group.partNanos[ordinal]);
            }
        }
        String lost = Milliseconds.text(group.sumLostNanos);
        String headline = group.tokens == 1
                ? Phrase.LOST_ONE.say(group.firstTokenIndex, lost)
                : Phrase.LOST_SEVERAL.say(
                        group.tokens,
                        group.firstTokenIndex,
                        group.lastTokenIndex,
                        lost,
                        group.worstTokenIndex,
                        Milliseconds.text(group.mostLostNanos));
        List<String> cited = group.worstChain.isEmpty() ? List.of() : Tale.idsOf(group.worstChain.get(0));
        String narrative = new Tale().say(headline, cited).add(group.worstChain).text();
        return Findings.identified(new Finding(
                "",
                "slow-token",
                1,
                group.cause,
                severity.severityName(),
                sequence.engineId(group.worstEngine),
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
            Tale tale) {
        return Findings.identified(new Finding(
                "",
                rule,
                1,
                cause.name(),
                severity.severityName(),
                cause == Cause.PREFIX_HIT_COLLAPSE ? sequence.engineId(0) : sequence.engineId(sequence.makingEngine),
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
                tale.text(),
                sequence.sigmaNanos));
    }
}
