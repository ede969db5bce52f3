package io.tokenstair.clock;

/**
 * A moment on the axis of another clock, with how far off it may be. On a wall clock the axis is the epoch.
 *
 * @param epochNanos the reading of the other clock: on a wall clock, ns since 1970-01-01T00:00Z
 * @param boundNanos hard half-width: the truth lies within this many ns on either side, as far as the clock samples are true
 * @param sigmaNanos statistical width: standard deviation of the error, in ns; blind to a lasting difference between the two directions
 *     of a link. Where nothing statistical is known it is the bound
 */
public record AlignedStamp(long epochNanos, long boundNanos, long sigmaNanos) {

    /** Refuses negative widths. */
    public AlignedStamp {
        if (boundNanos < 0) {
            throw new IllegalArgumentException("Cannot hold a negative bound: " + boundNanos);
        }
        if (sigmaNanos < 0) {
            throw new IllegalArgumentException("Cannot hold a negative width: " + sigmaNanos);
        }
    }

    /** A moment of which nothing statistical is known. */
    public AlignedStamp(long epochNanos, long boundNanos) {
        this(epochNanos, boundNanos, boundNanos);
    }

    /**
     * True when this moment is before the other whatever the truth within both bounds. When neither is surely before the other,
     * their order is undecidable.
     */
    public boolean surelyBefore(AlignedStamp other) {
        return saturatedSum(epochNanos, boundNanos) < saturatedSum(other.epochNanos, -other.boundNanos);
    }

    /** The standard deviation of the sum of two independent errors, in ns. */
    public static long combinedSigma(long oneNanos, long otherNanos) {
        return (long) StrictMath.hypot((double) oneNanos, (double) otherNanos);
    }

    /** A sum that stays at the end of the range where it would leave it. */
    static long saturatedSum(long a, long b) {
        long sum = a + b;
        if (((a ^ sum) & (b ^ sum)) < 0) {
            return a < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
        return sum;
    }
}
