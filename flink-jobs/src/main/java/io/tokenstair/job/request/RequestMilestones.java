package io.tokenstair.job.request;

import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Part;
import io.tokenstair.job.finding.Blame;
import io.tokenstair.job.step.SequenceFact;
import io.tokenstair.job.step.SlowToken;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Says the milestones of a request. They are rare: what goes on is said when it begins. docs/rules.md says when each kind is made, and
 * how many there are in a healthy run.
 */
final class RequestMilestones {
    /** A spell of slow tokens has ended when so many in a row were not slow for its cause. */
    static final int SPELL_TOKENS = 64;

    /** A spell is told once it has cost the time of so many usual tokens. */
    private static final int USUAL_TOKENS = 4;

    /** A first token that came so long after the request was sent is late, whatever the engine usually takes. */
    private static final long TTFT_LATE_NANOS = 1_000_000_000L;

    private final String requestId;
    private final RequestOutput output;

    /** Event time of what the request hears, or of its end. */
    private long nowMillis;

    RequestMilestones(String requestId, RequestOutput output) {
        this.requestId = requestId;
        this.output = output;
    }

    /** Says at which event time what follows is concluded. */
    void at(long millis) {
        nowMillis = millis;
    }

    /** Whether a spell that has cost so much has cost enough to be told. Never where the usual token is not known. */
    static boolean isLarge(long lostNanos, @Nullable Long referenceNanos) {
        return referenceNanos != null && referenceNanos > 0 && lostNanos / USUAL_TOKENS >= referenceNanos;
    }

    /** Says that something happened to a sequence at its engine. */
    void fact(MilestoneKind kind, LifetimeState lifetime, SequenceLife sequence, SequenceFact fact) {
        fact(kind, lifetime, sequence, fact, null, fact.otherRequestId);
    }

    /** Says by what happened to it that a detector found a cause, the first time. */
    void detected(
            Cause cause, LifetimeState lifetime, SequenceLife sequence, SequenceFact fact, @Nullable String culprit) {
        if (isFirst(sequence, cause)) {
            fact(MilestoneKind.DETECTED, lifetime, sequence, fact, cause, culprit);
        }
    }

    private void fact(
            MilestoneKind kind,
            LifetimeState lifetime,
            SequenceLife sequence,
            SequenceFact fact,
            @Nullable Cause cause,
            @Nullable String culprit) {
        boolean blocksLost = kind == MilestoneKind.PREEMPTED || kind == MilestoneKind.KV_PRESSURE;
        boolean computedAgain = kind == MilestoneKind.PREFIX_RECOMPUTED || cause == Cause.PREFIX_HIT_COLLAPSE;
        say(
                lifetime,
                new Milestone(
                        kind,
                        fact.coarseEpochMillis,
                        fact.epochNanos,
                        fact.clockNanos,
                        fact.name.engineId,
                        requestId,
                        lifetime.ordinal,
                        Lifetimes.sequenceIndex(lifetime, sequence),
                        sequence.nextTokenIndex == 0 ? null : Integer.valueOf(sequence.nextTokenIndex - 1),
                        fact.stepId,
                        null,
                        null,
                        null,
                        blocksLost || kind == MilestoneKind.OVERTAKEN ? fact.tokens : null,
                        computedAgain ? fact.tokens : null,
                        fact.kvUsedBlocksCount,
                        fact.kvTotalBlocksCount,
                        fact.otherEventId == null || fact.otherEventId.isEmpty()
                                ? List.of(fact.eventId)
                                : List.of(fact.otherEventId, fact.eventId),
                        cause,
                        culprit,
                        null,
                        null,
                        priority(lifetime, sequence),
                        null,
                        null,
                        fact.otherPriority));
    }

    /** Says that something came with a token. */
    void token(
            MilestoneKind kind,
            LifetimeState lifetime,
            SequenceLife sequence,
            PendingToken token,
            long coarseMillis,
            List<String> evidence) {
        token(kind, lifetime, sequence, token, coarseMillis, evidence, null, null, null, null);
    }

