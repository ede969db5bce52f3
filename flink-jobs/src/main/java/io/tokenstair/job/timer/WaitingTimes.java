package io.tokenstair.job.timer;

import java.util.Arrays;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Event times of what waits in a list, in its order, side by side. What waits has left the processor's cache: looking through it for what
 * is due would fetch each element once per look, and nearly all of them must wait on.
 *
 * @param <T> what waits
 */
public final class WaitingTimes<T> {
    private static final int LEAST_ROOM = 8;

    private final ToLongFunction<T> millisOf;
    private long[] millis = new long[LEAST_ROOM];
    private int count;

    /** Knows no times yet, and reads them off elements. */
    public WaitingTimes(ToLongFunction<T> millisOf) {
        this.millisOf = millisOf;
    }

    /** How many times it knows. */
    public int count() {
        return count;
    }

    /** Adds an element at the end of the list. */
    public void add(List<T> waiting, T element) {
        read(waiting);
        waiting.add(element);
        append(millisOf.applyAsLong(element));
    }

    /** The earliest event time in the list; {@link Long#MAX_VALUE} where it is empty. */
    public long earliestMillis(List<T> waiting) {
        read(waiting);
        long earliest = Long.MAX_VALUE;
        for (int i = 0; i < count; i++) {
            earliest = Math.min(earliest, millis[i]);
        }
        return earliest;
    }

    /** Moves what is due at an event time from the list to another one. What waits on keeps its order. */
    public void takeDue(List<T> waiting, long completeMillis, List<T> due) {
        read(waiting);
        int kept = 0;
        for (int i = 0; i < count; i++) {
            if (millis[i] <= completeMillis) {
                due.add(waiting.get(i));
                continue;
            }
            if (kept < i) {
                waiting.set(kept, waiting.get(i));
                millis[kept] = millis[i];
            }
            kept++;
        }
        waiting.subList(kept, count).clear();
        count = kept;
    }

    /** Reads the times of a list that came out of a snapshot. */
    private void read(List<T> waiting) {
        if (count != waiting.size()) {
            count = 0;
            waiting.forEach(element -> append(millisOf.applyAsLong(element)));
        }
    }

    private void append(long time) {
        if (count == millis.length) {
            millis = Arrays.copyOf(millis, 2 * count);
        }
        millis[count++] = time;
    }
}
