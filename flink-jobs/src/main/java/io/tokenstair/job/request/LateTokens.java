package io.tokenstair.job.request;

import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Confidence;
import io.tokenstair.cause.DeliveryPart;
import io.tokenstair.narrative.Milliseconds;
import io.tokenstair.narrative.Phrase;

/** Gathers the late tokens of a sequence by cause, and puts each into words. */
final class LateTokens {
    private static final int PARTS = DeliveryPart.values().length;

    private LateTokens() {}

    /** Adds a late token to the group of its cause, which it returns. */
    static LateGroup add(
            LifetimeState lifetime,
            SequenceLife sequence,
            PendingToken token,
            Cause cause,
            Confidence confidence,
            String why) {
        ObserverStream deliverer = lifetime.deliverer();
        token.lateEventId = deliverer == null ? "" : deliverer.eventId(token.recordSequence);
        token.lateSentence = sentence(sequence, token, deliverer == null ? "client" : deliverer.observer, cause);
        LateGroup group = null;
        for (LateGroup candidate : sequence.late) {
            if (candidate.cause.equals(cause.name())) {
                group = candidate;
            }
        }
        if (group == null) {
            group = new LateGroup();
            group.cause = cause.name();
            group.firstTokenIndex = token.tokenIndex;
            group.fromEpochNanos = token.producedEpochNanos;
            group.boundNanos = token.boundNanos;
            group.sigmaNanos = token.sigmaNanos;
            sequence.late.add(group);
        }
        if (token.tokenIndex - group.lastTokenIndex > RequestMilestones.SPELL_TOKENS) {
            group.spellLateNanos = 0;
            group.spellTold = false;
        }
        group.spellLateNanos += token.lateNanos;
        group.lastTokenIndex = token.tokenIndex;
        group.toEpochNanos = token.deliveredEpochNanos;
        group.tokens++;
        group.sumLateNanos += token.lateNanos;
        if (token.lateNanos > group.mostLateNanos) {
            group.mostLateNanos = token.lateNanos;
            group.worstTokenIndex = token.tokenIndex;
            group.worstSentence = token.lateSentence;
            group.confidence = confidence.levelName();
            group.confidenceWhy = why;
        }
        for (int ordinal = 0; ordinal < PARTS; ordinal++) {
            Long nanos = token.deliveryColumn(DeliveryPart.ofOrdinal(ordinal));
            if (nanos != null) {
                group.partMask |= 1 << ordinal;
                group.partNanos[ordinal] += nanos;
            }
        }
        SlowGroups.addEvidence(group.evidence, token.lateEventId);
        return group;
    }

    private static String sentence(SequenceLife sequence, PendingToken token, String observer, Cause cause) {
        String where = switch (cause) {
            case GATEWAY_BUFFERING -> "a gateway held it";
            case CLIENT_SLOW -> "the gateway waited for the client to read";
            case NETWORK -> "it was on its way between the gateway and the client";
            case OUTPUT_STALL -> "it left the engine late";
            default -> "no record tells where it waited";
        };
        String id = token.lateEventId.isEmpty() ? "" : " [" + token.lateEventId + "]";
        if (token.deliveryNanos == null) {
            return Phrase.LATER_THAN_USUAL.say(token.tokenIndex, observer, Milliseconds.text(token.lateNanos), where)
                    + id;
        }
        String after = Milliseconds.text(token.deliveryNanos);
        return (sequence.usualDelivery.warm()
                        ? Phrase.AFTER_ITS_STEP_WITH_USUAL.say(
                                token.tokenIndex,
                                observer,
                                after,
                                Milliseconds.text(token.deliveryNanos - token.lateNanos),
                                where)
                        : Phrase.AFTER_ITS_STEP.say(token.tokenIndex, observer, after, where))
                + id;
    }
}
