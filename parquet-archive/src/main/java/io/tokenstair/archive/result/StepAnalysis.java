package io.tokenstair.archive.result;

import io.tokenstair.event.Field;
import org.jspecify.annotations.Nullable;

/**
 * One engine step as the model judged it. Table {@code step_analysis}.
 *
 * @param endEpochNanos aligned end of the step; absent where the clock is not aligned
 * @param boundNanos hard half-width of that stamp
 * @param sigmaNanos its statistical width: standard deviation of its error; absent where the stamp is
 * @param stepNanos end less the later of its schedule start and the end of the step before
 * @param idleNanos time before it in which no step was in flight
 * @param slowKind load or anomaly; absent when the step is not slow, or the model cannot say
 * @param modelVersion version of the {@link ModelSnapshot} that judged it; absent while the model is cold
 * @param expectedBasis learnt, neighbours, other-mode or prompts-unknown
 * @param batchNanos Shapley values of expected less reference: the five that are present sum exactly to it
 * @param expectedNanos what the model says for its composition, judged by the snapshot before it; absent while the model is cold
 * @param referenceNanos the same snapshot for a usual decode-only step; absent while it is not known
 */
public record StepAnalysis(
        @Field(1) String engineId,
        @Field(2) int dpRank,
        @Field(3) long stepId,
        @Field(4) @Nullable Long endEpochNanos,
        @Field(5) @Nullable Long boundNanos,
        @Field(6) long stepNanos,
        @Field(7) long idleNanos,
        @Field(8) @Nullable Long expectedNanos,
        @Field(9) @Nullable Long referenceNanos,
        @Field(10) int batchSequences,
        @Field(11) int decodeSequences,
        @Field(12) long residentTokens,
        @Field(13) long prefillTokens,
        @Field(14) long recomputeTokens,
        @Field(15) @Nullable Integer runningCount,
        @Field(16) @Nullable Integer waitingCount,
        @Field(17) @Nullable Long kvUsedBlocksCount,
        @Field(18) @Nullable Long kvTotalBlocksCount,
        @Field(19) @Nullable Long coreWaitNanos,
        @Field(20) @Nullable String slowKind,
        @Field(21) @Nullable Integer modelVersion,
        @Field(22) @Nullable String expectedBasis,
        @Field(23) int paddedCount,
        @Field(24) @Nullable String graphMode,
        @Field(25) long promptPairs,
        @Field(26) @Nullable Long batchNanos,
        @Field(27) @Nullable Long contextNanos,
        @Field(28) @Nullable Long prefillNanos,
        @Field(29) @Nullable Long recomputeNanos,
        @Field(30) @Nullable Long graphNanos,
        @Field(31) @Nullable Long sigmaNanos) {}