    /** Says with a token that a detector found a cause, the first time. */
    void detected(
            Cause cause,
            LifetimeState lifetime,
            SequenceLife sequence,
            PendingToken token,
            long coarseMillis,
            List<String> evidence) {
        if (isFirst(sequence, cause)) {
            token(
                    MilestoneKind.DETECTED,
                    lifetime,
                    sequence,
                    token,
                    coarseMillis,
                    evidence,
                    cause,
                    DeliveryFindings.culprit(cause.name()),
                    null,
                    null);
        }
    }

    /**
     * Says that a token is slow, where its spell has cost enough with it. A context that grows makes every request slower, healthy ones
     * too, and by little with each token: that is said by a detector, of the request as a whole.
     */
    void slowed(
            LifetimeState lifetime,
            SequenceLife sequence,
            PendingToken token,
            SlowToken slow,
            SlowGroup group,
            long coarseMillis) {
        if (token.tokenIndex == 0
                || group.spellTold
                || slow.cause.equals(Cause.CONTEXT_GROWTH.name())
                || !isLarge(group.spellLostNanos, token.referenceNanos)) {
            return;
        }
        group.spellTold = true;
        token(
                MilestoneKind.SLOWED,
                lifetime,
                sequence,
                token,
                coarseMillis,
                SlowGroups.eventIds(slow),
                Cause.valueOf(slow.cause),
                slow.culpritRequestId,
                group.spellLostNanos,
                null);
    }

    /** Says that a token came late to its client, where its spell has cost enough with it. */
    void delivered(LifetimeState lifetime, SequenceLife sequence, PendingToken token, LateGroup group) {
        if (group.spellTold || !isLarge(group.spellLateNanos, token.referenceNanos)) {
            return;
        }
        group.spellTold = true;
        token(
                MilestoneKind.DELIVERY_SLOWED,
                lifetime,
                sequence,
                token,
                nowMillis,
                token.lateEventId.isEmpty() ? List.of() : List.of(token.lateEventId),
                Cause.valueOf(group.cause),
                DeliveryFindings.culprit(group.cause),
                group.spellLateNanos,
                null);
    }

    /** Says that chunks are held in groups, the first time. */
    void grouped(LifetimeState lifetime, SequenceLife sequence, PendingToken token) {
        if (lifetime.warmup) {
            return;
        }
        ObserverStream deliverer = lifetime.deliverer();
        List<String> evidence = deliverer == null ? List.of() : List.of(deliverer.eventId(token.recordSequence));
        detected(Cause.GATEWAY_BUFFERING, lifetime, sequence, token, nowMillis, evidence);
    }

    /** Says of a sequence as a whole that a cause was found, the first time: when its client left, or when it closes. */
    void concluded(
            Cause cause,
            LifetimeState lifetime,
            SequenceLife sequence,
            @Nullable String culprit,
            List<String> evidence) {
        if (lifetime.warmup || !isFirst(sequence, cause)) {
            return;
        }
        Long end = sequence.tokenCount > 0 ? Long.valueOf(sequence.lastEndNanos) : sequence.lastFactNanos;
        say(
                lifetime,
                new Milestone(
                        MilestoneKind.DETECTED,
                        nowMillis,
                        sequence.toEpochNanos,
                        end == null ? 0 : end,
                        cause == Cause.PREFIX_HIT_COLLAPSE
                                ? sequence.engineId(0)
                                : sequence.engineId(sequence.makingEngine),
                        requestId,
                        lifetime.ordinal,
                        Lifetimes.sequenceIndex(lifetime, sequence),
                        sequence.nextTokenIndex == 0 ? null : Integer.valueOf(sequence.nextTokenIndex - 1),
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        List.copyOf(evidence),
                        cause,
                        culprit,
                        null,
                        null,
                        priority(lifetime, sequence),
                        null,
                        null,
                        null));
    }

