package io.tokenstair.job.request;

import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.cause.Cause;
import io.tokenstair.cause.DeliveryPart;
import io.tokenstair.cause.TokenState;
import io.tokenstair.job.step.SlowToken;
import io.tokenstair.job.step.TokenBatch;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes the row of a token and sends it, once. */
final class TokenRows {
    /** Token index at which a held first token is sent. */
    static final int FIRST_HELD_UNTIL = 32;

    /**
     * What a token may miss: number 1 the steps, 2 core records, 4 the client, 8 records of the device, 16 samples that join its
     * observer's clock with the engine's, and their sums.
     */
    private static final List<List<String>> MISSING_LAYERS = missingLayers();

    private final String requestId;
    private final RequestOutput output;
    private final RequestMilestones milestones;

    TokenRows(String requestId, RequestOutput output, RequestMilestones milestones) {
        this.milestones = milestones;
        this.requestId = requestId;
        this.output = output;
    }

    private static List<List<String>> missingLayers() {
        List<String> layers = List.of("steps", "host-scheduling", "client", "gpu", "clocks");
        List<List<String>> sets = new ArrayList<>();
        for (int set = 0; set < 1 << layers.size(); set++) {
            List<String> missing = new ArrayList<>();
            for (int i = 0; i < layers.size(); i++) {
                if ((set & 1 << i) != 0) {
                    missing.add(layers.get(i));
                }
            }
            sets.add(List.copyOf(missing));
        }
        return sets;
    }

    /** Notes that a token will be sent: nobody else may say it. */
    void taken(SequenceLife sequence, PendingToken token) {
        sequence.nextSentIndex = Math.max(sequence.nextSentIndex, token.tokenIndex + 1);
    }

    /** Sends a token; the first one is held until its prefix is known. */
    void send(LifetimeState lifetime, SequenceLife sequence, PendingToken token) {
        taken(sequence, token);
        if (lifetime.warmup) {
            return;
        }
        if (token.tokenIndex == 0) {
            sequence.first = token;
            milestones.first(lifetime, sequence, token);
            return;
        }
        if (token.tokenIndex >= FIRST_HELD_UNTIL) {
            release(lifetime, sequence);
        }
        output.token(row(lifetime, sequence, token));
    }

    /** Sends the first token if it is still held. */
    void release(LifetimeState lifetime, SequenceLife sequence) {
        if (sequence.first != null) {
            PendingToken first = sequence.first;
            sequence.first = null;
            output.token(row(lifetime, sequence, first));
        }
    }

    /** Sends rows of a batch of which there is nothing to say but their numbers. */
    void run(LifetimeState lifetime, SequenceLife sequence, TokenBatch batch, int fromRow, int toRow) {
        output.tokens(new TokenRun(
                requestId, lifetime.ordinal, Lifetimes.sequenceIndex(lifetime, sequence), batch, fromRow, toRow));
    }

    private TokenAnalysis row(LifetimeState lifetime, SequenceLife sequence, PendingToken token) {
        return row(
                requestId,
                lifetime.ordinal,
                Lifetimes.sequenceIndex(lifetime, sequence),
                lifetime.observed() && !lifetime.observersOverlap,
                token.tokenIndex == 0 && isPrefixLost(sequence),
                token);
    }

