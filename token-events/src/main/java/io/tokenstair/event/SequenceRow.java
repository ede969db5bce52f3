package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * One scheduled sequence of a step, for writing and for tests. The hot path reads the columns of {@link SequenceRows}.
 *
 * @param requestHandle which sequence
 * @param firstTokenIndex index of its first output token of this step; absent when the step gave it no token
 * @param tokenCount output tokens it got from this step
 * @param contextTokens tokens in KV plus those computed now
 * @param scheduledTokens tokens computed for it now
 * @param phase what the step did for it
 * @param cachedTokens tokens found in the prefix cache; absent when this is not its first chunk
 * @param preemptionCount preemptions so far; absent when never preempted
 * @param waitNanos wait inside the step as the engine states it; absent when not recorded
 */
public record SequenceRow(
        int requestHandle,
        @Nullable Integer firstTokenIndex,
        int tokenCount,
        int contextTokens,
        int scheduledTokens,
        Phase phase,
        @Nullable Integer cachedTokens,
        @Nullable Integer preemptionCount,
        @Nullable Long waitNanos) {}
