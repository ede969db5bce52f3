package io.tokenstair.job.request;

import io.tokenstair.clock.AlignedStamp;
import io.tokenstair.clock.ClockGraph;
import org.jspecify.annotations.Nullable;

/**
 * The paths between the clocks of a request's engines and observers as of the event time at hand. Within one clock nothing is looked
 * up; the tokens of one chunk share a look-up.
 */
final class ClockPaths {
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

    /** From one observer's clock to another's, for a stamp of the other. */
    ClockPath between(ObserverStream from, ObserverStream to, long toNanos) {
        return between(from.clockId, to.clockId, toNanos);
    }

    private ClockPath between(String from, String to, long toNanos) {
        if (from.equals(to)) {
            return ClockPath.SAME;
        }
        if (last != null && toNanos == aroundNanos && from.equals(fromClockId) && to.equals(toClockId)) {
            return last;
        }
        AlignedStamp aligned = clocks.align(to, from, toNanos, eventMillis);
        ClockPath path = aligned == null
                ? ClockPath.NONE
                : new ClockPath(true, aligned.epochNanos() - toNanos, aligned.boundNanos(), aligned.sigmaNanos());
        fromClockId = from;
        toClockId = to;
        aroundNanos = toNanos;
        last = path;
        return path;
    }

    /** A stamp of an observer on the axis of its surest wall clock; null when samples join it to none. */
    @Nullable
    AlignedStamp toEpoch(String clockId, long clockNanos) {
        return clocks.toEpoch(clockId, clockNanos, eventMillis);
    }
}
