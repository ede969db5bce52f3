package io.tokenstair.job.statistics;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who pushed back whom in one step, by priority class. Classes hold a resource in the step: seats, KV blocks or token budget, whichever
 * is used up. For each class L that waits, the others' share is what they hold; L's requests take from it in the order of their
 * queue, each what it needs, until it is used up. Each that gets what it needs would have been in the step had the other classes
 * not been: it lost the time of the step, and that time is booked to the other classes in proportion to what they hold, exactly to
 * the nanosecond. A preempted request for which the class it made room for is known lost its time to that class alone.
 */
public final class Displacement {
    /** Most classes that are told apart in a step; the next ones, in the order of its rows, are left out. */
    public static final int CLASSES = 32;

    private final int[] priorities = new int[CLASSES];
    private final long[] held = new long[CLASSES];
    private final long[] others = new long[CLASSES];
    private final boolean[] exhausted = new boolean[CLASSES];
    private int count;
    private long free;

    /** Takes what one request lost to one class. */
    @FunctionalInterface
    public interface Booking {
        /** A request lost time to a class. */
        void lost(int winnerPriority, int loserPriority, String loserRequestId, long nanos);
    }

    /** A request that waits while the step runs. */
    public record Loser(
            int priority,
            String requestId,
            long needed,
            long waitedNanos,
            @Nullable Integer madeRoomFor) {}

    /** Forgets the step before. {@code freeUnits}: what nobody holds, for anyone to take first. */
    public void begin(long freeUnits) {
        count = 0;
        free = freeUnits;
    }

    /** A request of this class in the step holds so much of the resource. */
    public void holds(int priority, long units) {
        int at = count;
        while (at > 0 && priorities[at - 1] >= priority) {
            at--;
        }
        if (at == count || priorities[at] != priority) {
            if (count == CLASSES) {
                return;
            }
            System.arraycopy(priorities, at, priorities, at + 1, count - at);
            System.arraycopy(held, at, held, at + 1, count - at);
            priorities[at] = priority;
            held[at] = 0;
            count++;
        }
        held[at] += units;
    }

    /**
     * Books what was lost.
     *
     * @param scarce whether a resource may be used up; if not, only those that were preempted for a known class lost to another one
     * @param losers in the order of their queue
     */
    public void book(boolean scarce, List<Loser> losers, Booking booking) {
        List<Integer> classes = new ArrayList<>();
        for (Loser loser : losers) {
            if (loser.waitedNanos() <= 0) {
                continue;
            }
            Integer madeRoomFor = loser.madeRoomFor();
            if (madeRoomFor != null && madeRoomFor != loser.priority()) {
                booking.lost(madeRoomFor, loser.priority(), loser.requestId(), loser.waitedNanos());
                continue;
            }
            if (!scarce) {
                continue;
            }
            int at = classes.indexOf(loser.priority());
            if (at < 0) {
                if (classes.size() == CLASSES) {
                    continue;
                }
                at = classes.size();
                classes.add(loser.priority());
                others[at] = free + heldByOthers(loser.priority());
                // What fits into what is free waits for something else.
                exhausted[at] = heldByOthers(loser.priority()) == 0 || loser.needed() <= free;
            }
            if (exhausted[at]) {
                continue;
            }
            if (loser.needed() > others[at]) {
                // Its queue stands: what is behind it would not have come in either.
                exhausted[at] = true;
                continue;
            }
            others[at] -= loser.needed();
            share(loser, booking);
        }
    }

    private long heldByOthers(int priority) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += priorities[i] == priority ? 0 : held[i];
        }
        return sum;
    }

    /** Cuts what a request lost among the other classes, by cumulative rounding: the parts add up exactly. */
    private void share(Loser loser, Booking booking) {
        long sum = heldByOthers(loser.priority());
        long heldSoFar = 0;
        long bookedSoFar = 0;
        for (int i = 0; i < count; i++) {
            if (priorities[i] == loser.priority()) {
                continue;
            }
            heldSoFar += held[i];
            long upTo = scaled(loser.waitedNanos(), heldSoFar, sum);
            if (upTo > bookedSoFar) {
                booking.lost(priorities[i], loser.priority(), loser.requestId(), upTo - bookedSoFar);
            }
            bookedSoFar = upTo;
        }
    }

    /** {@code nanos x part / whole} without overflow. */
    private static long scaled(long nanos, long part, long whole) {
        return part == whole ? nanos : nanos / whole * part + nanos % whole * part / whole;
    }
}
