package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * A shard of the weights was loaded at start-up. Header stamp: the end.
 *
 * @param engineId the engine, one scheduler
 * @param dpRank data-parallel rank of the engine core, from 0
 * @param deviceId the device; absent when not known
 * @param shard file or part
 * @param sizeBytes its size, in bytes; absent when not reported
 * @param startNanos start, in ns
 * @param endNanos end, in ns
 * @param bindingPath how it reached the device: path or binding; absent when not reported
 */
public record ShardLoaded(
        @Field(1) String engineId,
        @Field(2) int dpRank,
        @Field(3) @Nullable String deviceId,
        @Field(4) String shard,
        @Field(5) @Nullable Long sizeBytes,
        @Field(6) long startNanos,
        @Field(7) long endNanos,
        @Field(8) @Nullable String bindingPath)
        implements Event {

    @Override
    public EventKind kind() {
        return EventKind.SHARD_LOADED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
