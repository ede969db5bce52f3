package io.tokenstair.event;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Cached KV blocks left the cache. Header stamp: when the collector received it.
 *
 * @param engineId the engine, one scheduler
 * @param dpRank data-parallel rank of the engine core, from 0
 * @param batchSequence number of the KV event message on the wire; absent when the publisher numbers nothing
 * @param batchEpochNanos the publisher's own stamp of the message, in ns; absent when not stamped
 * @param eventIndex position of the event in its message
 * @param medium where the blocks lie, as the engine names it; absent when the engine does not say
 * @param blockHashes chained content hashes, 64 bit, unsigned
 * @param allCleared true when the whole cache was cleared
 * @param reason why, as the origin names it; absent when the origin does not say
 */
public record KvBlocksEvicted(
        @Field(1) String engineId,
        @Field(2) int dpRank,
        @Field(3) @Nullable Long batchSequence,
        @Field(4) @Nullable Long batchEpochNanos,
        @Field(5) int eventIndex,
        @Field(6) @Nullable String medium,
        @Field(7) List<Long> blockHashes,
        @Field(8) boolean allCleared,
        @Field(9) @Nullable String reason)
        implements Event {

    public KvBlocksEvicted {
        blockHashes = List.copyOf(blockHashes);
    }

    @Override
    public EventKind kind() {
        return EventKind.KV_BLOCKS_EVICTED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
