package io.tokenstair.event;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Full KV blocks entered the prefix cache under their chained hashes. Header stamp: when the collector received it.
 *
 * @param engineId the engine, one scheduler
 * @param dpRank data-parallel rank of the engine core, from 0
 * @param batchSequence number of the KV event message on the wire; absent when the publisher numbers nothing
 * @param batchEpochNanos the publisher's own stamp of the message, in ns; absent when not stamped
 * @param eventIndex position of the event in its message
 * @param medium where the blocks lie, as the engine names it; absent when the engine does not say
 * @param blockHashes chained content hashes, 64 bit, unsigned
 * @param parentBlockHash hash of the block before the first; absent when the first block starts a chain
 * @param blockSizeTokens tokens per block, in tokens; absent when not sent
 * @param storedTokens tokens in the stored blocks, in tokens; absent when not sent
 */
public record KvBlocksStored(
        @Field(1) String engineId,
        @Field(2) int dpRank,
        @Field(3) @Nullable Long batchSequence,
        @Field(4) @Nullable Long batchEpochNanos,
        @Field(5) int eventIndex,
        @Field(6) @Nullable String medium,
        @Field(7) List<Long> blockHashes,
        @Field(8) @Nullable Long parentBlockHash,
        @Field(9) @Nullable Integer blockSizeTokens,
        @Field(10) @Nullable Long storedTokens)
        implements Event {

    public KvBlocksStored {
        blockHashes = List.copyOf(blockHashes);
    }

    @Override
    public EventKind kind() {
        return EventKind.KV_BLOCKS_STORED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
