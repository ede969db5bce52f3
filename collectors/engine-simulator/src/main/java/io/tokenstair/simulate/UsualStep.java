package io.tokenstair.simulate;

import java.util.Arrays;

/** The usual decode-only step of an engine: medians of batch and resident tokens over its last {@value #STEPS}. */
final class UsualStep {
    static final int STEPS = 400;

    private final long[] batches = new long[STEPS];
    private final long[] residents = new long[STEPS];
    private int count;
    private int batch;
    private long residentTokens;

    void add(int batchOfStep, long residentTokensOfStep) {
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

    private long median(long[] values) {
        long[] sorted = Arrays.copyOf(values, Math.min(count, STEPS));
        Arrays.sort(sorted);
        return sorted[(sorted.length - 1) / 2];
    }
}
