package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * KV blocks of a request came from or went to another node or a slower tier. Header stamp: the end, or the report while it is under way.
 *
 * @param engineId the engine, one scheduler
 * @param dpRank data-parallel rank of the engine core, from 0
 * @param engineRequestId the engine's own id, raw; absent when the blocks belong to no one request
 * @param transferKind remote (another node) or offload (a slower tier)
 * @param direction load or store, as seen from this engine
 * @param startNanos start of the transfer, or of the wait for it, in ns
 * @param endNanos end of it, in ns; absent when it was still under way
 * @param sizeBytes bytes moved, in bytes; absent when not reported
 * @param tokenCount tokens whose KV was moved, in tokens; absent when not reported
 * @param peer the other node or tier; absent when not known
 */
public record KvTransferred(
        @Field(1) String engineId,
        @Field(2) int dpRank,
        @Field(3) @Nullable String engineRequestId,
        @Field(4) String transferKind,
        @Field(5) String direction,
        @Field(6) long startNanos,
        @Field(7) @Nullable Long endNanos,
        @Field(8) @Nullable Long sizeBytes,
        @Field(9) @Nullable Long tokenCount,
        @Field(10) @Nullable String peer)
        implements Event {

    @Override
    public EventKind kind() {
        return EventKind.KV_TRANSFERRED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
