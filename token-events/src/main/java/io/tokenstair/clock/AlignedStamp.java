package io.tokenstair.clock;

/**
 * A moment on the common axis, with how far off it may be.
 *
 * @param epochNanos ns since 1970-01-01T00:00Z
 * @param boundNanos half-width: the truth lies within this many ns on either side, as far as the clock samples tell
 */
public record AlignedStamp(long epochNanos, long boundNanos) {

    /** Refuses a negative bound. */
    public AlignedStamp {
        if (boundNanos < 0) {
            throw new IllegalArgumentException("Cannot hold a negative bound: " + boundNanos);
        }
    }

    /**
     * True when this moment is before the other whatever the truth within both bounds. When neither is surely before the other,
     * their order is undecidable.
     */
    public boolean surelyBefore(AlignedStamp other) {
        return saturatedSum(epochNanos, boundNanos) < saturatedSum(other.epochNanos, -other.boundNanos);
    }

    private static long saturatedSum(long a, long b) {
        long sum = a + b;
        if (((a ^ sum) & (b ^ sum)) < 0) {
            return a < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
        return sum;
    }
}
