package io.tokenstair.simulate;

import java.util.Arrays;

/** The usual decode-only step of an engine: medians of batch and resident tokens over its last {@value #STEPS}, and how most of them ran. */
final class UsualStep {
    static final int STEPS = 400;

    private final long[] batches = new long[STEPS];
    private final long[] residents = new long[STEPS];
    private final boolean[] eagers = new boolean[STEPS];
    private int count;
    private int batch;
    private long residentTokens;
    private int eagerCount;

    void add(int batchOfStep, long residentTokensOfStep, boolean eagerStep) {
        eagerCount += (eagerStep ? 1 : 0) - (eagers[count % STEPS] ? 1 : 0);
        eagers[count % STEPS] = eagerStep;
        batches[count % STEPS] = batchOfStep;
        residents[count % STEPS] = residentTokensOfStep;
        count++;
        batch = (int) median(batches);
        residentTokens = median(residents);
    }

    boolean known() {
        return count > 0;
    }

    int batch() {
        return batch;
    }

    long residentTokens() {
        return residentTokens;
    }

    /** Whether it runs without graphs: at least half of them did. */
    boolean eager() {
        return count > 0 && 2 * eagerCount >= Math.min(count, STEPS);
    }

    private long median(long[] values) {
        long[] sorted = Arrays.copyOf(values, Math.min(count, STEPS));
        Arrays.sort(sorted);
        return sorted[(sorted.length - 1) / 2];
    }
}