    /** Says that a first token, of which all is known now, is late. */
    void first(LifetimeState lifetime, SequenceLife sequence, PendingToken token) {
        Long ttft = RequestClosing.timeToFirst(lifetime, sequence);
        if (ttft != null && ttft < 0) {
            ttft = null;
        }
        SlowToken slow = token.slow;
        boolean late = ttft != null && ttft >= TTFT_LATE_NANOS;
        if ((!late && (slow == null || !isLarge(slow.lostNanos, token.referenceNanos)))
                || (sequence.detected & FIRST_TOKEN) != 0) {
            return;
        }
        sequence.detected |= FIRST_TOKEN;
        ObserverStream deliverer = lifetime.deliverer();
        List<String> evidence = slow != null
                ? SlowGroups.eventIds(slow)
                : deliverer != null && token.delivered ? List.of(deliverer.eventId(token.recordSequence)) : List.of();
        token(
                MilestoneKind.FIRST_TOKEN_LATE,
                lifetime,
                sequence,
                token,
                nowMillis,
                evidence,
                slow == null ? null : Cause.valueOf(slow.cause),
                slow == null ? null : slow.culpritRequestId,
                slow == null ? null : Long.valueOf(slow.lostNanos),
                ttft);
    }

    private void token(
            MilestoneKind kind,
            LifetimeState lifetime,
            SequenceLife sequence,
            PendingToken token,
            long coarseMillis,
            List<String> evidence,
            @Nullable Cause cause,
            @Nullable String culprit,
            @Nullable Long lostNanos,
            @Nullable Long ttftNanos) {
        Blame blame = cause == null ? new Blame(null, null) : Blame.of(cause, culprit);
        boolean ofDelivery = kind == MilestoneKind.DELIVERY_SLOWED || kind == MilestoneKind.FIRST_TOKEN_LATE;
        say(
                lifetime,
                new Milestone(
                        kind,
                        coarseMillis,
                        ofDelivery && token.deliveredEpochNanos != null
                                ? token.deliveredEpochNanos
                                : token.producedEpochNanos,
                        token.endNanos,
                        token.engineId,
                        requestId,
                        lifetime.ordinal,
                        Lifetimes.sequenceIndex(lifetime, sequence),
                        token.tokenIndex,
                        token.stepId,
                        token.contextTokens,
                        token.gapNanos,
                        token.excessNanos(),
                        null,
                        kind == MilestoneKind.RECOMPUTED && token.part(Part.RECOMPUTE_OWN.ordinal()) != null
                                ? Long.valueOf(token.contextTokens == null ? 0 : token.contextTokens)
                                : null,
                        null,
                        null,
                        evidence,
                        cause,
                        blame.culprit(),
                        ttftNanos,
                        blame.deviceId(),
                        priority(lifetime, sequence),
                        token.batchSequences,
                        lostNanos,
                        null));
    }

    private void say(LifetimeState lifetime, Milestone milestone) {
        if (!lifetime.warmup) {
            lifetime.hasMilestone = true;
            output.milestone(milestone);
        }
    }

    private static @Nullable Integer priority(LifetimeState lifetime, SequenceLife sequence) {
        return sequence.priority != null ? sequence.priority : lifetime.priority;
    }

    // ---- what is said once

    private static final int FIRST_TOKEN = 1;

    private static boolean isFirst(SequenceLife sequence, Cause cause) {
        int bit = switch (cause) {
            case PREEMPTION_LOOP -> 2;
            case PREFIX_HIT_COLLAPSE -> 4;
            case CONTEXT_STAIRCASE -> 8;
            case GATEWAY_BUFFERING -> 16;
            case CONTEXT_GROWTH -> 32;
            case CLIENT_ABORT -> 64;
            default -> throw new IllegalArgumentException("Cannot say once: " + cause);
        };
        boolean first = (sequence.detected & bit) == 0;
        sequence.detected |= bit;
        return first;
    }
}
