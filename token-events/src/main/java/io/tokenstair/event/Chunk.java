package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * One server-sent event of a stream.
 *
 * @param sequenceIndex promptIndex x n + choice
 * @param chunkIndex number of the chunk in the stream
 * @param firstTokenIndex index of its first output token; absent when {@code tokenCount} is 0
 * @param tokenCount output tokens in it
 * @param sizeBytes bytes on the wire
 * @param arrivedNanos when its bytes left the socket, ns of the header clock
 * @param finish why the sequence ended, or NONE
 * @param writeStartNanos when a gateway began to write it to its client, ns of the header clock; absent for other observers
 * @param writeEndNanos when the socket to the client had taken it, ns of the header clock; absent for other observers
 */
public record Chunk(
        int sequenceIndex,
        int chunkIndex,
        @Nullable Integer firstTokenIndex,
        int tokenCount,
        int sizeBytes,
        long arrivedNanos,
        Finish finish,
        @Nullable Long writeStartNanos,
        @Nullable Long writeEndNanos) {

    /** A chunk as a client saw it, or a gateway that does not stamp its writes. */
    public Chunk(
            int sequenceIndex,
            int chunkIndex,
            @Nullable Integer firstTokenIndex,
            int tokenCount,
            int sizeBytes,
            long arrivedNanos,
            Finish finish) {
        this(sequenceIndex, chunkIndex, firstTokenIndex, tokenCount, sizeBytes, arrivedNanos, finish, null, null);
    }

    /** Refuses counts and positions that cannot be; drops the position of no tokens. */
    public Chunk {
        if (tokenCount < 0 || sequenceIndex < 0 || chunkIndex < 0) {
            throw new IllegalArgumentException("Cannot hold a negative count or index: sequenceIndex " + sequenceIndex
                    + ", chunkIndex " + chunkIndex + ", tokenCount " + tokenCount);
        }
        if (tokenCount > 0 && (firstTokenIndex == null || firstTokenIndex < 0)) {
            throw new IllegalArgumentException("Cannot place tokens without a first token index: " + firstTokenIndex);
        }
        if (tokenCount == 0) {
            firstTokenIndex = null;
        }
    }
}
