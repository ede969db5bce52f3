package io.tokenstair.job.statistics;

import java.util.Arrays;

/** Counts durations into all {@link LogBuckets} at once, a few ns each: 8 KB and the list of buckets in use. Never sent or kept. */
public final class DurationCounter {
    private final long[] counts = new long[LogBuckets.COUNT];
    private final int[] used = new int[LogBuckets.COUNT];
    private int usedCount;
    private long total;

    /** An empty one. */
    public DurationCounter() {}

    /** Counts a duration that is not negative, in ns. */
    public void record(long nanos) {
        int bucket = LogBuckets.of(nanos);
        if (counts[bucket]++ == 0) {
            used[usedCount++] = bucket;
        }
        total++;
    }

    /** Counts so many durations that are not negative, all of them this one, in ns. */
    void record(long nanos, int times) {
        int bucket = LogBuckets.of(nanos);
        if (counts[bucket] == 0) {
            used[usedCount++] = bucket;
        }
        counts[bucket] += times;
        total += times;
    }

    /** Counts all durations of a histogram. */
    void add(DurationHistogram histogram) {
        int[] buckets = histogram.buckets;
        for (int i = 0; i < buckets.length; i++) {
            int bucket = buckets[i];
            if (counts[bucket] == 0) {
                used[usedCount++] = bucket;
            }
            counts[bucket] += histogram.counts[i];
        }
        total += histogram.total;
    }

    /** How many were counted. */
    long total() {
        return total;
    }

    /** What was counted. */
    public DurationHistogram histogram() {
        int[] buckets = Arrays.copyOf(used, usedCount);
        Arrays.sort(buckets);
        long[] values = new long[usedCount];
        for (int i = 0; i < usedCount; i++) {
            values[i] = counts[buckets[i]];
        }
        return new DurationHistogram(buckets, values, total);
    }

    /** Forgets everything, in the time of what is in use. */
    void clear() {
        for (int i = 0; i < usedCount; i++) {
            counts[used[i]] = 0;
        }
        usedCount = 0;
        total = 0;
    }
}
