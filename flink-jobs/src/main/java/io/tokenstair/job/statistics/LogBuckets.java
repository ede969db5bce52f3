package io.tokenstair.job.statistics;

/**
 * Buckets of durations in ns: every power of two from 512 ns to 1100 s is cut into 64 equal buckets, so that the middle of a bucket
 * is within 1/128 = 0.78 % of any value in it. What is shorter counts as 0, what is longer as {@link #LIMIT_NANOS}.
 */
final class LogBuckets {
    /** Shortest duration that has a bucket of its own: 512 ns. */
    static final long FLOOR_NANOS = 1L << 9;

    /** Durations from here on share the last bucket: 1100 s. */
    static final long LIMIT_NANOS = 1L << 40;

    private static final int MANTISSA_BITS = 6;
    private static final int FIRST_EXPONENT = 9;
    private static final int LAST_EXPONENT = 39;

    /** How many there are: one for what is too short, 31 powers of two of 64 each, one for what is too long. */
    static final int COUNT = 2 + (LAST_EXPONENT - FIRST_EXPONENT + 1 << MANTISSA_BITS);

    private LogBuckets() {}

    /** The bucket of a duration that is not negative. */
    static int of(long nanos) {
        if (nanos < FLOOR_NANOS) {
            return 0;
        }
        if (nanos >= LIMIT_NANOS) {
            return COUNT - 1;
        }
        int exponent = 63 - Long.numberOfLeadingZeros(nanos);
        // The leading bit stays in and counts the power of two.
        return (exponent - FIRST_EXPONENT << MANTISSA_BITS)
                + (int) (nanos >>> exponent - MANTISSA_BITS)
                - (1 << MANTISSA_BITS)
                + 1;
    }

    /** The duration a bucket stands for: its middle, 0 for the first, {@link #LIMIT_NANOS} for the last. */
    static long nanosOf(int bucket) {
        if (bucket == 0) {
            return 0;
        }
        if (bucket == COUNT - 1) {
            return LIMIT_NANOS;
        }
        int exponent = FIRST_EXPONENT + (bucket - 1 >> MANTISSA_BITS);
        long mantissa = (1 << MANTISSA_BITS) + (bucket - 1 & (1 << MANTISSA_BITS) - 1);
        return (mantissa << exponent - MANTISSA_BITS) + (1L << exponent - MANTISSA_BITS - 1);
    }
}
