package io.tokenstair.job.window;

import java.util.Arrays;

/**
 * The last {@code capacity} values, also in order: median in O(1), median absolute deviation in O(log capacity), integers only. State
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
            replace(ring[next], value);
        } else {
            int at = Arrays.binarySearch(sorted, 0, size, value);
            at = at < 0 ? -at - 1 : at;
            System.arraycopy(sorted, at, sorted, at + 1, size - at);
            sorted[at] = value;
            count = size + 1;
        }
        ring[next] = value;
        next = next + 1 == ring.length ? 0 : next + 1;
    }

    /** Puts a value in the place of another one: only what lies between the two moves. */
    private void replace(long old, long value) {
        if (old == value) {
            return;
        }
        int from = Arrays.binarySearch(sorted, 0, count, old);
        int to = Arrays.binarySearch(sorted, 0, count, value);
        to = to < 0 ? -to - 1 : to;
        if (to > from) {
            System.arraycopy(sorted, from + 1, sorted, from, to - from - 1);
            sorted[to - 1] = value;
        } else {
            System.arraycopy(sorted, to, sorted, to + 1, from - to);
            sorted[to] = value;
        }
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
        // Distances grow to either side of the median. Of the middle + 1 smallest some are below it: the least number
        // of them
        // such that the next one below is no nearer than the last one taken above.
        int middle = (count - 1) / 2;
        long median = sorted[middle];
        int least = Math.max(0, middle + 1 - (count - 1 - middle));
        int most = middle + 1;
        while (least < most) {
            int below = (least + most) >>> 1;
            int above = middle + 1 - below;
            if (median - sorted[middle - below] < sorted[middle + above] - median) {
                least = below + 1;
            } else {
                most = below;
            }
        }
        int above = middle + 1 - least;
        long down = least == 0 ? 0 : median - sorted[middle - least + 1];
        return above == 0 ? down : Math.max(down, sorted[middle + above] - median);
    }
}
