package io.tokenstair.milestone;

import io.tokenstair.cause.Cause;
import io.tokenstair.event.Field;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A rare, edge-triggered fact derived from many tokens.
 *
 * @param milestoneKind what happened
 * @param coarseEpochMillis event time
 * @param epochNanos aligned time; absent where the clock is not aligned
 * @param orderNanos stamp of the engine's clock: orders milestones of one engine inside a millisecond
 * @param engineId the engine; absent where no engine reported
 * @param requestId the client's own id; absent for milestones of an engine
 * @param lifetime which use of the id, from 0; absent for milestones of an engine
 * @param sequenceIndex promptIndex x n + choice; absent for milestones of an engine
 * @param tokenIndex the token it came with; absent where none did
 * @param stepId the step it came with; absent where none did
 * @param contextTokens the sequence's context then; absent where unknown
 * @param gapNanos the token's gap; absent where unknown
 * @param excessNanos gap less reference; absent where unknown
 * @param discardedTokens computed tokens lost; absent where nothing was lost or it is not recorded
 * @param recomputedTokens tokens computed again; absent where nothing was
 * @param kvUsedBlocksCount KV blocks in use then; absent where not reported
 * @param kvTotalBlocksCount usable KV blocks; absent where not reported
 * @param evidence ids of the events it rests on
 * @param cause the cause it names; absent where the kind names none, or none is known
 * @param culpritRequestId the other request or the process that did the work or held the resource; absent where none is known
 * @param ttftNanos time to the first token as its observer saw it; absent for other kinds than FIRST_TOKEN_LATE and where nobody saw it
 * @param deviceId the device that did it; absent where none is known
 * @param priority the request's priority, smaller is more urgent; absent where unknown
 * @param batchSequences sequences in the step's batch; absent where unknown
 * @param lostNanos what was lost for the cause so far: by the sequence in this spell, or by the requests of the engine; absent where nothing
 *     is known to be lost
 * @param culpritPriority the culprit's priority; absent where unknown
 */
public record Milestone(
        @Field(1) MilestoneKind milestoneKind,
        @Field(2) long coarseEpochMillis,
        @Field(3) @Nullable Long epochNanos,
        @Field(4) long orderNanos,
        @Field(5) @Nullable String engineId,
        @Field(6) @Nullable String requestId,
        @Field(7) @Nullable Integer lifetime,
        @Field(8) @Nullable Integer sequenceIndex,
        @Field(9) @Nullable Integer tokenIndex,
        @Field(10) @Nullable Long stepId,
        @Field(11) @Nullable Integer contextTokens,
        @Field(12) @Nullable Long gapNanos,
        @Field(13) @Nullable Long excessNanos,
        @Field(14) @Nullable Long discardedTokens,
        @Field(15) @Nullable Long recomputedTokens,
        @Field(16) @Nullable Long kvUsedBlocksCount,
        @Field(17) @Nullable Long kvTotalBlocksCount,
        @Field(18) List<String> evidence,
        @Field(19) @Nullable Cause cause,
        @Field(20) @Nullable String culpritRequestId,
        @Field(21) @Nullable Long ttftNanos,
        @Field(22) @Nullable String deviceId,
        @Field(23) @Nullable Integer priority,
        @Field(24) @Nullable Integer batchSequences,
        @Field(25) @Nullable Long lostNanos,
        @Field(26) @Nullable Integer culpritPriority) {

    /** A milestone that names no cause. */
    public Milestone(
            MilestoneKind milestoneKind,
            long coarseEpochMillis,
            @Nullable Long epochNanos,
            long orderNanos,
            @Nullable String engineId,
            @Nullable String requestId,
            @Nullable Integer lifetime,
            @Nullable Integer sequenceIndex,
            @Nullable Integer tokenIndex,
            @Nullable Long stepId,
            @Nullable Integer contextTokens,
            @Nullable Long gapNanos,
            @Nullable Long excessNanos,
            @Nullable Long discardedTokens,
            @Nullable Long recomputedTokens,
            @Nullable Long kvUsedBlocksCount,
            @Nullable Long kvTotalBlocksCount,
            List<String> evidence) {
        this(
                milestoneKind,
                coarseEpochMillis,
                epochNanos,
                orderNanos,
                engineId,
                requestId,
                lifetime,
                sequenceIndex,
                tokenIndex,
                stepId,
                contextTokens,
                gapNanos,
                excessNanos,
                discardedTokens,
                recomputedTokens,
                kvUsedBlocksCount,
                kvTotalBlocksCount,
                evidence,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null);
    }
}
