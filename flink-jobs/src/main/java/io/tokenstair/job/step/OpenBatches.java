package io.tokenstair.job.step;

/**
 * The batches of an engine that are being filled, by when they were begun: each has a number, and they are numbered one after the
 * other. One that is shipped out of turn stays in the queue until it is the first. At most as many as were begun within {@link
 * EngineTimeline#BATCH_NANOS}.
 */
public class OpenBatches {
    /** Handles of their sequences, in a ring whose length is a power of two. */
    public int[] handles = new int[16];

    /** Number of the first one; its handle lies at that place of the ring. */
    public long firstNumber;

    public int count;

    /** For Flink's serializer. */
    public OpenBatches() {}

    /** Adds a batch of a sequence and returns its number. */
    long add(int handle) {
        if (count == handles.length) {
            int[] wider = new int[2 * count];
            for (int i = 0; i < count; i++) {
                long number = firstNumber + i;
                wider[(int) number & wider.length - 1] = handles[(int) number & count - 1];
            }
            handles = wider;
        }
        long number = firstNumber + count++;
        handles[(int) number & handles.length - 1] = handle;
        return number;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** The sequence of the first one. */
    int firstHandle() {
        return handles[(int) firstNumber & handles.length - 1];
    }

    /** Takes the first one away. */
    void removeFirst() {
        firstNumber++;
        count--;
    }

    /** Takes all away. */
    void clear() {
        firstNumber += count;
        count = 0;
    }
}
