package io.tokenstair.job.evidence;

import java.util.Arrays;

/** Time that is covered already: a set of instants as sorted, disjoint, half-open intervals of nanoseconds. Adding says what is new. */
public final class IntervalSet {
    private long[] starts = new long[8];
    private long[] ends = new long[8];
    private int count;

    /** Covers {@code [start, end)} and returns how much of it was not covered before. An empty interval covers nothing. */
    public long add(long start, long end) {
        if (end <= start) {
            return 0;
        }
        int first = 0;
        while (first < count && ends[first] < start) {
            first++;
        }
        long newStart = start;
        long newEnd = end;
        long before = 0;
        int last = first;
        while (last < count && starts[last] <= end) {
            newStart = Math.min(newStart, starts[last]);
            newEnd = Math.max(newEnd, ends[last]);
            before += ends[last] - starts[last];
            last++;
        }
        if (last == first && count == starts.length) {
            starts = Arrays.copyOf(starts, 2 * count);
            ends = Arrays.copyOf(ends, 2 * count);
        }
        System.arraycopy(starts, last, starts, first + 1, count - last);
        System.arraycopy(ends, last, ends, first + 1, count - last);
        count += 1 - (last - first);
        starts[first] = newStart;
        ends[first] = newEnd;
        return newEnd - newStart - before;
    }

    /** Everything that is covered. */
    public long totalNanos() {
        long total = 0;
        for (int i = 0; i < count; i++) {
            total += ends[i] - starts[i];
        }
        return total;
    }
}