    /**
     * The row of a token.
     *
     * @param observed whether an observer says when it was delivered
     * @param miss whether it is the first one after a prefix was lost
     */
    static TokenAnalysis row(
            String requestId, int lifetime, int sequenceIndex, boolean observed, boolean miss, PendingToken token) {
        SlowToken slow = token.slow;
        TokenState tokenState;
        boolean stepsLost = token.stepId == null || token.gapNanos == null;
        if (stepsLost) {
            tokenState = TokenState.UNKNOWN;
        } else if ((token.flags & TokenBatch.RECOMPUTED) != 0) {
            tokenState = TokenState.RECOMPUTE;
        } else if (miss) {
            tokenState = TokenState.KV_MISS;
        } else if (slow == null
                || slow.cause.equals(Cause.BATCH_GROWTH.name())
                || slow.cause.equals(Cause.CONTEXT_GROWTH.name())) {
            tokenState = TokenState.NORMAL;
        } else {
            tokenState = TokenState.STALLED;
        }
        boolean cores = stepsLost || (token.flags & (TokenBatch.HOST_COVERED | TokenBatch.SEVERAL)) != 0;
        // What the device did is missed only where a stall has no cause.
        boolean device = stepsLost
                || slow == null
                || !slow.cause.equals(Cause.UNRESOLVED_STALL.name())
                || (token.flags & TokenBatch.GPU_REPORTED) != 0;
        List<String> missing = MISSING_LAYERS.get((stepsLost ? 1 : 0)
                + (cores ? 0 : 2)
                + (observed ? 0 : 4)
                + (device ? 0 : 8)
                + (token.unjoined ? 16 : 0));
        return new TokenAnalysis(
                requestId,
                lifetime,
                sequenceIndex,
                token.tokenIndex,
                token.engineId,
                token.stepId,
                token.producedEpochNanos,
                token.deliveredEpochNanos,
                token.boundNanos,
                token.gapNanos == null ? null : token.gapBasis,
                token.gapNanos,
                token.expectedNanos,
                token.referenceNanos,
                token.excessNanos(),
                token.contextTokens,
                token.batchSequences,
                tokenState.stateName(),
                slow == null ? null : slow.cause,
                slow == null ? DeliveryFindings.culprit(token.deliveryCause) : slow.culpritRequestId,
                slow == null ? null : slow.confidence,
                slow == null ? null : slow.confidenceWhy,
                token.part(0),
                token.part(1),
                token.part(2),
                token.part(3),
                token.part(4),
                token.part(5),
                token.part(6),
                token.part(7),
                token.part(8),
                token.part(9),
                token.part(10),
                token.part(11),
                token.part(12),
                token.part(13),
                token.part(14),
                token.part(15),
                token.part(16),
                token.part(17),
                token.part(18),
                token.deliveryNanos,
                token.deliveryColumn(DeliveryPart.OUTPUT),
                token.deliveryColumn(DeliveryPart.GATEWAY),
                token.deliveryColumn(DeliveryPart.NETWORK),
                token.deliveryColumn(DeliveryPart.CLIENT),
                token.deliveryColumn(DeliveryPart.UNEXPLAINED),
                token.deliveryCause,
                evidence(token),
                chain(token),
                missing,
                token.deliveryNanos == null ? null : Long.valueOf(token.deliveryBoundNanos),
                slow == null ? null : slowKind(token.flags),
                token.sigmaNanos,
                token.deliveryNanos == null ? null : Long.valueOf(token.deliverySigmaNanos));
    }

    private static @Nullable String slowKind(int flags) {
        if ((flags & TokenBatch.ANOMALY) != 0) {
            return "anomaly";
        }
        return (flags & TokenBatch.LOAD) != 0 ? "load" : null;
    }

    /** Whether a good part of its prompt had been cached before and was computed again. */
    static boolean isPrefixLost(SequenceLife sequence) {
        long cached = sequence.cachedTokens == null ? 0 : sequence.cachedTokens;
        // A single block proves nothing: the last one of a prompt is computed even where it is cached.
        return sequence.prefixRecomputedTokens > Math.max(cached, sequence.blockSizeTokens)
                && sequence.promptTokens != null
                && 4 * sequence.prefixRecomputedTokens >= sequence.promptTokens;
    }

    private static List<String> evidence(PendingToken token) {
        SlowToken slow = token.slow;
        if (token.latePart == null || token.lateEventId.isEmpty()) {
            return slow == null ? List.of() : slow.evidence;
        }
        List<String> evidence = slow == null ? new ArrayList<>() : new ArrayList<>(slow.evidence);
        evidence.add("delivery-" + token.latePart);
        evidence.add(token.lateEventId);
        return evidence;
    }

    private static List<String> chain(PendingToken token) {
        SlowToken slow = token.slow;
        if (token.lateSentence == null) {
            return slow == null ? List.of() : slow.chain;
        }
        List<String> chain = slow == null ? new ArrayList<>() : new ArrayList<>(slow.chain);
        chain.add(token.lateSentence);
        return chain;
    }
}
