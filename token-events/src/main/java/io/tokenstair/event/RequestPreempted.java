package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * A running sequence lost its KV blocks and went back to the waiting queue. Header stamp: that moment.
 *
 * @param engineId the engine, one scheduler
 * @param dpRank data-parallel rank of the engine core, from 0
 * @param engineRequestId the engine's own id, raw
 * @param stepId number of the schedule call, from 0 at engine start
 * @param reason why, as the origin names it; absent when the origin does not say
 * @param wantedByEngineRequestId whose allocation failed; absent when not known
 * @param discardedTokens computed tokens lost, in tokens; absent when not recorded
 * @param outputTokens output tokens so far, in tokens; absent when not counted
 * @param preemptionCount how often this sequence has been preempted, this time included; absent when not recorded
 * @param freeBlocksCount free KV blocks before the victim's were freed; absent when not recorded
 */
public record RequestPreempted(
        @Field(1) String engineId,
        @Field(2) int dpRank,
        @Field(3) String engineRequestId,
        @Field(4) long stepId,
        @Field(5) @Nullable String reason,
        @Field(6) @Nullable String wantedByEngineRequestId,
        @Field(7) @Nullable Long discardedTokens,
        @Field(8) @Nullable Long outputTokens,
        @Field(9) @Nullable Integer preemptionCount,
        @Field(10) @Nullable Long freeBlocksCount)
        implements Event {

    @Override
    public EventKind kind() {
        return EventKind.REQUEST_PREEMPTED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
