package io.tokenstair.job.request;

import java.util.Arrays;

/**
 * What delivery usually takes in a stream: median and median absolute deviation of the last {@value #CAPACITY} chunks that nobody
 * held back, in whole microseconds, renewed at every {@value #RENEWED_EVERY}th. State: {@value #CAPACITY} ints and a few numbers.
 * Values may carry a constant offset between two clocks that were never aligned: only differences to the median are used.
 */
public class UsualDelivery {
    static final int CAPACITY = 32;
    static final int WARM = 16;
    private static final int RENEWED_EVERY = 8;

    /** The first value: the others are kept as differences to it. */
    public long baseNanos;

    public int[] offsetsMicros = new int[0];
    public int count;
    public int next;
    public long medianNanos;
    public long deviationNanos;

    /** For Flink's serializer. */
    public UsualDelivery() {}

    /** Adds a value. */
    void add(long nanos) {
        if (count == 0) {
            baseNanos = nanos;
        }
        if (count == offsetsMicros.length && count < CAPACITY) {
            offsetsMicros = Arrays.copyOf(offsetsMicros, Math.min(CAPACITY, Math.max(4, 2 * count)));
        }
        long micros = Math.floorDiv(nanos - baseNanos, 1_000L);
        offsetsMicros[next] = (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, micros));
        next = (next + 1) % CAPACITY;
        count = Math.min(CAPACITY, count + 1);
        if (count >= WARM && next % RENEWED_EVERY == 0) {
            renew();
        }
    }

    private void renew() {
        long[] sorted = new long[count];
        for (int i = 0; i < count; i++) {
            sorted[i] = offsetsMicros[i];
        }
        Arrays.sort(sorted);
        long median = sorted[(count - 1) / 2];
        for (int i = 0; i < count; i++) {
            sorted[i] = Math.abs(sorted[i] - median);
        }
        Arrays.sort(sorted);
        medianNanos = baseNanos + median * 1_000;
        deviationNanos = sorted[(count - 1) / 2] * 1_000;
    }

    /** Whether there are enough values to call another one unusual. */
    boolean warm() {
        return count >= WARM;
    }

    /** Forgets all: another observer, or another clock. */
    void clear() {
        count = 0;
        next = 0;
        offsetsMicros = new int[0];
    }
}
