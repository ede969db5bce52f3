package io.tokenstair.clock;

/**
 * How coarse a clock's readings are: the greatest common divisor of their distances. A clock that ticks every 32 ns may be up to 31 ns
 * past what it reads. Public fields for a stream engine's state.
 */
public class ClockTick {
    /** Readings before which a common divisor may be chance. */
    static final int LEAST_READINGS = 20;

    /** Coarsest tick that is believed: above it, readings are round for another reason. */
    static final long COARSEST_NANOS = 1_024;

    public long firstNanos;
    public long divisorNanos;
    public int readings;

    /** For a stream engine that fills in the fields. */
    public ClockTick() {}

    /** Takes a reading. */
    void accept(long nanos) {
        if (readings == 0) {
            firstNanos = nanos;
        }
        if (readings < LEAST_READINGS) {
            readings++;
        }
        if (divisorNanos == 1) {
            return;
        }
        long a = Math.abs(nanos - firstNanos);
        long b = divisorNanos;
        while (a > 0) {
            long rest = b % a;
            b = a;
            a = rest;
        }
        divisorNanos = b;
    }

    /** The tick; 1 as long as it is not known. */
    long tickNanos() {
        return readings < LEAST_READINGS || divisorNanos < 1 || divisorNanos > COARSEST_NANOS ? 1 : divisorNanos;
    }
}
