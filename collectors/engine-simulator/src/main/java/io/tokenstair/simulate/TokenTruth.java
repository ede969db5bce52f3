package io.tokenstair.simulate;

import io.tokenstair.cause.Cause;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The truth about one token: docs/simulator.md says how each number comes about.
 *
 * @param requestId the client's own id
 * @param sequenceIndex which sequence of it
 * @param tokenIndex which token of that
 * @param gapNanos true time from the end of the step that made the token before, from the queued instant for the first one
 * @param baselineNanos what a usual decode-only step of the engine took at that time
 * @param contributions per cause, how much shorter the gap (for causes of delivery: how much earlier the arrival) had been without
 *     it; they need not sum
 * @param dominantCause the cause that the token is slow by; null when it is not slow, or by nothing mainly
 * @param culpritRequestId the other request that did most of what the dominant cause cost; null when no other request did it
 */
public record TokenTruth(
        String requestId,
        int sequenceIndex,
        int tokenIndex,
        long gapNanos,
        long baselineNanos,
        Map<Cause, Long> contributions,
        @Nullable Cause dominantCause,
        @Nullable String culpritRequestId) {

    /** A token is slow beyond this share of the baseline. */
    static final double SLOW_SHARE = 0.15;

    /** A cause dominates with at least this share of the excess. */
    static final double DOMINANT_SHARE = 0.5;

    /** Copies the contributions. */
    public TokenTruth {
        Map<Cause, Long> copy = new EnumMap<>(Cause.class);
        copy.putAll(contributions);
        contributions = Collections.unmodifiableMap(copy);
    }

    /** True for the causes of the way from the engine to the client. */
    public static boolean isOfDelivery(Cause cause) {
        return cause == Cause.OUTPUT_STALL
                || cause == Cause.GATEWAY_BUFFERING
                || cause == Cause.NETWORK
                || cause == Cause.CLIENT_SLOW;
    }

    /** The largest contribution of one side, engine or delivery; null when there is none above 0. Equal ones: the cause declared first. */
    public @Nullable Cause largest(boolean delivery) {
        Cause largest = null;
        long nanos = 0;
        for (Map.Entry<Cause, Long> entry : contributions.entrySet()) {
            if (isOfDelivery(entry.getKey()) == delivery && entry.getValue() > nanos) {
                largest = entry.getKey();
                nanos = entry.getValue();
            }
        }
        return largest;
    }

    /**
     * What the engine's side of a token is slow by mainly; null when it is not slow, or by nothing mainly.
     *
     * @param excessNanos gap beyond baseline and, for the first token, beyond what its own prompt took
     */
    static @Nullable Cause dominant(Map<Cause, Long> contributions, long excessNanos, long baselineNanos) {
        Cause made = new TokenTruth("", 0, 0, 0, baselineNanos, contributions, null, null).largest(false);
        boolean slow = excessNanos > SLOW_SHARE * baselineNanos;
        Long nanos = made == null ? null : contributions.get(made);
        return nanos != null && slow && nanos >= DOMINANT_SHARE * excessNanos ? made : null;
    }

    /** The same token with what its delivery lost: the larger of the two sides dominates where both are slow. */
    TokenTruth withDelivery(Map<Cause, Long> lateNanos) {
        Map<Cause, Long> both = new EnumMap<>(Cause.class);
        both.putAll(contributions);
        both.putAll(lateNanos);
        TokenTruth all = new TokenTruth(
                requestId, sequenceIndex, tokenIndex, gapNanos, baselineNanos, both, dominantCause, culpritRequestId);
        Cause delivered = all.largest(true);
        Long late = delivered == null ? null : both.get(delivered);
        Long made = dominantCause == null ? null : both.get(dominantCause);
        if (late == null || late <= SLOW_SHARE * baselineNanos || (made != null && made >= late)) {
            return all;
        }
        return new TokenTruth(requestId, sequenceIndex, tokenIndex, gapNanos, baselineNanos, both, delivered, null);
    }
}
