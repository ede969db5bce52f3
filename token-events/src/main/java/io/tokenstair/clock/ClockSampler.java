package io.tokenstair.clock;

import io.tokenstair.event.ClockSampled;

/** Reads a monotonic clock and the wall clock at once, bracketed, so that the error is bounded by what was read. */
public final class ClockSampler {
    private static final int TRIES = 8;

    private final String elapsedClockId;
    private final ElapsedClock elapsed;
    private final String epochClockId;
    private final EpochClock epoch;

    /** A sampler of these two clocks, under these ids. */
    public ClockSampler(String elapsedClockId, ElapsedClock elapsed, String epochClockId, EpochClock epoch) {
        this.elapsedClockId = elapsedClockId;
        this.elapsed = elapsed;
        this.epochClockId = epochClockId;
        this.epoch = epoch;
    }

    /** The narrowest of a few bracketed readings, the monotonic clock read before and after the wall clock. */
    public ClockSampled sample() {
        ClockSampled narrowest = read();
        for (int i = 1; i < TRIES; i++) {
            ClockSampled other = read();
            if (width(other) < width(narrowest)) {
                narrowest = other;
            }
        }
        return narrowest;
    }

    private ClockSampled read() {
        long before = elapsed.elapsedNanos();
        long remote = epoch.epochNanos();
        long after = elapsed.elapsedNanos();
        return new ClockSampled(elapsedClockId, epochClockId, before, remote, after, null);
    }

    private static long width(ClockSampled sample) {
        return sample.afterNanos() - sample.beforeNanos();
    }
}
