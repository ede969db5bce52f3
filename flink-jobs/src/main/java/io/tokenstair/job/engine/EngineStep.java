package io.tokenstair.job.engine;

import io.tokenstair.cause.Cause;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A judged step as the findings of its engine see it, and what its tokens lost by cause. One is filled anew for each step. */
public final class EngineStep {
    private static final int CAUSES = Cause.values().length;

    public String eventId = "";
    public long stepId;
    public long previousNanos;
    public long endNanos;
    public long stepNanos;
    public int sequences;
    public int decodeSequences;
    public boolean decodeOnly;
    /** Tokens computed: decoded, new prompt tokens, and recomputed ones. */
    public long computedTokens;

    public long recomputeTokens;
    public @Nullable String graphMode;
    /** What the step should take with its number of sequences, less what a usual number takes; 0 while that is not known. */
    public double batchNanos;
    /** What a usual step takes; 0 while that is not known. */
    public long referenceNanos;
    /** Cause of a pause where a record says one; empty else. */
    public String pauseCause = "";
    /** What other kernels than usual took longer in the step; 0 where the usual ones ran, or the graph mode says it already. */
    public long otherKernelNanos;

    public String otherKernel = "";
    public String usualKernel = "";
    public String otherKernelEventId = "";
    /** Who did it, of the last slow token of each cause. */
    private final @Nullable String[] culprit = new @Nullable String[CAUSES];

    private final @Nullable String[] record = new @Nullable String[CAUSES];
    private final long[] slowTokens = new long[CAUSES];
    private final long[] sumLostNanos = new long[CAUSES];
    private final long[] mostLostNanos = new long[CAUSES];
    private final boolean[] consistentOnly = new boolean[CAUSES];
    private long tokens;

    /** Forgets the tokens of the step before. */
    public void clearTokens() {
        tokens = 0;
        pauseCause = "";
        Arrays.fill(slowTokens, 0);
        Arrays.fill(sumLostNanos, 0);
        Arrays.fill(mostLostNanos, 0);
        Arrays.fill(consistentOnly, true);
        Arrays.fill(culprit, null);
        Arrays.fill(record, null);
    }

    /** Counts tokens, slow or not. */
    public void made(int count) {
        tokens += count;
    }

    /**
     * Counts a slow token.
     *
     * @param by who made it slow; null when not known
     * @param recordId the event its largest part rests on
     */
    public void slow(Cause cause, long lostNanos, @Nullable String by, String recordId, boolean established) {
        int i = cause.ordinal();
        slowTokens[i]++;
        sumLostNanos[i] += lostNanos;
        mostLostNanos[i] = Math.max(mostLostNanos[i], lostNanos);
        culprit[i] = by;
        record[i] = recordId;
        consistentOnly[i] &= !established;
    }

    long tokens() {
        return tokens;
    }

    long slowTokens(Cause cause) {
        return slowTokens[cause.ordinal()];
    }

    long sumLostNanos(Cause cause) {
        return sumLostNanos[cause.ordinal()];
    }

    long mostLostNanos(Cause cause) {
        return mostLostNanos[cause.ordinal()];
    }

    @Nullable
    String culprit(Cause cause) {
        return culprit[cause.ordinal()];
    }

    @Nullable
    String record(Cause cause) {
        return record[cause.ordinal()];
    }

    boolean isEstablished(Cause cause) {
        return slowTokens[cause.ordinal()] > 0 && !consistentOnly[cause.ordinal()];
    }
}
