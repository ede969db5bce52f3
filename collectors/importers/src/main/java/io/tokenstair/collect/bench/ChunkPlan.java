package io.tokenstair.collect.bench;

import org.jspecify.annotations.Nullable;

/**
 * How many tokens each chunk of an answer held. A benchmark lists the times between chunks; that is the time between tokens only where
 * every chunk held one.
 *
 * @param tokenCounts tokens of each chunk
 * @param gapsTaken gaps of the list that lie before each chunk's arrival, beyond those before the chunk before it; 0 for the first
 */
record ChunkPlan(int[] tokenCounts, int[] gapsTaken) {

    /** A token a chunk, except in those that are empty. */
    private static ChunkPlan each(int chunks, EmptyChunks empty) {
        int[] counts = new int[chunks];
        int[] taken = new int[chunks];
        for (int i = 0; i < chunks; i++) {
            boolean without = (empty.first() && i == 0) || (empty.last() && i == chunks - 1);
            counts[i] = without ? 0 : 1;
            taken[i] = i == 0 ? 0 : 1;
        }
        return new ChunkPlan(counts, taken);
    }

    /**
     * The plan of an answer whose list has one entry a chunk after the first.
     *
     * @param gaps entries of the list
     * @param tokens output tokens
     * @param empty which chunks of each answer of the run hold no token
     * @return null when other numbers of chunks than of tokens leave open what each held
     */
    static @Nullable ChunkPlan ofChunks(int gaps, int tokens, EmptyChunks empty) {
        if (gaps + 1 - tokens == empty.count()) {
            return each(gaps + 1, empty);
        }
        return empty.count() == 0 && gaps == 0 && tokens > 0 ? new ChunkPlan(new int[] {tokens}, new int[] {0}) : null;
    }

    /**
     * The plan of an answer whose list has one entry a token after the first chunk, those of one chunk equal shares of its gap. Gaps
     * of two chunks differ in their last digits.
     */
    static @Nullable ChunkPlan ofShares(double[] gaps, int tokens) {
        int first = tokens - gaps.length;
        if (first < 1) {
            return null;
        }
        int chunks = 1;
        for (int i = 0; i < gaps.length; i++) {
            chunks += i == 0 || gaps[i] != gaps[i - 1] ? 1 : 0;
        }
        int[] counts = new int[chunks];
        counts[0] = first;
        int chunk = 0;
        for (int i = 0; i < gaps.length; i++) {
            chunk += i == 0 || gaps[i] != gaps[i - 1] ? 1 : 0;
            counts[chunk]++;
        }
        int[] taken = counts.clone();
        taken[0] = 0;
        return new ChunkPlan(counts, taken);
    }
}
