package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * What the prefix cache was asked for and found since the last report. Header stamp: the report.
 *
 * @param engineId the engine, one scheduler
 * @param dpRank data-parallel rank of the engine core, from 0
 * @param queriedTokens tokens looked up, in tokens; absent when not reported
 * @param hitTokens tokens found, in tokens; absent when not reported
 * @param preemptedQueriedTokens tokens looked up for resumed sequences, in tokens; absent when not reported
 * @param preemptedHitTokens tokens found for resumed sequences, in tokens; absent when not reported
 */
public record KvLookup(
        @Field(1) String engineId,
        @Field(2) int dpRank,
        @Field(3) @Nullable Long queriedTokens,
        @Field(4) @Nullable Long hitTokens,
        @Field(5) @Nullable Long preemptedQueriedTokens,
        @Field(6) @Nullable Long preemptedHitTokens)
        implements Event {

    @Override
    public EventKind kind() {
        return EventKind.KV_LOOKUP;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
