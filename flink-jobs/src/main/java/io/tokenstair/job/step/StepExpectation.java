package io.tokenstair.job.step;

/**
 * What one snapshot of the model expects of a step, and the Shapley values of its factors against the usual step:
 * {@code batchNanos + contextNanos + prefillNanos + recomputeNanos + graphNanos == expectedNanos - referenceNanos}, exactly.
 *
 * @param expectedNanos expected time of the step, ns
 * @param referenceNanos expected time of a usual decode-only step, ns
 * @param batchNanos its batch size instead of the usual one
 * @param contextNanos its resident context
 * @param prefillNanos its new prompt tokens
 * @param recomputeNanos its recomputed tokens
 * @param graphNanos its graph mode; 0 where either mode is not reported
 * @param basis what the expectation rests on
 */
public record StepExpectation(
        long expectedNanos,
        long referenceNanos,
        long batchNanos,
        long contextNanos,
        long prefillNanos,
        long recomputeNanos,
        long graphNanos,
        Basis basis) {

    /** What an expectation rests on, from most to least to be trusted. */
    public enum Basis {
        /** Steps of this batch size and graph mode. */
        LEARNT("learnt"),
        /** This batch size was not seen in this graph mode: its neighbours stand in. */
        NEIGHBOURS("neighbours"),
        /** This graph mode was not seen: another one stands in. */
        OTHER_MODE("other-mode"),
        /** The step computed prompt tokens, and too few such steps were seen. */
        PROMPTS_UNKNOWN("prompts-unknown");

        private final String basisName;

        Basis(String basisName) {
            this.basisName = basisName;
        }

        /** Its name in tables. */
        public String basisName() {
            return basisName;
        }
    }
}
