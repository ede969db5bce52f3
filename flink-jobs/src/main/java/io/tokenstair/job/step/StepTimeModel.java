package io.tokenstair.job.step;

/**
 * The expected time of a step: {@code fixed + perSequence x B + perResident x C + perPrompt x P + perAttention x A}, no coefficient
 * below zero, learnt online from one engine's steps. Least squares of the relative error with forgetting (half-life about 1400
 * steps), each new step clipped to what noise can be so that faults are not learnt, solved by coordinate descent. The form follows
 * the roofline argument for batched decoding: weights once per step, KV bytes per resident token, compute per prompt token.
 *
 * <p>State: {@link State}, 30 doubles, on the one key of the engine; StrictMath only, so that replay gives the same bytes.
 */
public final class StepTimeModel {
    /** Decode-only steps after which the model is trusted. */
    public static final int WARM_STEPS = 16;

    /** Steps with prompt tokens after which the terms of prompts are trusted. */
    public static final int PROMPT_WARM_STEPS = 4;

    private static final int TERMS = 5;
    private static final double[] SCALE = {1, 8, 1e3, 1e2, 1e5};
    private static final double FORGET = 0.9995;
    private static final double RIDGE = 0.05;
    private static final int SWEEPS = 8;
    private static final double MIN_NANOS = 1e3;

    private StepTimeModel() {}

    /** What the model has learnt. */
    public static class State {
        public double[] gram = new double[TERMS * TERMS];
        public double[] target = new double[TERMS];
        public double[] coefficients = new double[TERMS];
        public double relativeNoise = 0.08;
        public int steps;
        public int decodeOnlySteps;
        public int promptSteps;

        /** For Flink's serializer and a cold start. */
        public State() {}
    }

    /** True once predictions mean something. */
    public static boolean isWarm(State state) {
        return state.decodeOnlySteps >= WARM_STEPS;
    }

    /** True once the terms of prompts mean something: a collector may attach to an engine that decodes only. */
    public static boolean isWarmForPrompts(State state) {
        return state.promptSteps >= PROMPT_WARM_STEPS;
    }

    /** Expected time of a step in ns. */
    public static double predictNanos(State state, StepLoad load) {
        double[] w = state.coefficients;
        double nanos = w[0]
                + w[1] * (load.sequences() / SCALE[1])
                + w[2] * (load.residentTokens() / SCALE[2])
                + promptNanos(state, load.promptTokens(), load.promptAttention());
        return nanos < MIN_NANOS ? MIN_NANOS : nanos;
    }

    /** Share of the expected time that computing these prompt tokens takes, in ns. */
    public static double promptNanos(State state, double promptTokens, double promptAttention) {
        return state.coefficients[3] * (promptTokens / SCALE[3]) + state.coefficients[4] * (promptAttention / SCALE[4]);
    }

    /** Expected ns for {@code sequences} more sequences. */
    public static double sequencesNanos(State state, double sequences) {
        return state.coefficients[1] * (sequences / SCALE[1]);
    }

    /** Expected ns for {@code tokens} more resident tokens. */
    public static double residentNanos(State state, double tokens) {
        return state.coefficients[2] * (tokens / SCALE[2]);
    }

    /** Learns from a step. */
    public static void learn(State state, StepLoad load, long stepNanos) {
        learn(state, load, stepNanos, 0);
    }

    /**
     * Learns from a step.
     *
     * @param leastNanos a step shorter than this counts as this long: with two steps in flight the second may end right after a first
     *     that came late, and weighing relative errors would let such a step outweigh all others
     */
    public static void learn(State state, StepLoad load, long stepNanos, long leastNanos) {
        double observed = Math.max(stepNanos, leastNanos);
        boolean decodeOnly = load.promptTokens() == 0;
        if (state.steps >= WARM_STEPS && (decodeOnly || isWarmForPrompts(state))) {
            double predicted = predictNanos(state, load);
            double clip = (decodeOnly ? 3 * state.relativeNoise : 0.5) * predicted;
            double error = observed - predicted;
            if (decodeOnly) {
                double size = StrictMath.min(StrictMath.abs(error) / predicted * 1.25, 0.3);
                state.relativeNoise = 0.98 * state.relativeNoise + 0.02 * size;
            }
            observed = predicted + StrictMath.max(-clip, StrictMath.min(clip, error));
        }
        double weight = 1 / StrictMath.max(observed, MIN_NANOS);
        double[] x = {
            weight,
            load.sequences() / SCALE[1] * weight,
            load.residentTokens() / SCALE[2] * weight,
            load.promptTokens() / SCALE[3] * weight,
            load.promptAttention() / SCALE[4] * weight
        };
        double y = observed * weight;
        for (int i = 0; i < TERMS; i++) {
            for (int j = 0; j < TERMS; j++) {
                state.gram[i * TERMS + j] = state.gram[i * TERMS + j] * FORGET + x[i] * x[j];
            }
            state.target[i] = state.target[i] * FORGET + x[i] * y;
        }
        state.steps++;
        if (decodeOnly) {
            state.decodeOnlySteps++;
        } else {
            state.promptSteps++;
        }
        solve(state);
    }

    private static void solve(State state) {
        double[] w = state.coefficients;
        double ridge = RIDGE * state.gram[0] / state.steps;
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            for (int i = 0; i < TERMS; i++) {
                double own = state.gram[i * TERMS + i];
                double gradient = state.target[i] + own * w[i];
                for (int j = 0; j < TERMS; j++) {
                    gradient -= state.gram[i * TERMS + j] * w[j];
                }
                double denominator = own + (i == 0 ? 0 : ridge);
                w[i] = denominator > 0 ? StrictMath.max(0, gradient / denominator) : 0;
            }
        }
    }
}
