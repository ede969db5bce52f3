package io.tokenstair.simulate;

/**
 * What a step computes.
 *
 * @param rows scheduled sequences
 * @param residentTokens context of its decoding sequences
 * @param promptRows sequences of which it computes prompt tokens, new ones or again
 * @param promptNanos linear time of those tokens, undisturbed
 * @param promptAttentionNanos attention time of those tokens, undisturbed
 */
record StepWork(int rows, long residentTokens, int promptRows, double promptNanos, double promptAttentionNanos) {
    /** The same step without one row's prompt tokens; the row itself stays where it still decodes, and goes otherwise. */
    StepWork without(StepRow row, boolean rowGoes) {
        return new StepWork(
                rows - (rowGoes ? 1 : 0),
                residentTokens,
                promptRows - 1,
                promptNanos - row.promptNanos(),
                promptAttentionNanos - row.promptAttentionNanos());
    }
}
