package io.tokenstair.job.step;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Rows that are the same bytes for many sequences of an engine, by the number of their step, so that a batch can name those it has instead of
 * carrying them. Rows are only added; behind {@value #STEPS} steps another one begins, with the last ones of the one before.
 */
final class SharedRows {
    /** Most steps. */
    static final int STEPS = 512;

    /** Steps that the next one takes over: as long as a batch. */
    private static final int KEPT = TokenBatch.CAPACITY;

    private final long firstStep;
    private final int[] from = new int[STEPS + 1];
    private byte[] bytes = new byte[8_192];
    private int steps;

    private SharedRows(long firstStep) {
        this.firstStep = firstStep;
    }

    /**
     * Adds the row of a step.
     *
     * @return the rows that have it now: those given, or others
     */
    static SharedRows with(@Nullable SharedRows before, long step, byte[] row, int length) {
        SharedRows rows = before;
        if (rows == null || step < rows.endStep() || step - rows.endStep() >= KEPT) {
            rows = new SharedRows(step);
        } else if (step - rows.firstStep >= STEPS) {
            SharedRows next = new SharedRows(Math.max(rows.firstStep, rows.endStep() - KEPT));
            for (long kept = next.firstStep; kept < rows.endStep(); kept++) {
                next.add(rows.bytes, rows.from(kept), rows.from(kept + 1) - rows.from(kept));
            }
            rows = next;
        }
        while (rows.endStep() < step) {
            rows.add(row, 0, 0);
        }
        rows.add(row, 0, length);
        return rows;
    }

    private void add(byte[] row, int at, int length) {
        int end = from[steps];
        if (end + length > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(end + length, 2 * bytes.length));
        }
        System.arraycopy(row, at, bytes, end, length);
        from[++steps] = end + length;
    }

    /** The step behind the last one. */
    private long endStep() {
        return firstStep + steps;
    }

    /** Whether it has these steps. */
    boolean has(long step, int count) {
        return step >= firstStep && step + count <= endStep();
    }

    /** Where the row of a step begins, or the one before ends. */
    int from(long step) {
        return from[(int) (step - firstStep)];
    }

    /** All rows, one behind the other. Not to be changed. */
    byte[] bytes() {
        return bytes;
    }
}
