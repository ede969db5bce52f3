package io.tokenstair.job.evidence;

import org.jspecify.annotations.Nullable;

/**
 * From another clock to the engine's: add {@code addNanos}, good to {@code boundNanos}. On the engine's own clock both are 0.
 *
 * @param addNanos what to add to a stamp of the other clock
 * @param boundNanos how far that may be wrong, either way
 */
public record ClockShift(long addNanos, long boundNanos) {
    /** The engine's own clock. */
    public static final ClockShift NONE = new ClockShift(0, 0);

    /** Stands for no way. */
    static final ClockShift UNKNOWN = new ClockShift(0, Long.MAX_VALUE);

    /** Knows the ways between clocks. */
    @FunctionalInterface
    public interface Ways {
        /** The way from a clock to the engine's around a reading of the engine's clock; null when no sample joins them. */
        @Nullable
        ClockShift toEngine(String clockId, long aroundNanos);
    }
}
