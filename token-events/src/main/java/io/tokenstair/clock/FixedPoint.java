package io.tokenstair.clock;

/**
 * Exact arithmetic with rates in units of 2^-40 (ns per ns). What does not fit 64 bits is an {@link ArithmeticException}, never a wrong
 * number.
 */
final class FixedPoint {
    /** Binary digits of a rate behind the point. */
    static final int BITS = 40;

    private static final int HALF_BITS = BITS / 2;

    private FixedPoint() {}

    /** value * rate / 2^40, rounded down. */
    static long scaled(long value, long rate) {
        long high = Math.multiplyHigh(value, rate);
        if (high << 64 - BITS >> 64 - BITS != high) {
            throw new ArithmeticException("Cannot hold " + value + " * " + rate + " / 2^40");
        }
        return high << 64 - BITS | value * rate >>> BITS;
    }

    /** rise * 2^40 / run, rounded down; run is above 0 and below 2^43, the rate of a clock within what a clock can do. */
    static long rate(long rise, long run) {
        if (Math.abs(rise) >= 1L << 63 - HALF_BITS || run >= 1L << 63 - HALF_BITS) {
            throw new ArithmeticException("Cannot hold the rate " + rise + " / " + run);
        }
        long coarse = Math.floorDiv(rise << HALF_BITS, run);
        long rest = (rise << HALF_BITS) - coarse * run;
        return Math.addExact(Math.multiplyExact(coarse, 1L << HALF_BITS), (rest << HALF_BITS) / run);
    }

    /** The sign of a * b - c * d. */
    static int compareProducts(long a, long b, long c, long d) {
        int high = Long.compare(Math.multiplyHigh(a, b), Math.multiplyHigh(c, d));
        return high != 0 ? high : Long.compareUnsigned(a * b, c * d);
    }
}
