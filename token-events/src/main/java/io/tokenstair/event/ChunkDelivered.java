package io.tokenstair.event;

import java.util.List;

/**
 * Consecutive stream chunks of one request as the observer received them. Header stamp: arrival of the first.
 *
 * @param observer who saw it: gateway or client
 * @param requestId the client's own id of the request
 * @param chunks at most {@value #MAX_CHUNKS}, in order of arrival
 */
public record ChunkDelivered(
        @Field(1) String observer, @Field(2) String requestId, List<Chunk> chunks) implements Event {

    /** Most chunks in one record. */
    public static final int MAX_CHUNKS = 16;

    /** Refuses an empty or oversized record. */
    public ChunkDelivered {
        chunks = List.copyOf(chunks);
        if (chunks.isEmpty() || chunks.size() > MAX_CHUNKS) {
            throw new IllegalArgumentException("Cannot hold this many chunks: " + chunks.size());
        }
    }

    @Override
    public EventKind kind() {
        return EventKind.CHUNK_DELIVERED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
