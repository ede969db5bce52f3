package io.tokenstair.job.step;

import io.tokenstair.archive.result.ModelSnapshot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One version of the step time model, frozen, in whole numbers: what judges every step from {@code validFromStepId} until the next
 * version. Expected time of a step:
 *
 * <pre>
 * fixed + table[graph mode, padded batch] + perSequence x B + perResident x C + perPrompt x P + perPair x A
 * </pre>
 *
 * each product cut to whole ns towards zero, the sum no less than {@value #LEAST_NANOS} ns. A row of the table that was not learnt is
 * interpolated between its neighbours in the same graph mode, and a mode that was not seen takes the rows of the usual one.
 *
 * <p>State: two arrays with an entry per learnt row, at most {@link GraphMode#COUNT} x {@link BatchBucket#COUNT}.
 */
public class StepTimeSnapshot {
    /** Least time of a step, ns. */
    public static final long LEAST_NANOS = 1_000;

    static final int SEQUENCE_BITS = 10;
    static final int TOKEN_BITS = 20;
    static final int PAIR_BITS = 40;
    private static final long MOST_NANOS = 1L << 58;

    /** Counts up from 1; 0 while nothing is known. */
    public int version;

    public long validFromStepId;
    public boolean promptsKnown;
    public long fixedNanos;
    /** In ns / 2^10 for each sequence. */
    public long perSequence;
    /** In ns / 2^20 for each resident token. */
    public long perResident;
    /** In ns / 2^20 for each prompt token. */
    public long perPrompt;
    /** In ns / 2^40 for each prompt token times token of context. */
    public long perPair;
    /** Learnt rows in ascending order: ordinal of the graph mode x {@link BatchBucket#COUNT} + bucket. */
    public int[] cells = new int[0];
    /** What each of them adds, ns; may be negative. */
    public long[] cellNanos = new long[0];
    /**
     * A bit for each mode that ran the usual batch with prompts only: its row of the table then says nothing of what the mode costs.
     * None in state of an earlier build.
     */
    public int promptsOnlyModes;
    /** Standard deviation of what decode-only steps differ from it, in millionths of their time. */
    public long noiseMillionths;

    public int usualSequences;
    public int usualPaddedCount;
    public int usualGraphMode;
    public long usualResidentTokens;
    public long referenceNanos;

    /** For Flink's serializer. */
    public StepTimeSnapshot() {}

    /** Its row in the archive. */
    ModelSnapshot row(String engineId, int dpRank, @Nullable Long validFromEpochNanos, @Nullable Long spreadNanos) {
        List<String> names = new ArrayList<>(cells.length);
        List<Long> nanos = new ArrayList<>(cells.length);
        for (int i = 0; i < cells.length; i++) {
            String mode = GraphMode.ofOrdinal(cells[i] / BatchBucket.COUNT).modeName();
            names.add((mode == null ? "not-reported" : mode) + '/' + BatchBucket.largest(cells[i] % BatchBucket.COUNT));
            nanos.add(cellNanos[i]);
        }
        return new ModelSnapshot(
                engineId,
                version,
                validFromStepId,
                validFromEpochNanos,
                fixedNanos,
                perSequence,
                perResident,
                perPrompt,
                perPair,
                promptsKnown,
                names,
                nanos,
                noiseMillionths,
                spreadNanos,
                usualSequences,
                usualPaddedCount,
                usualResidentTokens,
                GraphMode.ofOrdinal(usualGraphMode).modeName(),
                referenceNanos,
                dpRank);
    }

    /** True once it says anything. */
    boolean known() {
        return version > 0;
    }

    /** Expected time of a step, ns. */
    public long expectedNanos(StepLoad load) {
        long bucket = cell(load.graphMode(), BatchBucket.of(load.paddedCount()));
        long sum = fixedNanos
                + bucket
                + times(perSequence, load.sequences(), SEQUENCE_BITS)
                + residentNanos(load.residentTokens())
                + promptNanos(load.promptTokens(), load.promptPairs());
        return Math.max(LEAST_NANOS, sum);
    }

    /** What resident tokens take, ns. */
    public long residentNanos(long tokens) {
        return times(perResident, tokens, TOKEN_BITS);
    }

    /** Expected ns for one more resident token. */
    double residentNanosPerToken() {
        return perResident / (double) (1L << TOKEN_BITS);
    }

    /** What prompt tokens take, ns. */
    public long promptNanos(long tokens, long pairs) {
        return times(perPrompt, tokens, TOKEN_BITS) + times(perPair, pairs, PAIR_BITS);
    }

    /**
     * Expected time and the Shapley value of each factor. Context, prefill and recomputation are additive, so their own terms are
     * their values; batch and graph mode meet in the table, and each gets the mean of its two marginal values. The batch takes what
     * rounding and the least time of a step leave.
     */
    public StepExpectation expect(StepLoad load) {
        GraphMode mode = load.graphMode();
        GraphMode usualMode = GraphMode.ofOrdinal(usualGraphMode);
        int bucket = BatchBucket.of(load.paddedCount());
        int usualBucket = BatchBucket.of(usualPaddedCount);
        long own = cell(mode, bucket);
        long prompt = promptNanos(load.promptTokens(), load.promptPairs());
        long prefill = promptNanos(load.prefillTokens(), load.prefillPairs());
        long resident = residentNanos(load.residentTokens());
        long expected = Math.max(
                LEAST_NANOS,
                fixedNanos + own + times(perSequence, load.sequences(), SEQUENCE_BITS) + resident + prompt);
        long context = resident - residentNanos(usualResidentTokens);
        boolean modesKnown = mode != GraphMode.NOT_REPORTED && usualMode != GraphMode.NOT_REPORTED;
        long graph = 0;
        if (modesKnown && mode != usualMode) {
            long atOwnBatch = own - cell(usualMode, bucket);
            long atUsualBatch = cell(mode, usualBucket) - cell(usualMode, usualBucket);
            boolean unknownAtUsual = load.promptTokens() == 0 && (promptsOnlyModes & 1 << mode.ordinal()) != 0;
            graph = unknownAtUsual ? atOwnBatch : (atOwnBatch + atUsualBatch) / 2;
        }
        long batch = expected - referenceNanos - context - prompt - graph;
        return new StepExpectation(
                expected, referenceNanos, batch, context, prefill, prompt - prefill, graph, basis(load, mode, bucket));
    }

    private StepExpectation.Basis basis(StepLoad load, GraphMode mode, int bucket) {
        if (load.promptTokens() > 0 && !promptsKnown) {
            return StepExpectation.Basis.PROMPTS_UNKNOWN;
        }
        int key = mode.ordinal() * BatchBucket.COUNT + bucket;
        int at = Arrays.binarySearch(cells, key);
        if (at >= 0) {
            return StepExpectation.Basis.LEARNT;
        }
        int next = -at - 1;
        return inMode(next, mode.ordinal()) || inMode(next - 1, mode.ordinal())
                ? StepExpectation.Basis.NEIGHBOURS
                : StepExpectation.Basis.OTHER_MODE;
    }

    private boolean inMode(int at, int mode) {
        return at >= 0 && at < cells.length && cells[at] / BatchBucket.COUNT == mode;
    }

    /** What a row of the table adds, ns. */
    long cell(GraphMode graphMode, int bucket) {
        int mode = graphMode.ordinal();
        int key = mode * BatchBucket.COUNT + bucket;
        int at = Arrays.binarySearch(cells, key);
        if (at >= 0) {
            return cellNanos[at];
        }
        int above = -at - 1;
        int below = above - 1;
        boolean hasAbove = inMode(above, mode);
        boolean hasBelow = inMode(below, mode);
        if (hasAbove && hasBelow) {
            long rise = cellNanos[above] - cellNanos[below];
            return cellNanos[below] + rise * (key - cells[below]) / (cells[above] - cells[below]);
        }
        if (hasAbove) {
            return cellNanos[above];
        }
        if (hasBelow) {
            return cellNanos[below];
        }
        return mode == usualGraphMode || cells.length == 0 ? 0 : cell(GraphMode.ofOrdinal(usualGraphMode), bucket);
    }

    /** {@code coefficient x count / 2^bits} cut to a whole number, 0 for a negative count, and never beyond 2^58. */
    static long times(long coefficient, long wanted, int bits) {
        long count = Math.max(0, wanted);
        long high = Math.multiplyHigh(coefficient, count);
        long low = coefficient * count;
        long whole = high << (Long.SIZE - bits) | low >>> bits;
        return high >>> (bits - 6) != 0 ? MOST_NANOS : Math.min(MOST_NANOS, whole);
    }
}
