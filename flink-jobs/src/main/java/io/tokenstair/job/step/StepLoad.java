package io.tokenstair.job.step;

/**
 * What a step computes, as the model sees it.
 *
 * @param sequences scheduled sequences
 * @param paddedCount batch size after padding: {@link BatchBucket#paddedCount}
 * @param graphMode how its kernels were launched
 * @param residentTokens context tokens of the decoding sequences
 * @param prefillTokens new prompt tokens computed now
 * @param recomputeTokens tokens computed again now
 * @param prefillPairs new prompt tokens times the context each attends to, in tokens x tokens
 * @param recomputePairs the same of recomputed tokens
 */
public record StepLoad(
        int sequences,
        int paddedCount,
        GraphMode graphMode,
        long residentTokens,
        long prefillTokens,
        long recomputeTokens,
        long prefillPairs,
        long recomputePairs) {

    /** Most tokens of one sequence that count: more cannot be. */
    private static final int MAX_TOKENS = 1 << 24;

    /** A step of an engine that pads nothing and reports no graph mode. */
    public StepLoad(int sequences, long residentTokens, long promptTokens, long promptPairs) {
        this(sequences, sequences, GraphMode.NOT_REPORTED, residentTokens, promptTokens, 0, promptPairs, 0);
    }

    /** A decode-only step of an engine that pads nothing and reports no graph mode. */
    public static StepLoad decodeOnly(long sequences, long residentTokens) {
        return new StepLoad((int) sequences, residentTokens, 0, 0);
    }

    /** The load and what the step took, as numbers that a state can keep. */
    long[] packed(long stepNanos) {
        return new long[] {
            sequences,
            paddedCount,
            graphMode.ordinal(),
            residentTokens,
            prefillTokens,
            recomputeTokens,
            prefillPairs,
            recomputePairs,
            stepNanos
        };
    }

    /** The load that was packed. */
    static StepLoad unpacked(long[] packed) {
        return new StepLoad(
                (int) packed[0],
                (int) packed[1],
                GraphMode.ofOrdinal((int) packed[2]),
                packed[3],
                packed[4],
                packed[5],
                packed[6],
                packed[7]);
    }

    /** What the packed step took. */
    static long packedNanos(long[] packed) {
        return packed[packed.length - 1];
    }

    /** Prompt or recomputed tokens computed now. */
    public long promptTokens() {
        return prefillTokens + recomputeTokens;
    }

    /** Those tokens times the context each attends to. */
    public long promptPairs() {
        return prefillPairs + recomputePairs;
    }

    /** What computing {@code tokens} at the end of a context of {@code contextTokens} attends to, in tokens x tokens. */
    public static long pairs(int tokens, int contextTokens) {
        long count = Math.max(0, Math.min(tokens, MAX_TOKENS));
        long context = Math.max(count, Math.min(contextTokens, MAX_TOKENS));
        return count * (2 * context - count) / 2;
    }
}
