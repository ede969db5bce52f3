package io.tokenstair.simulate;

/**
 * One request as its client means it: fixed before the engine runs, whatever the engine does.
 *
 * @param number place in the order of sending
 * @param requestId the client's own id
 * @param engineRequestId what the engine makes of it
 * @param sentNanos when the client sends it, true time
 * @param promptTokens prompt length
 * @param outputTokens tokens it will get: it ends by its limit
 * @param priority smaller is more urgent
 * @param chain chained hashes of the blocks of prompt and output
 * @param remote whether another node computes its prompt and sends the KV
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
        boolean remote) {

    /** Blocks that it needs at its end. */
    int mostBlocks() {
        return KvCache.blocksOf(promptTokens + outputTokens);
    }
}
