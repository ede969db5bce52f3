package io.tokenstair.job.request;

import io.tokenstair.clock.AlignedStamp;
import io.tokenstair.clock.ClockGraph;
import org.jspecify.annotations.Nullable;

/**
 * The paths between the clocks of a request's engines and observers as of the event time at hand. Within one clock nothing is looked
 * up; the tokens of one chunk share a look-up.
 *
 * <p>A step of a clock is known with the first sample after it. Inputs wait anyway, so that the segments of the {@link #AHEAD_MILLIS} after
 * them are known: what lies where one of them begins with a step is not compared.
 */
final class ClockPaths {
    /** How far ahead of the event time at hand steps of clocks are known: less than inputs wait, by the grid of who publishes segments. */
    static final long AHEAD_MILLIS = AnalyseRequests.HOLD_MILLIS - 500;

    private final ClockGraph clocks;
    private long eventMillis;

    private String fromClockId = "";
    private String toClockId = "";
    private long aroundNanos;
    private @Nullable ClockPath last;

    ClockPaths(ClockGraph clocks) {
        this.clocks = clocks;
    }

    /** Says which event time the stamps that follow belong to. */
    void at(long millis) {
        eventMillis = millis;
        last = null;
    }

    /** From the clock of a sequence's engine to an observer's, for a stamp of the observer. */
    ClockPath fromEngine(SequenceLife sequence, ObserverStream observer, long observerNanos) {
        return between(sequence.engineClockId, observer.clockId, observerNanos);
    }

    /** The same for a stamp of each. */
    ClockPath fromEngine(SequenceLife sequence, long engineNanos, ObserverStream observer, long observerNanos) {
        return between(sequence.engineClockId, engineNanos, observer.clockId, observerNanos);
    }

    /** From one observer's clock to another's, for a stamp of the other. */
    ClockPath between(ObserverStream from, ObserverStream to, long toNanos) {
        return between(from.clockId, to.clockId, toNanos);
    }

    /** The same for a stamp of each. */
    ClockPath between(ObserverStream from, long fromNanos, ObserverStream to, long toNanos) {
        return between(from.clockId, fromNanos, to.clockId, toNanos);
    }

    /** A clock that stepped between two stamps shows in that they are not joined by the same offset. */
    private ClockPath between(String from, long fromNanos, String to, long toNanos) {
        ClockPath path = between(from, to, toNanos);
        if (!path.known() || from.equals(to) || !clocks.hasSteps(from, to, eventMillis, knownMillis())) {
            return path;
        }
        AlignedStamp first = clocks.align(from, to, fromNanos, eventMillis, knownMillis());
        return first == null
                        || isStep(
                                fromNanos - first.epochNanos(),
                                path.offsetNanos(),
                                first.boundNanos() + path.boundNanos(),
                                first.epochNanos() - toNanos)
                ? ClockPath.STEPPED
                : path;
    }

    /** Whether two offsets, measured so far apart, differ by more than bounds and drift explain. */
    static boolean isStep(long offsetNanos, long otherNanos, long boundsNanos, long apartNanos) {
        // Two clocks of 500 ppm each (ClockFit): as long as that, they may have drifted apart.
        long drifted = Math.abs(apartNanos / 1_000);
        return Math.abs(offsetNanos - otherNanos) > boundsNanos + drifted;
    }

    private long knownMillis() {
        return knownMillis(eventMillis);
    }

    private static long knownMillis(long millis) {
        return millis > Long.MAX_VALUE - AHEAD_MILLIS ? Long.MAX_VALUE : millis + AHEAD_MILLIS;
    }

    private ClockPath between(String from, String to, long toNanos) {
        if (from.equals(to)) {
            return ClockPath.SAME;
        }
        if (last != null && toNanos == aroundNanos && from.equals(fromClockId) && to.equals(toClockId)) {
            return last;
        }
        AlignedStamp aligned = clocks.align(to, from, toNanos, eventMillis, knownMillis());
        ClockPath path = aligned == null
                ? clocks.hasSteps(from, to, eventMillis, knownMillis()) ? ClockPath.STEPPED : ClockPath.NONE
                : new ClockPath(
                        true, false, aligned.epochNanos() - toNanos, aligned.boundNanos(), aligned.sigmaNanos());
        fromClockId = from;
        toClockId = to;
        aroundNanos = toNanos;
        last = path;
        return path;
    }

    /** A stamp of an observer on the axis of its surest wall clock; null when samples join it to none. */
    @Nullable
    AlignedStamp toEpoch(String clockId, long clockNanos) {
        return clocks.toEpoch(clockId, clockNanos, eventMillis, knownMillis());
    }

    /** Whether stamps of a clock that were aligned before it was known may lie where a clock stepped. */
    boolean mayHaveStepped(String clockId) {
        return clocks.hasSteps(clockId, eventMillis, knownMillis());
    }

    /** Whether this one does, or is aligned no more. */
    boolean isWhereAClockStepped(String clockId, long clockNanos, long millis) {
        return clocks.toEpoch(clockId, clockNanos, millis, knownMillis(millis)) == null;
    }
}
