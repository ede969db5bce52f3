package io.tokenstair.archive.result;

import io.tokenstair.event.Field;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One sequence of a request. Table {@code request_analysis}. A request without a token (an error, an early abort) and a warm-up
 * has a row here and no row in {@code token_analysis}.
 *
 * @param state complete, gap or incomplete
 * @param endReason length, stop, aborted-by-client, error or unknown
 * @param ttftNanos first token's arrival less request sent, by one observer; absent without both
 * @param tpotNanos mean gap after the first token, where chunks held more tokens than they show by the engine's count; absent with fewer than two tokens
 * @param tokenCount output tokens; absent where an answer came of whose tokens nobody told any
 * @param recomputedTokens tokens discarded by preemptions less what was found cached on resuming; absent where not recorded
 * @param requestCauses request-level causes and notes, in the order of the closed list
 * @param warmup true when its sender marked it as warm-up: not analysed
 * @param droppedChunks chunks that came twice, too late, or while two uses of the id could not be told apart; absent when none
 * @param droppedTokens tokens that came twice or that could not be told for one use of the id; absent when none
 * @param invalidStamps differences of stamps that were negative beyond what the clocks allow, left out; absent when none
 * @param usageTokens output tokens of the whole request as its usage record counts them; absent without one
 */
public record RequestAnalysis(
        @Field(1) String requestId,
        @Field(2) int lifetime,
        @Field(3) int sequenceIndex,
        @Field(4) List<String> aliases,
        @Field(5) List<String> engines,
        @Field(6) String state,
        @Field(7) String endReason,
        @Field(8) @Nullable Long ttftNanos,
        @Field(9) @Nullable Long tpotNanos,
        @Field(10) @Nullable Long tokenCount,
        @Field(11) @Nullable Long promptTokens,
        @Field(12) @Nullable Long cachedTokens,
        @Field(13) @Nullable Integer preemptions,
        @Field(14) @Nullable Long recomputedTokens,
        @Field(15) List<String> requestCauses,
        @Field(16) boolean warmup,
        @Field(17) @Nullable Long fromEpochNanos,
        @Field(18) @Nullable Long toEpochNanos,
        @Field(19) @Nullable Integer priority,
        @Field(20) List<String> missingLayers,
        @Field(21) @Nullable String errorType,
        @Field(22) @Nullable Integer droppedChunks,
        @Field(23) @Nullable Integer droppedTokens,
        @Field(24) @Nullable Integer invalidStamps,
        @Field(25) @Nullable Long usageTokens) {

    /** A sequence of which nothing was dropped and no usage was reported. */
    public RequestAnalysis(
            String requestId,
            int lifetime,
            int sequenceIndex,
            List<String> aliases,
            List<String> engines,
            String state,
            String endReason,
            @Nullable Long ttftNanos,
            @Nullable Long tpotNanos,
            @Nullable Long tokenCount,
            @Nullable Long promptTokens,
            @Nullable Long cachedTokens,
            @Nullable Integer preemptions,
            @Nullable Long recomputedTokens,
            List<String> requestCauses,
            boolean warmup,
            @Nullable Long fromEpochNanos,
            @Nullable Long toEpochNanos,
            @Nullable Integer priority,
            List<String> missingLayers,
            @Nullable String errorType) {
        this(
                requestId,
                lifetime,
                sequenceIndex,
                aliases,
                engines,
                state,
                endReason,
                ttftNanos,
                tpotNanos,
                tokenCount,
                promptTokens,
                cachedTokens,
                preemptions,
                recomputedTokens,
                requestCauses,
                warmup,
                fromEpochNanos,
                toEpochNanos,
                priority,
                missingLayers,
                errorType,
                null,
                null,
                null,
                null);
    }
}
