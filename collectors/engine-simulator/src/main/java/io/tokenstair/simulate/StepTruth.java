package io.tokenstair.simulate;

/**
 * What one step did.
 *
 * @param engineId the engine
 * @param stepId the step
 * @param sequences sequences in it
 * @param computedTokens tokens computed
 * @param recomputedTokens of these, tokens that had been computed before and were lost
 * @param preemptions sequences that lost their blocks when it was scheduled
 * @param lawNanos what a decode-only step of as many sequences takes by the law, with no context, noise or fault
 */
public record StepTruth(
        String engineId,
        long stepId,
        int sequences,
        long computedTokens,
        long recomputedTokens,
        int preemptions,
        long lawNanos) {}
