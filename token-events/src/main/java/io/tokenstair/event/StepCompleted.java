package io.tokenstair.event;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One engine iteration, with a row per scheduled sequence. A decode token has no time of its own: its step has. Header stamp:
 * {@code updateEndNanos}, the end of the step.
 *
 * @param engineId the engine, one scheduler
 * @param dpRank data-parallel rank of the engine core, from 0
 * @param stepId number of the schedule call, from 0 at engine start
 * @param scheduleStartNanos start of the scheduler's work, ns of the header clock; absent when not stamped
 * @param scheduleEndNanos end of it, the model runs from here; absent when not stamped
 * @param updateStartNanos start of taking in the output, the model ran until here; absent when not stamped
 * @param updateEndNanos end of taking in the output: the end of the step
 * @param forwardMode prefill, decode, mixed or idle; absent when not reported
 * @param graphMode eager, piecewise or full; absent when not reported
 * @param paddedBatchCount batch size after bucketing; absent when not padded or not reported
 * @param decodeTokens decode tokens computed; absent when not reported
 * @param prefillTokens new prompt tokens computed; absent when not reported
 * @param recomputeTokens tokens computed again after a preemption; absent when not reported
 * @param runningCount sequences running after scheduling; absent when not reported
 * @param waitingCount sequences waiting after scheduling; absent when not reported
 * @param kvUsedBlocksCount KV blocks in use after scheduling; absent when not reported
 * @param kvTotalBlocksCount usable KV blocks; absent when not reported
 * @param kvBatchSequence number of the KV event message this step published; absent when none, or when the engine does not say
 * @param probeNanos time the recorder itself took in this step; absent when not measured
 * @param announcements handles announced with this step
 * @param rows the scheduled sequences
 */
public record StepCompleted(
        @Field(1) String engineId,
        @Field(2) int dpRank,
        @Field(3) long stepId,
        @Field(4) @Nullable Long scheduleStartNanos,
        @Field(5) @Nullable Long scheduleEndNanos,
        @Field(6) @Nullable Long updateStartNanos,
        @Field(7) long updateEndNanos,
        @Field(8) @Nullable String forwardMode,
        @Field(9) @Nullable String graphMode,
        @Field(10) @Nullable Integer paddedBatchCount,
        @Field(11) @Nullable Long decodeTokens,
        @Field(12) @Nullable Long prefillTokens,
        @Field(13) @Nullable Long recomputeTokens,
        @Field(14) @Nullable Integer runningCount,
        @Field(15) @Nullable Integer waitingCount,
        @Field(16) @Nullable Long kvUsedBlocksCount,
        @Field(17) @Nullable Long kvTotalBlocksCount,
        @Field(18) @Nullable Long kvBatchSequence,
        @Field(19) @Nullable Long probeNanos,
        List<HandleAnnounced> announcements,
        SequenceRows rows)
        implements Event {

    /** Copies the announcements. */
    public StepCompleted {
        announcements = List.copyOf(announcements);
    }

    @Override
    public EventKind kind() {
        return EventKind.STEP_COMPLETED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
