package io.tokenstair.job.step;

/**
 * Which numbers of a series of messages came, so that what was lost can be said: a replay closes a hole, a message that comes again changes
 * nothing. Remembers {@value #HOLES} holes; the oldest beyond that stay lost.
 */
public class MessageNumbers {
    static final int HOLES = 64;

    private static final long NONE = Long.MIN_VALUE;

    /** The number that comes next; {@link #NONE} before the first. */
    public long next = NONE;

    public long[] holeFrom = new long[HOLES];
    public long[] holeTo = new long[HOLES];
    public int holes;
    /** Lost before the numbers began anew, or in holes that are not remembered. */
    public long lostForGood;

    public long firstLostForGood = NONE;
    public long lastLostForGood = NONE;
    /** Messages that came, each once. */
    public long taken;

    /** For Flink's serializer. */
    public MessageNumbers() {}

    /** A message came. */
    void accept(long number) {
        if (next == NONE) {
            next = number;
        }
        if (number >= next) {
            taken++;
            if (number > next) {
                open(next, number - 1);
            }
            next = number + 1;
            return;
        }
        for (int i = 0; i < holes; i++) {
            if (holeFrom[i] <= number && number <= holeTo[i]) {
                taken++;
                close(i, number);
                return;
            }
        }
    }

    private void open(long from, long to) {
        if (holes == HOLES) {
            forGood(0);
            remove(0);
        }
        holeFrom[holes] = from;
        holeTo[holes] = to;
        holes++;
    }

    private void close(int hole, long number) {
        long from = holeFrom[hole];
        long to = holeTo[hole];
        remove(hole);
        if (from < number) {
            open(from, number - 1);
        }
        if (number < to) {
            open(number + 1, to);
        }
    }

    private void remove(int hole) {
        holes--;
        System.arraycopy(holeFrom, hole + 1, holeFrom, hole, holes - hole);
        System.arraycopy(holeTo, hole + 1, holeTo, hole, holes - hole);
    }

    private void forGood(int hole) {
        lostForGood += holeTo[hole] - holeFrom[hole] + 1;
        firstLostForGood = firstLostForGood == NONE ? holeFrom[hole] : firstLostForGood;
        lastLostForGood = holeTo[hole];
    }

    /** The engine counts anew: what is missing now will not come. */
    void restart() {
        for (int i = 0; i < holes; i++) {
            forGood(i);
        }
        holes = 0;
        next = NONE;
    }

    /** How many are missing. */
    long lost() {
        long lost = lostForGood;
        for (int i = 0; i < holes; i++) {
            lost += holeTo[i] - holeFrom[i] + 1;
        }
        return lost;
    }

    /** Number of the first that is missing; there must be one. */
    long firstLost() {
        long first = firstLostForGood == NONE ? Long.MAX_VALUE : firstLostForGood;
        for (int i = 0; i < holes; i++) {
            first = firstLostForGood == NONE ? Math.min(first, holeFrom[i]) : first;
        }
        return first;
    }

    /** Number of the last that is missing; there must be one. */
    long lastLost() {
        long last = NONE;
        for (int i = 0; i < holes; i++) {
            last = Math.max(last, holeTo[i]);
        }
        return last == NONE ? lastLostForGood : last;
    }
}
