package io.tokenstair.milestone;

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
        @Field(18) List<String> evidence) {}
