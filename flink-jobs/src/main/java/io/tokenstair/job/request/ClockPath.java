package io.tokenstair.job.request;

import org.jspecify.annotations.Nullable;

/**
 * How stamps of two clocks compare: what to add to their difference, and how wrong that may be. Without a path nothing is
 * compared.
 *
 * @param known whether there is a path
 * @param offsetNanos what is added to (stamp of the one) - (stamp of the other)
 * @param boundNanos how wrong the sum may be; 0 on one clock
 */
record ClockPath(boolean known, long offsetNanos, long boundNanos) {
    private static final ClockPath SAME = new ClockPath(true, 0, 0);
    private static final ClockPath NONE = new ClockPath(false, 0, 0);

    /** From the clock of a sequence's engine to an observer's. */
    static ClockPath fromEngine(SequenceLife sequence, ObserverStream observer) {
        return between(
                sequence.engineClockId,
                sequence.epochOffsetNanos,
                sequence.boundNanos,
                observer.clockId,
                observer.alignedOffsetNanos,
                observer.alignedBoundNanos);
    }

    /** From one observer's clock to another's. */
    static ClockPath between(ObserverStream from, ObserverStream to) {
        return between(
                from.clockId,
                from.alignedOffsetNanos,
                from.alignedBoundNanos,
                to.clockId,
                to.alignedOffsetNanos,
                to.alignedBoundNanos);
    }

    private static ClockPath between(
            String fromClockId,
            @Nullable Long fromOffsetNanos,
            @Nullable Long fromBoundNanos,
            String toClockId,
            @Nullable Long toOffsetNanos,
            @Nullable Long toBoundNanos) {
        if (fromClockId.equals(toClockId)) {
            return SAME;
        }
        if (fromOffsetNanos == null || toOffsetNanos == null || fromBoundNanos == null || toBoundNanos == null) {
            return NONE;
        }
        return new ClockPath(true, toOffsetNanos - fromOffsetNanos, fromBoundNanos + toBoundNanos);
    }

    /** Whether a difference is below zero whatever the truth within the bound: it cannot be, and is not used. */
    boolean isBelowZero(long differenceNanos) {
        return known && differenceNanos + offsetNanos < -boundNanos;
    }
}
