package io.tokenstair.job.evidence;

/**
 * What a step computed, as far as it decides which kernels run and how long they take.
 *
 * @param residentTokens context tokens that its attention reads
 * @param paddedCount padded batch
 * @param promptTokens tokens computed for prompts or again
 */
public record StepWork(long residentTokens, int paddedCount, long promptTokens) {
    /** Attention of prompts is another kernel than attention of single tokens; their number does not choose it. */
    String attentionShape() {
        return promptTokens > 0 ? " with prompts" : " decode";
    }

    /** The variant of a matrix product follows from the rows: exact for decodes, to the next power of two with prompts. */
    String productShape() {
        return promptTokens > 0 ? " with prompts " + Long.numberOfLeadingZeros(promptTokens) : " decode " + paddedCount;
    }
}
