package io.tokenstair.job.statistics;

import java.util.Arrays;

/**
 * Counts of durations by {@link LogBuckets}, only those that are not 0, in bucket order: what is kept and sent. Adding and
 * subtracting are exact, so the same durations give the same histogram in any order. At most {@link LogBuckets#COUNT} entries of 12
 * bytes; a second of one engine has some 20.
 */
public class DurationHistogram {
    /** Factor that makes the median absolute deviation of a normal distribution its standard deviation. */
    public static final double NORMAL_SCALE = 1.4826;

    /** Buckets that have a count, ascending. */
    public int[] buckets = new int[0];
    /** Their counts, above 0. */
    public long[] counts = new long[0];

    public long total;

    /** For Flink's serializer: an empty one. */
    public DurationHistogram() {}

    /** Takes these columns as they are. */
    DurationHistogram(int[] buckets, long[] counts, long total) {
        this.buckets = buckets;
        this.counts = counts;
        this.total = total;
    }

    /** A histogram of durations that are not negative. */
    public static DurationHistogram of(long... nanos) {
        DurationCounter counter = new DurationCounter();
        for (long value : nanos) {
            counter.record(value);
        }
        return counter.histogram();
    }

    /** All durations of both. */
    public DurationHistogram plus(DurationHistogram other) {
        return merge(this, other, 1);
    }

    /** The durations without those of {@code other}, which must all be in it. */
    public DurationHistogram minus(DurationHistogram other) {
        return merge(this, other, -1);
    }

    private static DurationHistogram merge(DurationHistogram a, DurationHistogram b, int sign) {
        int[] buckets = new int[a.buckets.length + b.buckets.length];
        long[] counts = new long[buckets.length];
        int size = 0;
        int i = 0;
        int j = 0;
        while (i < a.buckets.length || j < b.buckets.length) {
            int left = i < a.buckets.length ? a.buckets[i] : Integer.MAX_VALUE;
            int right = j < b.buckets.length ? b.buckets[j] : Integer.MAX_VALUE;
            long count = 0;
            if (left <= right) {
                count += a.counts[i++];
            }
            if (right <= left) {
                count += sign * b.counts[j++];
            }
            if (count < 0) {
                throw new IllegalArgumentException(
                        "Cannot subtract more than there is in bucket " + Math.min(left, right) + ": " + count);
            }
            if (count > 0) {
                buckets[size] = Math.min(left, right);
                counts[size++] = count;
            }
        }
        return new DurationHistogram(
                Arrays.copyOf(buckets, size), Arrays.copyOf(counts, size), a.total + sign * b.total);
    }

    /** True when it holds nothing. */
    public boolean isEmpty() {
        return total == 0;
    }

    /**
     * A quantile, in ns, within 0.78 % of the exact one: the smallest duration that at least {@code tenThousandths} of all do not
     * exceed. The histogram must not be empty.
     */
    public long quantileNanos(int tenThousandths) {
        return LogBuckets.nanosOf(buckets[entryOfRank(rank(tenThousandths))]);
    }

    private long rank(int tenThousandths) {
        return Math.max(1, (Math.multiplyExact(total, tenThousandths) + 9_999) / 10_000);
    }

    private int entryOfRank(long rank) {
        long seen = 0;
        for (int i = 0; i < counts.length; i++) {
            seen += counts[i];
            if (seen >= rank) {
                return i;
            }
        }
        throw new IllegalStateException("Cannot find rank " + rank + " of " + seen);
    }

    /** The median, in ns. The histogram must not be empty. */
    public long medianNanos() {
        return quantileNanos(5_000);
    }

    /** The median of the distances to the median, in ns: a walk from the median to both sides, nearest bucket first. Not empty. */
    public long medianAbsoluteDeviationNanos() {
        long rank = rank(5_000);
        int middle = entryOfRank(rank);
        long median = LogBuckets.nanosOf(buckets[middle]);
        int below = middle;
        int above = middle + 1;
        long seen = 0;
        while (true) {
            long down = below >= 0 ? median - LogBuckets.nanosOf(buckets[below]) : Long.MAX_VALUE;
            long up = above < buckets.length ? LogBuckets.nanosOf(buckets[above]) - median : Long.MAX_VALUE;
            seen += down <= up ? counts[below--] : counts[above++];
            if (seen >= rank) {
                return Math.min(down, up);
            }
        }
    }

    /** How many are in buckets that stand for more than this, in ns. */
    public long countAbove(long nanos) {
        long count = 0;
        for (int i = buckets.length - 1; i >= 0 && LogBuckets.nanosOf(buckets[i]) > nanos; i--) {
            count += counts[i];
        }
        return count;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof DurationHistogram that
                && total == that.total
                && Arrays.equals(buckets, that.buckets)
                && Arrays.equals(counts, that.counts);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(buckets) * 31 + Arrays.hashCode(counts);
    }

    @Override
    public String toString() {
        return "DurationHistogram[" + total + "]";
    }
}
