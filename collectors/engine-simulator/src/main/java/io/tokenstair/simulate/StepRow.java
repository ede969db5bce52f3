package io.tokenstair.simulate;

import io.tokenstair.event.Phase;
import org.jspecify.annotations.Nullable;

/**
 * One scheduled sequence of a step.
 *
 * @param sequence which
 * @param scheduledTokens tokens computed for it
 * @param contextTokens its context with those
 * @param phase what is computed
 * @param cachedTokens tokens found in the prefix cache or loaded; null when this is not its first chunk
 * @param yields whether it gets an output token
 */
record StepRow(
        Sequence sequence,
        int scheduledTokens,
        int contextTokens,
        Phase phase,
        @Nullable Integer cachedTokens,
        boolean yields) {

    boolean decodes() {
        return phase == Phase.DECODE;
    }

    boolean recomputes() {
        return phase == Phase.RESUMED || phase == Phase.RECOMPUTE;
    }

    double promptNanos() {
        return decodes() ? 0 : StepLaw.PROMPT_NANOS * scheduledTokens;
    }

    double promptAttentionNanos() {
        return decodes() ? 0 : StepLaw.promptAttentionNanos(scheduledTokens, contextTokens);
    }
}
