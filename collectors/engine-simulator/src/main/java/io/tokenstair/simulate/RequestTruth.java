package io.tokenstair.simulate;

import org.jspecify.annotations.Nullable;

/**
 * What became of one sequence, as the scheduler and the cache did it.
 *
 * @param requestId the client's own id
 * @param sequenceIndex which sequence of it
 * @param ttftNanos true time from the sending to the first token at the client; null where none came
 * @param preemptions how often it lost its blocks
 * @param loopRecomputedTokens tokens computed again between its first preemption and the third or later one at which these were most beyond
 *     those gained; 0 with fewer than three
 * @param loopGainedTokens output tokens gained in that time
 * @param overtakenCount sequences that were scheduled anew while it waited after a preemption, had started later or not at all, and were
 *     not more urgent
 * @param passedOverCount sequences less urgent than it that were scheduled anew while it waited, for its first schedule or after a
 *     preemption
 * @param promptTokens prompt length
 * @param prefixFoundTokens prompt tokens found in a cache when it first ran
 * @param prefixLostTokens prompt tokens not found then whose blocks had been in the cache before
 */
public record RequestTruth(
        String requestId,
        int sequenceIndex,
        @Nullable Long ttftNanos,
        int preemptions,
        long loopRecomputedTokens,
        long loopGainedTokens,
        int overtakenCount,
        int passedOverCount,
        int promptTokens,
        int prefixFoundTokens,
        int prefixLostTokens) {}
