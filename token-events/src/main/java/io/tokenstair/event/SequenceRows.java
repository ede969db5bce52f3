package io.tokenstair.event;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a step in columns, one entry per scheduled sequence, so that a step costs a handful of arrays and no object per
 * token. Columns are shared, not copied: treat them as immutable.
 */
public final class SequenceRows {
    /** What a column holds where a value is unknown. Never a real value of these columns. */
    public static final int ABSENT = -1;

    private final int count;
    private final int[] requestHandle;
    private final int[] firstTokenIndex;
    private final int[] tokenCount;
    private final int[] contextTokens;
    private final int[] scheduledTokens;
    private final byte[] phase;
    private final int[] cachedTokens;
    private final int[] preemptionCount;
    private final long[] waitNanos;
    private final boolean onlyDecodes;

    /** Takes the columns as they are; all must have the same length. */
    public SequenceRows(
            int[] requestHandle,
            int[] firstTokenIndex,
            int[] tokenCount,
            int[] contextTokens,
            int[] scheduledTokens,
            byte[] phase,
            int[] cachedTokens,
            int[] preemptionCount,
            long[] waitNanos) {
        this(
                requestHandle,
                firstTokenIndex,
                tokenCount,
                contextTokens,
                scheduledTokens,
                phase,
                cachedTokens,
                preemptionCount,
                waitNanos,
                false);
    }

    /**
     * Takes the columns as they are; all must have the same length.
     *
     * @param onlyDecodes true where it is known of all rows that they decode one token, compute one, and say nothing of a cache
     */
    public SequenceRows(
            int[] requestHandle,
            int[] firstTokenIndex,
            int[] tokenCount,
            int[] contextTokens,
            int[] scheduledTokens,
            byte[] phase,
            int[] cachedTokens,
            int[] preemptionCount,
            long[] waitNanos,
            boolean onlyDecodes) {
        this.onlyDecodes = onlyDecodes;
        this.count = requestHandle.length;
        if (firstTokenIndex.length != count
                || tokenCount.length != count
                || contextTokens.length != count
                || scheduledTokens.length != count
                || phase.length != count
                || cachedTokens.length != count
                || preemptionCount.length != count
                || waitNanos.length != count) {
            throw new IllegalArgumentException("Cannot join step columns of different lengths: " + count + " handles");
        }
        this.requestHandle = requestHandle;
        this.firstTokenIndex = firstTokenIndex;
        this.tokenCount = tokenCount;
        this.contextTokens = contextTokens;
        this.scheduledTokens = scheduledTokens;
        this.phase = phase;
        this.cachedTokens = cachedTokens;
        this.preemptionCount = preemptionCount;
        this.waitNanos = waitNanos;
    }

    /** The rows in columns. Refuses negative values: they would read as absent. */
    public static SequenceRows of(List<SequenceRow> rows) {
        int n = rows.size();
        SequenceRows columns = new SequenceRows(
                new int[n],
                new int[n],
                new int[n],
                new int[n],
                new int[n],
                new byte[n],
                new int[n],
                new int[n],
                new long[n]);
        for (int i = 0; i < n; i++) {
            SequenceRow row = rows.get(i);
            columns.requestHandle[i] = row.requestHandle();
            columns.firstTokenIndex[i] = orAbsent(row.firstTokenIndex());
            columns.tokenCount[i] = (int) notNegative(row.tokenCount());
            columns.contextTokens[i] = (int) notNegative(row.contextTokens());
            columns.scheduledTokens[i] = (int) notNegative(row.scheduledTokens());
            columns.phase[i] = (byte) row.phase().code();
            columns.cachedTokens[i] = orAbsent(row.cachedTokens());
            columns.preemptionCount[i] = orAbsent(row.preemptionCount());
            columns.waitNanos[i] = row.waitNanos() == null ? ABSENT : notNegative(row.waitNanos());
        }
        return columns;
    }

    /** The sequences in the step. */
    public int count() {
        return count;
    }

    /**
     * Whether all rows decode one token, compute one, and say nothing of a cache, as those of nearly all steps do: nobody need look at
     * these columns then. False where that is not known.
     */
    public boolean onlyDecodes() {
        return onlyDecodes;
    }

