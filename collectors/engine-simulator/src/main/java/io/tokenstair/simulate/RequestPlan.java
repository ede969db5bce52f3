package io.tokenstair.simulate;

/**
 * One request as its client means it: fixed before the engine runs, whatever the engine does.
 *
 * @param number place in the order of sending
 * @param requestId the client's own id
 * @param engineRequestId what the engine makes of it
 * @param sentNanos when the client sends it, true time
 * @param promptTokens prompt length
 * @param outputTokens tokens its first sequence will get: it ends by its limit
 * @param priority smaller is more urgent
 * @param chain chained hashes of the blocks of prompt and output
 * @param remote whether another node computes its prompt and sends the KV
 * @param choices sequences that it asks for
 * @param abortAfterTokens tokens of its first sequence after which its client goes away; 0 when it stays
 */
record RequestPlan(
        int number,
        String requestId,
        String engineRequestId,
        long sentNanos,
        int promptTokens,
        int outputTokens,
        int priority,
        long[] chain,
        boolean remote,
        int choices,
        int abortAfterTokens) {

    /** Tokens that one of its sequences gets: they do not all end at once. */
    int outputTokens(int choice) {
        return Math.max(1, outputTokens - 7 * choice);
    }

    /** Blocks that it needs at its end. */
    int mostBlocks() {
        return KvCache.blocksOf(promptTokens + outputTokens);
    }
}
