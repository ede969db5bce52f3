package io.tokenstair.job.window;

import java.util.Arrays;

/**
 * The last {@code capacity} values, also in order: median in O(1), median absolute deviation in O(capacity), integers only. State
 * is two arrays of {@code capacity} longs.
 */
public class SortedWindow {
    public long[] ring = new long[0];
    public long[] sorted = new long[0];
    public int count;
    public int next;

    /** For Flink's serializer. */
    public SortedWindow() {}

    /** An empty window over the last {@code capacity} values. */
    public SortedWindow(int capacity) {
        ring = new long[capacity];
        sorted = new long[capacity];
    }

    /** Adds a value; the oldest one leaves a full window. */
    public void add(long value) {
        int size = count;
        if (size == ring.length) {
            int at = Arrays.binarySearch(sorted, 0, size, ring[next]);
            System.arraycopy(sorted, at + 1, sorted, at, size - at - 1);
            size--;
        }
        int at = Arrays.binarySearch(sorted, 0, size, value);
        if (at < 0) {
            at = -at - 1;
        }
        System.arraycopy(sorted, at, sorted, at + 1, size - at);
        sorted[at] = value;
        ring[next] = value;
        next = (next + 1) % ring.length;
        count = size + 1;
    }

    /** How many values it holds. */
    public int size() {
        return count;
    }

    /** The lower median. The window must not be empty. */
    public long median() {
        return sorted[(count - 1) / 2];
    }

    /** Median of the distances to the median. The window must not be empty. */
    public long medianAbsoluteDeviation() {
        long median = median();
        int below = (count - 1) / 2;
        int above = below + 1;
        long distance = 0;
        for (int taken = 0; taken <= (count - 1) / 2; taken++) {
            long down = below >= 0 ? median - sorted[below] : Long.MAX_VALUE;
            long up = above < count ? sorted[above] - median : Long.MAX_VALUE;
            if (down <= up) {
                distance = down;
                below--;
            } else {
                distance = up;
                above++;
            }
        }
        return distance;
    }
}
