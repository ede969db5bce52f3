package io.tokenstair.job.step;

/**
 * What a step computes, as the model sees it.
 *
 * @param sequences scheduled sequences
 * @param residentTokens context tokens of the decoding sequences
 * @param promptTokens prompt or recomputed tokens computed now
 * @param promptAttention those tokens times the context each attends to
 */
public record StepLoad(int sequences, long residentTokens, long promptTokens, double promptAttention) {

    /** A decode-only step. */
    public static StepLoad decodeOnly(long sequences, long residentTokens) {
        return new StepLoad((int) sequences, residentTokens, 0, 0);
    }

    /** What computing {@code tokens} at the end of a context of {@code contextTokens} attends to, in tokens x tokens. */
    public static double attention(int tokens, int contextTokens) {
        return tokens * (contextTokens - tokens / 2.0);
    }
}