    /** Whether they are of the same sequences as those of another step, in the same order. */
    public boolean areOfSameSequences(SequenceRows other) {
        return Arrays.equals(requestHandle, other.requestHandle);
    }

    /** Whether these are the rows of another step a token further: of the same sequences, each of which decodes one token behind those it had there. */
    public boolean areOneTokenFurther(SequenceRows before) {
        if (!onlyDecodes || !areOfSameSequences(before)) {
            return false;
        }
        // Summed up rather than left early: so loops are of few instructions per row.
        int differs = 0;
        int known = 0;
        for (int i = 0; i < count; i++) {
            differs |= contextTokens[i] - before.contextTokens[i] - 1;
            known |= firstTokenIndex[i] - ABSENT;
        }
        return differs == 0 && (known == 0 || areIndexesOneFurther(before));
    }

    private boolean areIndexesOneFurther(SequenceRows before) {
        for (int i = 0; i < count; i++) {
            int first = firstTokenIndex[i];
            if (first != ABSENT && (first != before.firstTokenIndex[i] + 1 || first == 0)) {
                return false;
            }
        }
        return true;
    }

    /** Handle of row {@code i}. */
    public int requestHandle(int i) {
        return requestHandle[i];
    }

    /** Index of the first output token of row {@code i}, or {@link #ABSENT}. */
    public int firstTokenIndex(int i) {
        return firstTokenIndex[i];
    }

    /** Output tokens of row {@code i}. */
    public int tokenCount(int i) {
        return tokenCount[i];
    }

    /** Attention context of row {@code i}, in tokens. */
    public int contextTokens(int i) {
        return contextTokens[i];
    }

    /** Tokens computed for row {@code i}. */
    public int scheduledTokens(int i) {
        return scheduledTokens[i];
    }

    /** Code of the {@link Phase} of row {@code i}. */
    public int phaseCode(int i) {
        return phase[i];
    }

    /** Tokens found in the prefix cache for row {@code i}, or {@link #ABSENT}. */
    public int cachedTokens(int i) {
        return cachedTokens[i];
    }

    /** Preemptions of row {@code i} so far, or {@link #ABSENT}. */
    public int preemptionCount(int i) {
        return preemptionCount[i];
    }

    /** Stated wait of row {@code i} in ns, or {@link #ABSENT}. */
    public long waitNanos(int i) {
        return waitNanos[i];
    }

    /** Row {@code i} as an object. */
    public SequenceRow row(int i) {
        return new SequenceRow(
                requestHandle[i],
                orNull(firstTokenIndex[i]),
                tokenCount[i],
                contextTokens[i],
                scheduledTokens[i],
                Phase.ofCode(phase[i]),
                orNull(cachedTokens[i]),
                orNull(preemptionCount[i]),
                waitNanos[i] == ABSENT ? null : waitNanos[i]);
    }

    private static int orAbsent(@Nullable Integer value) {
        return value == null ? ABSENT : (int) notNegative(value);
    }

    private static long notNegative(long value) {
        if (value < 0) {
            throw new IllegalArgumentException("Cannot hold a negative value in a step row: " + value);
        }
        return value;
    }

    private static @Nullable Integer orNull(int value) {
        return value == ABSENT ? null : value;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof SequenceRows that
                && Arrays.equals(requestHandle, that.requestHandle)
                && Arrays.equals(firstTokenIndex, that.firstTokenIndex)
                && Arrays.equals(tokenCount, that.tokenCount)
                && Arrays.equals(contextTokens, that.contextTokens)
                && Arrays.equals(scheduledTokens, that.scheduledTokens)
                && Arrays.equals(phase, that.phase)
                && Arrays.equals(cachedTokens, that.cachedTokens)
                && Arrays.equals(preemptionCount, that.preemptionCount)
                && Arrays.equals(waitNanos, that.waitNanos);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(requestHandle) * 31 + Arrays.hashCode(contextTokens);
    }

    @Override
    public String toString() {
        return "SequenceRows[" + count + "]";
    }
}
