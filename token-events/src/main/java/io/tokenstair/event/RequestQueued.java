package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * The engine's scheduler took the request into its waiting queue. Header stamp: that moment. Announces the handle that step rows use.
 *
 * @param engineId the engine, one scheduler
 * @param dpRank data-parallel rank of the engine core, from 0
 * @param requestHandle small number that stands for engineRequestId in this collector and epoch
 * @param engineRequestId the engine's own id, raw
 * @param arrivalEpochNanos arrival at the API server, in ns; absent when the engine does not record it
 * @param promptTokens prompt length, in tokens; absent when not counted by the origin
 * @param maxTokens most output tokens asked for, per sequence, in tokens; absent when no limit was sent
 * @param priority scheduling priority; smaller is more urgent; absent when the origin does not say
 */
public record RequestQueued(
        @Field(1) String engineId,
        @Field(2) int dpRank,
        @Field(3) int requestHandle,
        @Field(4) String engineRequestId,
        @Field(5) @Nullable Long arrivalEpochNanos,
        @Field(6) @Nullable Long promptTokens,
        @Field(7) @Nullable Long maxTokens,
        @Field(8) @Nullable Integer priority)
        implements Event {

    @Override
    public EventKind kind() {
        return EventKind.REQUEST_QUEUED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
