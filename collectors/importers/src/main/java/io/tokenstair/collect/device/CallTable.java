package io.tokenstair.collect.device;

import java.util.Arrays;

/**
 * Calls of a runtime or driver by correlation id, each with its start: what a launched kernel is joined to. Ids are numbered per
 * process, so an id is looked for in its process only, where the trace says which. Where two calls of one process claim an id, the outer
 * one of two nested calls is meant; otherwise it cannot be told which, and neither is. Bounded by {@value #MOST} calls: what comes
 * after is not taken, and counted.
 */
public final class CallTable {
    /** Most calls that are held: 128 MiB. */
    public static final int MOST = 1 << 21;

    /** Stands for "no such call", and for an id that more than one call claims. */
    public static final int NONE = -1;

    private static final int AMBIGUOUS = -2;

    private final int most;
    private long[] correlations = new long[1 << 10];
    private int[] processes = new int[1 << 10];
    private long[] starts = new long[1 << 10];
    private long[] ends = new long[1 << 10];
    private int[] threads = new int[1 << 10];
    private int size;
    private long leftOut;

    /** A table of at most {@value #MOST} calls. */
    public CallTable() {
        this(MOST);
    }

    /** A table of at most so many calls. */
    CallTable(int most) {
        this.most = most;
        Arrays.fill(threads, NONE);
    }

    /**
     * Takes a call.
     *
     * @param process where its id is numbered
     * @param thread who made it, from 0
     * @param correlation its id; ids of 0 and below stand for none
     */
    public void add(int process, int thread, long correlation, long startNanos, long endNanos) {
        if (correlation <= 0) {
            return;
        }
        int slot = slot(process, correlation);
        if (threads[slot] != NONE) {
            claimedAgain(slot, thread, startNanos, endNanos);
            return;
        }
        if (size == most) {
            leftOut++;
            return;
        }
        if (2 * (size + 1) > threads.length) {
            grow();
            slot = slot(process, correlation);
        }
        correlations[slot] = correlation;
        processes[slot] = process;
        starts[slot] = startNanos;
        ends[slot] = endNanos;
        threads[slot] = thread;
        size++;
    }

    private void claimedAgain(int slot, int thread, long startNanos, long endNanos) {
        if (threads[slot] != thread) {
            threads[slot] = AMBIGUOUS;
        } else if (startNanos <= starts[slot] && endNanos >= ends[slot]) {
            starts[slot] = startNanos;
            ends[slot] = endNanos;
        } else if (startNanos < starts[slot] || endNanos > ends[slot]) {
            threads[slot] = AMBIGUOUS;
        }
    }

    private int slot(int process, long correlation) {
        int mask = threads.length - 1;
        long hash = (correlation * 31 + process) * 0x9E3779B97F4A7C15L;
        int slot = (int) (hash >>> 32) & mask;
        while (threads[slot] != NONE && (correlations[slot] != correlation || processes[slot] != process)) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    private void grow() {
        long[] oldCorrelations = correlations;
        int[] oldProcesses = processes;
        long[] oldStarts = starts;
        long[] oldEnds = ends;
        int[] oldThreads = threads;
        int capacity = 2 * oldThreads.length;
        correlations = new long[capacity];
        processes = new int[capacity];
        starts = new long[capacity];
        ends = new long[capacity];
        threads = new int[capacity];
        Arrays.fill(threads, NONE);
        for (int i = 0; i < oldThreads.length; i++) {
            if (oldThreads[i] != NONE) {
                int slot = slot(oldProcesses[i], oldCorrelations[i]);
                correlations[slot] = oldCorrelations[i];
                processes[slot] = oldProcesses[i];
                starts[slot] = oldStarts[i];
                ends[slot] = oldEnds[i];
                threads[slot] = oldThreads[i];
            }
        }
    }

    /** The call that has this id in this process; {@value #NONE} where there is none, or more than one. */
    public int find(int process, long correlation) {
        if (correlation <= 0) {
            return NONE;
        }
        int slot = slot(process, correlation);
        return threads[slot] >= 0 ? slot : NONE;
    }

    /** True where several calls claim this id. */
    public boolean isAmbiguous(int process, long correlation) {
        return correlation > 0 && threads[slot(process, correlation)] == AMBIGUOUS;
    }

    /** Start of a call that was found. */
    public long startNanos(int call) {
        return starts[call];
    }

    /** Who made a call that was found. */
    public int thread(int call) {
        return threads[call];
    }

    /** Adds to the stamps of all calls. */
    public void shift(long nanos) {
        for (int i = 0; i < threads.length; i++) {
            if (threads[i] != NONE) {
                starts[i] += nanos;
                ends[i] += nanos;
            }
        }
    }

    /** Calls held. */
    public int size() {
        return size;
    }

    /** Calls that were not taken because there were too many. */
    public long leftOut() {
        return leftOut;
    }
}
