package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * The engine ended a sequence. Header stamp: that moment.
 *
 * @param engineId the engine, one scheduler
 * @param dpRank data-parallel rank of the engine core, from 0
 * @param engineRequestId the engine's own id, raw
 * @param endReason length, stop, aborted, error or unknown
 * @param outputTokens output tokens so far, in tokens; absent when not counted
 * @param stepId number of the schedule call, from 0 at engine start; absent when the end was not tied to a step
 */
public record RequestFinished(
        @Field(1) String engineId,
        @Field(2) int dpRank,
        @Field(3) String engineRequestId,
        @Field(4) String endReason,
        @Field(5) @Nullable Long outputTokens,
        @Field(6) @Nullable Long stepId)
        implements Event {

    @Override
    public EventKind kind() {
        return EventKind.REQUEST_FINISHED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
