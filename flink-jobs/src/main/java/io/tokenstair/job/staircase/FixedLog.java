package io.tokenstair.job.staircase;

/**
 * The natural logarithm in fixed point: the same bits on every machine, without a call into the C library per token. A table of 513
 * values over one octave, straight lines between them: wrong by at most one unit of 2^-20.
 */
final class FixedLog {
    /** Fraction bits of {@link #of}. */
    static final int BITS = 20;

    private static final int TABLE_BITS = 9;
    private static final int REST_BITS = 32;
    private static final int[] TABLE = new int[(1 << TABLE_BITS) + 1];
    private static final int[] OCTAVE = new int[Long.SIZE];

    static {
        for (int i = 0; i < TABLE.length; i++) {
            TABLE[i] = fixed(StrictMath.log1p(i / (double) (1 << TABLE_BITS)));
        }
        for (int i = 0; i < OCTAVE.length; i++) {
            OCTAVE[i] = fixed(i * StrictMath.log(2));
        }
    }

    private FixedLog() {}

    private static int fixed(double value) {
        return (int) StrictMath.rint(value * (1 << BITS));
    }

    /** ln(value) in units of 2^-20. The value must be above 0. */
    static int of(long value) {
        int octave = Long.SIZE - 1 - Long.numberOfLeadingZeros(value);
        long mantissa = value << Long.SIZE - 1 - octave;
        int slot = (int) (mantissa >>> Long.SIZE - 1 - TABLE_BITS) & (1 << TABLE_BITS) - 1;
        long rest = mantissa >>> Long.SIZE - 1 - TABLE_BITS - REST_BITS & (1L << REST_BITS) - 1;
        int low = TABLE[slot];
        return OCTAVE[octave] + low + (int) ((TABLE[slot + 1] - low) * rest >> REST_BITS);
    }
}
