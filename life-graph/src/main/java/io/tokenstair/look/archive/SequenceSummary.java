package io.tokenstair.look.archive;

import io.tokenstair.archive.result.RequestAnalysis;
import org.jspecify.annotations.Nullable;

/**
 * A sequence with what its tokens add up to.
 *
 * @param request its row
 * @param slowTokens tokens with a cause
 * @param lateTokens tokens with a delivery cause
 * @param worstGapNanos largest gap after the first token; absent where no gap is known
 * @param worstTokenIndex the token with the largest excess; absent where no token is slow
 * @param worstCause its cause; absent where no token is slow
 * @param lostNanos sum of the excess of its slow tokens
 * @param worstState the state that weighs most among its tokens; absent without a token
 */
public record SequenceSummary(
        RequestAnalysis request,
        long slowTokens,
        long lateTokens,
        @Nullable Long worstGapNanos,
        @Nullable Integer worstTokenIndex,
        @Nullable String worstCause,
        long lostNanos,
        @Nullable String worstState) {}
