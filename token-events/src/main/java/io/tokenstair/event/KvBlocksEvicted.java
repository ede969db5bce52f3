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
 * @param wantedByEngineRequestId the sequence that got the room; absent when not known
 * @param reuseCount how often each block had been found again, as many as hashes; empty when not known
 * @param idleNanos time since each block was last in use, in ns, -1 where not known; empty when not known of any
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
        @Field(9) @Nullable String reason,
        @Field(10) @Nullable String wantedByEngineRequestId,
        @Field(11) List<Long> reuseCount,
        @Field(12) List<Long> idleNanos)
        implements Event {

    /** Refuses columns of different lengths. */
    public KvBlocksEvicted {
        blockHashes = List.copyOf(blockHashes);
        reuseCount = List.copyOf(reuseCount);
        idleNanos = List.copyOf(idleNanos);
        if ((!reuseCount.isEmpty() && reuseCount.size() != blockHashes.size())
                || (!idleNanos.isEmpty() && idleNanos.size() != blockHashes.size())) {
            throw new IllegalArgumentException(
                    "Cannot join columns of evicted blocks of different lengths: " + blockHashes.size() + " hashes");
        }
    }

    /** An eviction of which the origin tells no more than the blocks and the reason. */
    public KvBlocksEvicted(
            String engineId,
            int dpRank,
            @Nullable Long batchSequence,
            @Nullable Long batchEpochNanos,
            int eventIndex,
            @Nullable String medium,
            List<Long> blockHashes,
            boolean allCleared,
            @Nullable String reason) {
        this(
                engineId,
                dpRank,
                batchSequence,
                batchEpochNanos,
                eventIndex,
                medium,
                blockHashes,
                allCleared,
                reason,
                null,
                List.of(),
                List.of());
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
