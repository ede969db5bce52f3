package io.tokenstair.job.timer;

import org.apache.flink.streaming.api.TimerService;

/** The one event time timer of a key: set for the earliest time that anything of the key waits for. */
public final class EarliestTimer {
    /** Stands for no timer. */
    public static final long NONE = Long.MIN_VALUE;

    private EarliestTimer() {}

    /**
     * Sets the timer, unless an earlier one is set. One for later, of a partition that is ahead or for the end of a window, gives way.
     *
     * @param setMillis the timer that is set, or {@link #NONE}
     * @param wantedMillis the timer that is wanted
     * @return the timer that is set now
     */
    public static long arm(TimerService timers, long setMillis, long wantedMillis) {
        if (setMillis != NONE) {
            if (setMillis <= wantedMillis) {
                return setMillis;
            }
            timers.deleteEventTimeTimer(setMillis);
        }
        timers.registerEventTimeTimer(wantedMillis);
        return wantedMillis;
    }

    /** The next time of a grid after an event time: few timers for many events. */
    public static long after(long millis, long gridMillis) {
        return (millis / gridMillis + 1) * gridMillis;
    }
}
