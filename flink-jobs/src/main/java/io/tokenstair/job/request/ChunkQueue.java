package io.tokenstair.job.request;

import java.util.Arrays;

/**
 * Chunks of one sequence that one observer saw and whose tokens are still to come, in the order of their tokens. A chunk that
 * overlaps what is here or what has passed came twice, or too late, and is refused. Bounded by its users: {@value #MAX_CHUNKS}
 * chunks, {@value #CHUNK_LONGS} numbers each.
 */
public class ChunkQueue {
    /** Most chunks that wait; beyond it the oldest are said without an engine's word. */
    static final int MAX_CHUNKS = 16_384;

    /** Stands for a stamp that the observer does not give. */
    static final long ABSENT = Long.MIN_VALUE;

    private static final int CHUNK_LONGS = 6;
    private static final int FIRST = 0;
    private static final int END = 1;
    private static final int ARRIVED = 2;
    private static final int WRITE_START = 3;
    private static final int WRITE_END = 4;
    private static final int RECORD = 5;

    /** First token, token after the last, arrival, write start, write end, number of the record: chunk after chunk. */
    public long[] values = new long[0];

    /** Where the first chunk begins in {@link #values}. */
    public int from;

    /** Where the last chunk ends in {@link #values}. */
    public int to;

    /** Tokens below this one have passed. */
    public long passedIndex;

    /** For Flink's serializer. */
    public ChunkQueue() {}

    boolean isEmpty() {
        return from == to;
    }

    int size() {
        return (to - from) / CHUNK_LONGS;
    }

    /** Puts a chunk where its tokens belong; false where some of them are here already, or have passed. */
    boolean offer(
            long firstTokenIndex,
            int tokenCount,
            long arrivedNanos,
            long writeStartNanos,
            long writeEndNanos,
            long recordSequence) {
        long end = firstTokenIndex + tokenCount;
        int at = to;
        while (at > from && values[at - CHUNK_LONGS + FIRST] >= end) {
            at -= CHUNK_LONGS;
        }
        if (firstTokenIndex < passedIndex || (at > from && values[at - CHUNK_LONGS + END] > firstTokenIndex)) {
            return false;
        }
        if (to == values.length) {
            makeRoom();
            at -= from;
            to -= from;
            from = 0;
        }
        System.arraycopy(values, at, values, at + CHUNK_LONGS, to - at);
        values[at + FIRST] = firstTokenIndex;
        values[at + END] = end;
        values[at + ARRIVED] = arrivedNanos;
        values[at + WRITE_START] = writeStartNanos;
        values[at + WRITE_END] = writeEndNanos;
        values[at + RECORD] = recordSequence;
        to += CHUNK_LONGS;
        return true;
    }

    /** Moves what waits to the front of an array with room for one more. */
    private void makeRoom() {
        int used = to - from;
        int longs = used + CHUNK_LONGS <= values.length / 2 ? values.length : Math.max(CHUNK_LONGS * 4, 2 * used);
        values = Arrays.copyOf(Arrays.copyOfRange(values, from, to), longs);
    }

    /** Index of the first token of the first chunk that has not been taken. */
    long firstTokenIndex() {
        return values[from + FIRST];
    }

    /** Index after the last token of the first chunk. */
    long endTokenIndex() {
        return values[from + END];
    }

    long arrivedNanos() {
        return values[from + ARRIVED];
    }

    /** When the gateway began to write it, or {@link #ABSENT}. */
    long writeStartNanos() {
        return values[from + WRITE_START];
    }

    /** When the socket had taken it, or {@link #ABSENT}. */
    long writeEndNanos() {
        return values[from + WRITE_END];
    }

    /** Number of the record that brought it, in its collector's epoch. */
    long recordSequence() {
        return values[from + RECORD];
    }

    /** Takes the tokens up to this one out of the first chunk; true when the chunk is empty now and gone. */
    boolean take(long tokenIndex) {
        passedIndex = tokenIndex + 1;
        if (passedIndex < values[from + END]) {
            values[from + FIRST] = passedIndex;
            return false;
        }
        remove();
        return true;
    }

    /** Removes the first chunk. */
    void remove() {
        passedIndex = Math.max(passedIndex, values[from + END]);
        from += CHUNK_LONGS;
        if (from == to) {
            from = 0;
            to = 0;
            if (values.length > CHUNK_LONGS * 16) {
                values = new long[0];
            }
        }
    }

    /** Arrival of each waiting chunk and its tokens, one after the other. */
    long[] arrivalsAndCounts() {
        long[] pairs = new long[2 * size()];
        for (int i = 0; i < size(); i++) {
            int at = from + i * CHUNK_LONGS;
            pairs[2 * i] = values[at + ARRIVED];
            pairs[2 * i + 1] = values[at + END] - values[at + FIRST];
        }
        return pairs;
    }
}
