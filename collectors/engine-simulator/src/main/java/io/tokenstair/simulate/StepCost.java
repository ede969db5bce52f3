package io.tokenstair.simulate;

/**
 * The time of a step under given conditions, by kind of kernel. The same function prices the step as it was and the step as it would
 * have been without something, so that a counterfactual differs in what was taken out and in nothing else.
 *
 * @param gemmNanos matrix multiplications
 * @param attentionNanos attention
 * @param otherNanos norms, rotations, sampler
 * @param launchNanos device idle between launches: eager, or piecewise
 * @param scheduleNanos the scheduler
 * @param updateNanos taking in the output
 */
record StepCost(
        long gemmNanos, long attentionNanos, long otherNanos, long launchNanos, long scheduleNanos, long updateNanos) {

    /** How the step runs. */
    enum GraphMode {
        FULL,
        PIECEWISE,
        EAGER
    }

    /**
     * What acts on a step.
     *
     * @param noise factor of the device's time
     * @param thermal factor of all kernels
     * @param kernel factor of the GEMM kernels
     * @param stair share of the decode's time that attention takes on top, for KV in a slower tier
     * @param eager whether graphs are off
     * @param maxGraphBatch largest batch with a graph
     */
    record Conditions(double noise, double thermal, double kernel, double stair, boolean eager, int maxGraphBatch) {
        Conditions withoutThermal() {
            return new Conditions(noise, 1, kernel, stair, eager, maxGraphBatch);
        }

        Conditions withoutKernel() {
            return new Conditions(noise, thermal, 1, 0, eager, maxGraphBatch);
        }

        /** No fault; the same noise. */
        Conditions undisturbed() {
            return new Conditions(noise, 1, 1, 0, false, StepLaw.MOST_GRAPH_BATCH);
        }

        /** The same with the usual way to launch kernels. */
        Conditions launched(boolean usuallyEager) {
            return new Conditions(noise, thermal, kernel, stair, usuallyEager, StepLaw.MOST_GRAPH_BATCH);
        }
    }

    static GraphMode mode(StepWork work, Conditions conditions) {
        if (conditions.eager() || StepLaw.padded(work.rows()) > conditions.maxGraphBatch()) {
            return GraphMode.EAGER;
        }
        return work.promptRows() > 0 ? GraphMode.PIECEWISE : GraphMode.FULL;
    }

    static StepCost of(StepWork work, Conditions conditions) {
        double device = conditions.noise() * conditions.thermal();
        double gemm = StepLaw.gemmNanos(StepLaw.padded(work.rows()));
        double resident = StepLaw.RESIDENT_NANOS * work.residentTokens();
        double launch = switch (mode(work, conditions)) {
            case FULL -> 0;
            case PIECEWISE -> StepLaw.PIECEWISE_NANOS;
            case EAGER -> StepLaw.EAGER_NANOS;
        };
        return new StepCost(
                StrictMath.round(device * conditions.kernel() * (gemm + work.promptNanos())),
                StrictMath.round(
                        device * (resident + work.promptAttentionNanos() + conditions.stair() * (gemm + resident))),
                StrictMath.round(device * StepLaw.LAYERS_NANOS),
                StrictMath.round(conditions.noise() * launch),
                StepLaw.scheduleNanos(work.rows()),
                StepLaw.updateNanos(work.rows()));
    }

    /** From the model's start to its end. */
    long deviceNanos() {
        return gemmNanos + attentionNanos + otherNanos + launchNanos;
    }

    /** All of it. */
    long totalNanos() {
        return deviceNanos() + scheduleNanos + updateNanos;
    }
}
