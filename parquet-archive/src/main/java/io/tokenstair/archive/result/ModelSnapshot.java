package io.tokenstair.archive.result;

import io.tokenstair.event.Field;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A version of the step time model of an engine's scheduler, one per data-parallel rank: it judged the steps from {@code validFromStepId} to the next version, so that expected
 * and reference time can be computed again. Table {@code model_snapshot}. Coefficients are whole numbers in fixed point:
 * docs/archive.md has the formula.
 *
 * @param version counts up from 1 in each life of the engine's analysis
 * @param validFromEpochNanos aligned end of the step before; absent where the clock is not aligned
 * @param cells learnt rows of the step table as graph mode/largest padded batch of the row
 * @param cellNanos what each adds, as many as cells
 * @param dpRank the data-parallel rank whose scheduler it is of, as in step_analysis; absent in rows of earlier builds
 */
public record ModelSnapshot(
        @Field(1) String engineId,
        @Field(2) int version,
        @Field(3) long validFromStepId,
        @Field(4) @Nullable Long validFromEpochNanos,
        @Field(5) long fixedNanos,
        @Field(6) long perSequence,
        @Field(7) long perResident,
        @Field(8) long perPrompt,
        @Field(9) long perPair,
        @Field(10) boolean promptsKnown,
        @Field(11) List<String> cells,
        @Field(12) List<Long> cellNanos,
        @Field(13) long noiseMillionths,
        @Field(14) @Nullable Long spreadNanos,
        @Field(15) int usualSequences,
        @Field(16) int usualPaddedCount,
        @Field(17) long usualResidentTokens,
        @Field(18) @Nullable String usualGraphMode,
        @Field(19) long referenceNanos,
        @Field(20) @Nullable Integer dpRank) {}
