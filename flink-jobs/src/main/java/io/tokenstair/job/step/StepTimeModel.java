package io.tokenstair.job.step;

import java.util.Arrays;

/**
 * The expected time of a step, learnt online from one engine's steps:
 *
 * <pre>
 * fixed + table[graph mode, padded batch] + perSequence x B + perResident x C + perPrompt x P + perPair x A
 * </pre>
 *
 * with no coefficient below zero. Kernels are quantised and not monotone in the batch, so that part is a table; the rest follows the
 * roofline argument for batched decoding: KV bytes per resident token, compute per prompt token, attention per token pair.
 *
 * <p>Least squares of the relative error with forgetting (half-life about 1400 steps). The rows of the table are random effects:
 * each is pulled towards its neighbours by as much as noise outweighs the spread between rows, which is estimated too, so an engine
 * with stairs gets a table and one without gets a line. A row is held relative to where its own steps were, so that it outlives
 * steps of other batch sizes and follows the coefficients. What a step tells is clipped to what noise can be, so that faults are
 * not learnt; an engine that stays different starts anew.
 *
 * <p>State: {@link State}, bounded by {@link GraphMode#COUNT} x {@link BatchBucket#COUNT} x {@value #FIELDS} doubles, in use for the
 * graph modes that were seen, on the one key of the engine; StrictMath only, so that replay gives the same bytes.
 */
public final class StepTimeModel {
    /** Decode-only steps after which the model is trusted. */
    public static final int WARM_STEPS = 16;

    /** Steps with prompt tokens after which the terms of prompts are trusted. */
    public static final int PROMPT_WARM_STEPS = 4;

    /** A step may take this long, ns: longer ones are not learnt. */
    public static final long MOST_NANOS = 600_000_000_000L;

    /** Most resident, prompt tokens and token pairs of a step that is learnt. */
    private static final long MOST_RESIDENT_TOKENS = 10_000_000_000L;

    private static final long MOST_PROMPT_TOKENS = 100_000_000L;
    private static final long MOST_PAIRS = 1_000_000_000_000_000L;

    private static final int TERMS = 5;
    private static final double[] SCALE = {1, 8, 1e3, 1e2, 1e5};
    private static final double MIN_NANOS = 1e3;

    // ---- forgetting
    private static final double FORGET = 0.9995;
    /** A row of the table forgets by its own steps: it must outlive those of other batch sizes. */
    private static final double FORGET_OWN = 0.998;

    private static final double RESCALE = 1e12;

    // ---- what is pulled where
    private static final double RIDGE = 0.05;
    /** Spread between rows before there is evidence, and its least, as shares of a step. */
    private static final double ROW_SPREAD = 0.04;

    private static final double LEAST_ROW_SPREAD = 0.002;
    private static final double ROW_SPREAD_ROWS = 2;
    private static final double NEIGHBOUR_SHARE = 0.7;
    private static final int SWEEPS = 24;
    private static final int SOLVE_STEPS = 8;
    private static final int EAGER_STEPS = 256;

    // ---- what noise can be
    private static final double LEAST_NOISE = 0.002;
    private static final double MOST_NOISE = 0.3;
    private static final double NOISE_RATE = 0.005;
    /** Error that half of normal noise stays below, in standard deviations. */
    private static final double MEDIAN_ERROR = 0.6745;

    private static final double IN_BAND = 3;
    private static final double FAR_OUT = 6;
    private static final double LEAST_BAND = 0.01;
    private static final double NEW_ROW_CLIP = 0.6;
    private static final int NEW_ROW_STEPS = 8;
    /** Steps after which a batch size is well known. */
    private static final int YOUNG_ROW_STEPS = NEW_ROW_STEPS + StepLevel.OPEN_STEPS;

    /** The load explains a change within so many standard deviations of what is known of it. */
    private static final double UNKNOWN_DEVIATIONS = 6;
    /** Another graph mode than the usual one is no noise: its first steps may take this much more, relative to the usual one. */
    private static final double NEW_MODE_CLIP = 9;
    /** A first step of a size may compile or capture something: it counts for little. */
    private static final double FIRST_STEP_SHARE = 0.1;

    /**
     * A step that is expected to take less than this share of a typical one was extrapolated to nothing: weighed by its relative error it
     * would have all the weight there is, so it counts as a typical one.
     */
    private static final double LEAST_SHARE = 0.125;

    private static final int NEW_PROMPT_STEPS = 32;
    private static final double NEW_PROMPT_CLIP = 0.5;
    private static final double LEAST_PROMPT_CLIP = 0.1;

    // ---- an engine that became another one
    /** Steps in a row, others count back twice, after which a slower engine is believed: a fault of a minute is none. */
    static final int SLOWER_STEPS = 4_096;

    /** The same of a faster one: no fault makes steps faster, so a fault was learnt. */
    static final int FASTER_STEPS = 256;

    private static final int FASTER_ROW_STEPS = 16;
    private static final int SLOWER_ROW_STEPS = 1_024;
    private static final double KEPT = 0.004;
    private static final int RELEARN_STEPS = 64;

    // ---- fields of a row of the table: what it adds to the equations of the coefficients, and its own memory
    static final int FIELDS = 17;
    private static final int SHARED_WEIGHT = 0;
    private static final int SHARED_TARGET = 5;
    private static final int OWN_WEIGHT = 6;
    private static final int OWN_TARGET = 11;
    private static final int STEPS = 12;
    private static final int NANOS = 13;
    private static final int PRIOR_NANOS = 14;
    private static final int RUN = 15;
    private static final int LAST = 16;

    // ---- publishing
    private static final int PUBLISH_STEPS = 256;
    /** A changed model is published once per so many steps on average ... */
    private static final int PUBLISH_COST = 16;

    /** ... so many of them at once, */
    private static final int PUBLISH_BURST = 16;

    /** and more while the model is new. */
    private static final int NEW_PUBLISH_BURST = 256;

    private static final double PUBLISH_CHANGE = 0.01;
    private static final double PUBLISH_NOISE_SHARE = 0.1;
    private static final double MOST_FIXED_POINT = 1L << 50;

    private StepTimeModel() {}

    /** What the model has learnt. */
    public static class State {
        /** Weight of a new step: grows instead of shrinking all sums at every step. */
        public double scale = 1;

        public double weights;
        public double[] gram = new double[TERMS * TERMS];
        public double[] target = new double[TERMS];
        public double[] coefficients = new double[TERMS];
        /** By ordinal of the graph mode; empty for modes that were not seen. */
        public double[][] tables = new double[GraphMode.COUNT][0];

        public double[] modeNanos = new double[GraphMode.COUNT];
        /** Noise over spread between rows, squared, in the weights of the equations. */
        public double pull;

        public double relativeNoise = 0.08;
        public double promptNoise = 0.15;
        public int steps;
        public int decodeOnlySteps;
        public int promptSteps;
        /** Decode-only steps beyond what noise can be, in a row; negative below it. */
        public int shiftRun;

        /** On which side the last step beyond noise was. */
        public int lastOutSign;

        /** How much slower than the model the engine is for now. */
        public StepLevel level = new StepLevel();

        public int relearnSteps;
        public int solvedAtStep;
        public long refusedSteps;

        // Since the last published version.
        public int publishedAtStep;
        public boolean newRow;
        /** Steps since then that count for the next one, and what was left over. */
        public int publishCredit = NEW_PUBLISH_BURST * PUBLISH_COST;

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

    /** True once steps of a graph mode are expected by what was learnt in that mode. */
    static boolean isWarmFor(State state, GraphMode mode) {
        double[] table = state.tables[mode.ordinal()];
        double steps = 0;
        for (int row = 0; row < table.length && steps < WARM_STEPS; row += FIELDS) {
            steps += table[row + STEPS];
        }
        return steps >= WARM_STEPS;
    }

    // ---- predicting

    /** Expected time of a step in ns, by what was learnt up to now. */
    public static double predictNanos(State state, StepLoad load) {
        double[] w = state.coefficients;
        double nanos = w[0]
                + tableNanos(state, load.graphMode().ordinal(), BatchBucket.of(load.paddedCount()))
                + sequencesNanos(state, load.sequences())
                + residentNanos(state, load.residentTokens())
                + promptNanos(state, load.promptTokens(), load.promptPairs());
        return nanos < MIN_NANOS ? MIN_NANOS : nanos;
    }

    /** Share of the expected time that computing these prompt tokens takes, in ns. */
    public static double promptNanos(State state, double promptTokens, double promptPairs) {
        return state.coefficients[3] * (promptTokens / SCALE[3]) + state.coefficients[4] * (promptPairs / SCALE[4]);
    }

    /** Expected ns for {@code sequences} more sequences of the same padded batch. */
    public static double sequencesNanos(State state, double sequences) {
        return state.coefficients[1] * (sequences / SCALE[1]);
    }

    /** Expected ns for {@code tokens} more resident tokens. */
    public static double residentNanos(State state, double tokens) {
        return state.coefficients[2] * (tokens / SCALE[2]);
    }

    private static boolean seen(double[] table, int bucket) {
        return table[bucket * FIELDS + OWN_WEIGHT] > 0;
    }

    private static double tableNanos(State state, int mode, int bucket) {
        double[] table = state.tables[mode];
        if (table.length > 0 && seen(table, bucket)) {
            return table[bucket * FIELDS + NANOS];
        }
        return between(state, mode, bucket);
    }

    /** What the neighbours of a row say of it. */
    private static double between(State state, int mode, int bucket) {
        double[] table = state.tables[mode];
        if (table.length == 0) {
            int other = mostSeen(state);
            return other == mode || other < 0 ? 0 : tableNanos(state, other, bucket);
        }
        int below = bucket - 1;
        while (below >= 0 && !seen(table, below)) {
            below--;
        }
        int above = bucket + 1;
        while (above < BatchBucket.COUNT && !seen(table, above)) {
            above++;
        }
        if (below >= 0 && above < BatchBucket.COUNT) {
            double low = table[below * FIELDS + NANOS];
            double high = table[above * FIELDS + NANOS];
            return low + (high - low) * (bucket - below) / (above - below);
        }
        if (below >= 0) {
            return table[below * FIELDS + NANOS];
        }
        return above < BatchBucket.COUNT ? table[above * FIELDS + NANOS] : 0;
    }

    private static int mostSeen(State state) {
        int most = -1;
        double mostWeight = 0;
        for (int mode = 0; mode < GraphMode.COUNT; mode++) {
            double weight = 0;
            double[] table = state.tables[mode];
            for (int at = OWN_WEIGHT; at < table.length; at += FIELDS) {
                weight += table[at];
            }
            if (weight > mostWeight) {
                mostWeight = weight;
                most = mode;
            }
        }
        return most;
    }

    // ---- learning

    /** Learns from a step. */
    public static void learn(State state, StepLoad load, long stepNanos) {
        learn(state, load, stepNanos, 0);
    }

    /**
     * Learns from a step. Steps that cannot be are counted and left out: no sequence or more than {@link BatchBucket#MAX_COUNT}, no
     * time or more than {@link #MOST_NANOS}, more tokens than any engine holds.
     *
     * @param leastNanos a step shorter than this counts as this long: with two steps in flight the second may end right after a first
     *     that came late, and weighing relative errors would let such a step outweigh all others
     */
    public static void learn(State state, StepLoad load, long stepNanos, long leastNanos) {
        if (!canBe(load, stepNanos)) {
            state.refusedSteps++;
            return;
        }
        boolean decodeOnly = load.promptTokens() == 0;
        int mode = load.graphMode().ordinal();
        if (state.tables[mode].length == 0) {
            state.tables[mode] = new double[BatchBucket.COUNT * FIELDS];
        }
        double[] table = state.tables[mode];
        int bucket = BatchBucket.of(load.paddedCount());
        int row = bucket * FIELDS;
        boolean isNew = table[row + OWN_WEIGHT] == 0;
        double observed = Math.max(stepNanos, leastNanos);
        double share = 1;
        boolean ofModeOnly = false;
        boolean held = false;
        double typical = observed;
        if (isWarm(state) && (decodeOnly || isWarmForPrompts(state))) {
            double predicted = predictNanos(state, load);
            double typicalNanos = StrictMath.sqrt(state.weights / state.gram[0]);
            if (predicted < LEAST_SHARE * typicalNanos) {
                predicted = StrictMath.max(predicted, StrictMath.min(observed, typicalNanos));
            }
            boolean unseenMode = decodeOnly && !isWarmFor(state, load.graphMode()) && mostSeen(state) != mode;
            if (unseenMode && state.relearnSteps == 0) {
                double error = levelError(observed, predicted, state.level.roughFactor());
                decodeNoise(state, observed / predicted - 1);
                observed = predicted * (1 + StrictMath.max(-NEW_ROW_CLIP, StrictMath.min(NEW_MODE_CLIP, error)));
                ofModeOnly = true;
            } else {
                double believed = decodeOnly
                        ? decodeError(state, load, table, row, observed, predicted)
                        : promptError(state, levelError(observed, predicted, state.level.roughFactor()));
                held = Double.isNaN(believed);
                observed = predicted * (1 + believed);
            }
            // On a level of faults, which vary: weighed by what they took, fast steps would count for more than slow
            // ones.
            typical = state.level.isUsual() ? observed : predicted;
            share = isNew ? FIRST_STEP_SHARE : 1;
        }
        if (!held) {
            add(state, load, table, row, observed, typical, share, ofModeOnly);
        }
        state.steps++;
        state.publishCredit =
                Math.max(state.publishCredit, Math.min(PUBLISH_BURST * PUBLISH_COST, state.publishCredit + 1));
        if (decodeOnly) {
            state.decodeOnlySteps++;
            table[row + STEPS] += held ? 0 : 1;
        } else {
            state.promptSteps++;
        }
        state.newRow |= isNew || (decodeOnly && table[row + STEPS] <= NEW_ROW_STEPS);
        if (isNew) {
            table[row + PRIOR_NANOS] = between(state, mode, bucket);
        }
        boolean often = state.steps < EAGER_STEPS
                || state.relearnSteps > 0
                || (!decodeOnly && state.promptSteps < NEW_PROMPT_STEPS);
        if (often || state.steps - state.solvedAtStep >= SOLVE_STEPS) {
            solve(state);
        } else {
            table[row + NANOS] = rowNanos(state, table, row);
        }
    }

    private static boolean canBe(StepLoad load, long stepNanos) {
        return load.sequences() > 0
                && load.sequences() <= BatchBucket.MAX_COUNT
                && load.residentTokens() >= 0
                && load.residentTokens() <= MOST_RESIDENT_TOKENS
                && load.promptTokens() >= 0
                && load.promptTokens() <= MOST_PROMPT_TOKENS
                && load.promptPairs() >= 0
                && load.promptPairs() <= MOST_PAIRS
                && stepNanos > 0
                && stepNanos <= MOST_NANOS;
    }

    /** Error relative to what was expected on a level. */
    private static double levelError(double observed, double predicted, double factor) {
        return observed / (predicted * factor) - 1;
    }

    /** Follows noise; returns on which side of it a step is. */
    private static int decodeNoise(State state, double error) {
        double size = StrictMath.abs(error);
        double noise = state.relativeNoise;
        boolean out = size > band(state);
        int sign = !out ? 0 : error > 0 ? 1 : -1;
        if ((!out || sign != state.lastOutSign) && state.level.slower == 0) {
            // A fault or a change is all on one side, and is no noise.
            double rate = StrictMath.max(NOISE_RATE, 1.0 / (state.decodeOnlySteps - WARM_STEPS + 5));
            double follow = size > MEDIAN_ERROR * noise ? 1 + rate / 2 : 1 - rate / 2;
            state.relativeNoise = StrictMath.max(LEAST_NOISE, StrictMath.min(MOST_NOISE, noise * follow));
        }
        state.lastOutSign = out ? sign : state.lastOutSign;
        return sign;
    }

    private static double band(State state) {
        return StrictMath.max(LEAST_BAND, IN_BAND * state.relativeNoise);
    }

    /**
     * How much of the relative error of a decode-only step is believed, on the level there is; follows noise, levels and lasting changes.
     * NaN while it may be a change of level.
     */
    private static double decodeError(
            State state, StepLoad load, double[] table, int row, double observed, double predicted) {
        double raw = observed / predicted - 1;
        double band = band(state);
        int sign = decodeNoise(state, raw);
        if (state.relearnSteps > 0) {
            state.relearnSteps--;
            return StrictMath.max(-NEW_ROW_CLIP, StrictMath.min(1 / NEW_ROW_CLIP, raw));
        }
        if (shifted(state, sign)) {
            restart(state);
            return StrictMath.max(-NEW_ROW_CLIP, StrictMath.min(1 / NEW_ROW_CLIP, raw));
        }
        if (table[row + STEPS] < NEW_ROW_STEPS) {
            return newRow(state, load, observed, predicted, band);
        }
        double run = table[row + RUN];
        run = sign == 0 ? 0 : sign * run > 0 ? run + sign : sign;
        table[row + RUN] = run;
        if (run <= -FASTER_ROW_STEPS || (run >= SLOWER_ROW_STEPS && state.level.slower == 0)) {
            forget(table, row);
            return newRowError(state, raw);
        }
        double usualFactor = state.level.believe();
        if (usualFactor != 1) {
            scale(state, usualFactor);
            state.newRow = true;
            return Double.NaN;
        }
        double error = levelError(observed, predicted, state.level.factor());
        boolean knownRow = table[row + STEPS] >= YOUNG_ROW_STEPS;
        StepLevel.Verdict verdict = state.level.accept(error, band, knownRow, predicted, load);
        if (verdict == StepLevel.Verdict.DECIDE) {
            state.level.decide(unknown(state, load) / predicted, band, predicted);
        }
        if (verdict != StepLevel.Verdict.LEARN) {
            return Double.NaN;
        }
        double size = StrictMath.abs(error);
        double noise = state.relativeNoise;
        if (size <= band) {
            state.level.follow(error, noise);
        }
        return size <= band ? error : error / size * (size > FAR_OUT * noise ? noise : band);
    }

    /** By how much, in ns, the coefficients may be wrong of the load now less that before an open change of level. */
    private static double unknown(State state, StepLoad load) {
        double[] gram = state.gram.clone();
        double[] target = state.target.clone();
        double perStep = state.gram[0] / state.weights;
        eliminateRows(state, gram, target);
        double ridge = RIDGE * StrictMath.min(perStep, state.pull) * state.scale;
        StepLevel level = state.level;
        boolean fall = level.openMedian() < 0;
        double[] change = {
            0,
            (load.sequences() - (fall ? level.sequencesUsual : level.sequencesBefore)) / SCALE[1],
            (load.residentTokens() - (fall ? level.residentUsual : level.residentBefore)) / SCALE[2],
            0,
            0
        };
        // Cholesky factor of the equations of sequences and resident tokens; prompts change nothing here.
        double aa = gram[TERMS + 1] + ridge;
        double ab = gram[TERMS + 2];
        double bb = gram[2 * TERMS + 2] + ridge;
        double root = StrictMath.sqrt(aa);
        double low = ab / root;
        double rest = bb - low * low;
        double first = change[1] / root;
        double second = rest <= 0 ? 0 : (change[2] - low * first) / StrictMath.sqrt(rest);
        return UNKNOWN_DEVIATIONS
                * state.relativeNoise
                * StrictMath.sqrt((first * first + second * second) * state.scale);
    }

    /** How much is believed of a new row; NaN on a level of faults: what is the row's and what is theirs cannot be told there. */
    private static double newRow(State state, StepLoad load, double observed, double predicted, double band) {
        StepLevel level = state.level;
        if (level.isUsual()) {
            return newRowError(state, observed / predicted - 1);
        }
        // Whether the level goes on is still seen, by as much as rows may differ.
        double wide = StrictMath.max(band, newRowSpread(state));
        double error = levelError(observed, predicted, level.factor());
        if (level.accept(error, wide, false, predicted, load) == StepLevel.Verdict.DECIDE) {
            level.decide(StrictMath.max(wide, unknown(state, load) / predicted), band, predicted);
        }
        return Double.NaN;
    }

    /** By how much a new row may differ from what its neighbours say. */
    private static double newRowSpread(State state) {
        double perStep = state.gram[0] / state.weights;
        double rowSpread = square(state.relativeNoise) * perStep / state.pull;
        return IN_BAND * StrictMath.sqrt(square(state.relativeNoise) + rowSpread);
    }

    /** A row that is new may differ from what its neighbours say by as much as rows do here, and be faster than that. */
    private static double newRowError(State state, double error) {
        return StrictMath.max(-NEW_ROW_CLIP, StrictMath.min(StrictMath.min(NEW_ROW_CLIP, newRowSpread(state)), error));
    }

    private static double promptError(State state, double error) {
        double size = StrictMath.abs(error);
        double noise = state.promptNoise;
        double rate = StrictMath.max(NOISE_RATE, 1.0 / (state.promptSteps - PROMPT_WARM_STEPS + 5));
        double follow = size > MEDIAN_ERROR * noise ? 1 + rate / 2 : 1 - rate / 2;
        state.promptNoise = StrictMath.max(LEAST_NOISE, StrictMath.min(MOST_NOISE, noise * follow));
        double clip = state.promptSteps < NEW_PROMPT_STEPS || state.relearnSteps > 0
                ? NEW_PROMPT_CLIP
                : StrictMath.max(LEAST_PROMPT_CLIP, IN_BAND * noise);
        return StrictMath.max(-clip, StrictMath.min(clip, error));
    }

    private static boolean shifted(State state, int sign) {
        if (sign != 0 && sign * state.shiftRun >= 0) {
            state.shiftRun += sign;
        } else {
            state.shiftRun -= Integer.signum(state.shiftRun) * Math.min(2, Math.abs(state.shiftRun));
        }
        return state.shiftRun >= SLOWER_STEPS || state.shiftRun <= -FASTER_STEPS;
    }

    /** Keeps little of what was learnt: the engine has become another one. */
    private static void restart(State state) {
        state.shiftRun = 0;
        scale(state, state.level.factor());
        state.level.restart();
        state.relearnSteps = RELEARN_STEPS;
        state.weights *= KEPT;
        for (int i = 0; i < state.gram.length; i++) {
            state.gram[i] *= KEPT;
        }
        for (int i = 0; i < TERMS; i++) {
            state.target[i] *= KEPT;
        }
        for (double[] table : state.tables) {
            for (int row = 0; row < table.length; row += FIELDS) {
                for (int i = SHARED_WEIGHT; i <= SHARED_TARGET; i++) {
                    table[row + i] *= KEPT;
                }
                forget(table, row);
            }
        }
    }

    /** What was learnt on another level: every time in it is so many times as long. */
    private static void scale(State state, double factor) {
        for (int i = 0; i < TERMS; i++) {
            state.coefficients[i] *= factor;
            state.target[i] *= factor;
        }
        for (int mode = 0; mode < GraphMode.COUNT; mode++) {
            state.modeNanos[mode] *= factor;
            double[] table = state.tables[mode];
            for (int row = 0; row < table.length; row += FIELDS) {
                table[row + SHARED_TARGET] *= factor;
                table[row + OWN_TARGET] *= factor;
                table[row + NANOS] *= factor;
                table[row + PRIOR_NANOS] *= factor;
            }
        }
    }

    /** Keeps little of a row's own memory. */
    private static void forget(double[] table, int row) {
        for (int i = OWN_WEIGHT; i <= OWN_TARGET; i++) {
            table[row + i] *= KEPT;
        }
        table[row + STEPS] = Math.min(1, table[row + STEPS]);
        table[row + RUN] = 0;
    }

    /** Adds a step to what its row remembers and, unless it is known to tell of its graph mode only, to the equations. */
    private static void add(
            State state,
            StepLoad load,
            double[] table,
            int row,
            double observed,
            double typical,
            double share,
            boolean ofModeOnly) {
        double relative = 1 / StrictMath.max(typical, MIN_NANOS);
        double weight = share * relative * relative;
        double[] x = {
            1,
            load.sequences() / SCALE[1],
            load.residentTokens() / SCALE[2],
            load.promptTokens() / SCALE[3],
            load.promptPairs() / SCALE[4]
        };
        state.scale /= FORGET;
        double shared = ofModeOnly ? 0 : weight * state.scale;
        state.weights += ofModeOnly ? 0 : share * state.scale;
        for (int i = 0; i < TERMS; i++) {
            for (int j = 0; j < TERMS; j++) {
                state.gram[i * TERMS + j] += shared * x[i] * x[j];
            }
            state.target[i] += shared * x[i] * observed;
            table[row + SHARED_WEIGHT + i] += shared * x[i];
            table[row + OWN_WEIGHT + i] = FORGET_OWN * table[row + OWN_WEIGHT + i] + weight * x[i];
        }
        table[row + SHARED_TARGET] += shared * observed;
        table[row + OWN_TARGET] = FORGET_OWN * table[row + OWN_TARGET] + weight * observed;
        if (state.scale > RESCALE) {
            rescale(state);
        }
    }

    private static void rescale(State state) {
        double by = 1 / state.scale;
        state.scale = 1;
        state.weights *= by;
        for (int i = 0; i < state.gram.length; i++) {
            state.gram[i] *= by;
        }
        for (int i = 0; i < TERMS; i++) {
            state.target[i] *= by;
        }
        for (double[] table : state.tables) {
            for (int row = 0; row < table.length; row += FIELDS) {
                for (int i = SHARED_WEIGHT; i <= SHARED_TARGET; i++) {
                    table[row + i] *= by;
                }
            }
        }
    }

    // ---- solving

    /** What a row adds, by its own steps and its neighbours. */
    private static double rowNanos(State state, double[] table, int row) {
        double[] w = state.coefficients;
        double own = table[row + OWN_TARGET];
        for (int i = 0; i < TERMS; i++) {
            own -= table[row + OWN_WEIGHT + i] * w[i];
        }
        double weight = table[row + OWN_WEIGHT];
        return (own + state.pull * table[row + PRIOR_NANOS]) / (weight + state.pull);
    }

    /**
     * The coefficients with the rows of the table eliminated from the equations, by coordinate descent above zero; then the rows,
     * what they are pulled to, and how strongly.
     */
    private static void solve(State state) {
        state.solvedAtStep = state.steps;
        double perStep = state.gram[0] / state.weights;
        double typicalNanos = 1 / StrictMath.sqrt(perStep);
        if (state.pull == 0) {
            state.pull = perStep * square(state.relativeNoise / ROW_SPREAD);
        }
        double[] gram = state.gram.clone();
        double[] target = state.target.clone();
        eliminateRows(state, gram, target);
        descend(state.coefficients, gram, target, RIDGE * StrictMath.min(perStep, state.pull) * state.scale);
        rows(state, typicalNanos);
    }

    private static void eliminateRows(State state, double[] gram, double[] target) {
        double pull = state.pull * state.scale;
        for (int mode = 0; mode < GraphMode.COUNT; mode++) {
            double[] table = state.tables[mode];
            double modeTarget = pull * state.modeNanos[mode];
            for (int row = 0; row < table.length; row += FIELDS) {
                double weight = table[row + SHARED_WEIGHT];
                if (weight == 0) {
                    continue;
                }
                double divisor = 1 / (weight + pull);
                double mean = (table[row + SHARED_TARGET] + modeTarget) * divisor;
                for (int i = 0; i < TERMS; i++) {
                    double x = table[row + SHARED_WEIGHT + i];
                    target[i] -= x * mean;
                    for (int j = 0; j < TERMS; j++) {
                        gram[i * TERMS + j] -= x * table[row + SHARED_WEIGHT + j] * divisor;
                    }
                }
            }
        }
    }

    private static void descend(double[] w, double[] gram, double[] target, double ridge) {
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            double moved = 0;
            for (int i = 0; i < TERMS; i++) {
                double own = Math.max(0, gram[i * TERMS + i]);
                double gradient = target[i] + own * w[i];
                for (int j = 0; j < TERMS; j++) {
                    gradient -= gram[i * TERMS + j] * w[j];
                }
                double denominator = own + (i == 0 ? ridge * 1e-6 : ridge);
                double next = denominator > 0 ? StrictMath.max(0, gradient / denominator) : 0;
                moved = Math.max(moved, StrictMath.abs(next - w[i]) - 1e-6 * next);
                w[i] = next;
            }
            if (moved <= 0) {
                return;
            }
        }
    }

    private static void rows(State state, double typicalNanos) {
        double noise = square(state.relativeNoise);
        double spread = ROW_SPREAD_ROWS * square(ROW_SPREAD * typicalNanos);
        double counted = ROW_SPREAD_ROWS;
        int usual = mostSeen(state);
        for (int mode = 0; mode < GraphMode.COUNT; mode++) {
            double[] table = state.tables[mode];
            double sum = 0;
            double count = 1;
            int last = -1;
            for (int bucket = 0; bucket < table.length / FIELDS; bucket++) {
                int row = bucket * FIELDS;
                if (table[row + OWN_WEIGHT] == 0) {
                    continue;
                }
                double weight = table[row + OWN_WEIGHT];
                double raw = table[row + OWN_TARGET];
                for (int i = 0; i < TERMS; i++) {
                    raw -= table[row + OWN_WEIGHT + i] * state.coefficients[i];
                }
                raw /= weight;
                if (table[row + STEPS] >= 4) {
                    double variance = square(raw - table[row + PRIOR_NANOS]) - noise / weight;
                    spread += variance;
                    counted++;
                }
                table[row + NANOS] = rowNanos(state, table, row);
                double trust = weight / (weight + state.pull);
                sum += trust * table[row + NANOS];
                count += trust;
                table[row + LAST] = last;
                last = row;
            }
            state.modeNanos[mode] = mode == usual ? 0 : sum / count;
            priors(table, state.modeNanos[mode], last);
        }
        double least = square(LEAST_ROW_SPREAD * typicalNanos);
        state.pull = noise / StrictMath.max(least, spread / counted);
    }

    /** What each seen row is pulled to: its neighbours, and a little the mean of its graph mode. */
    private static void priors(double[] table, double modeNanos, int lastRow) {
        int above = -1;
        for (int row = lastRow; row >= 0; row = (int) table[row + LAST]) {
            int below = (int) table[row + LAST];
            double neighbours = modeNanos;
            if (below >= 0 && above >= 0) {
                double low = table[below + NANOS];
                double high = table[above + NANOS];
                neighbours = low + (high - low) * (row - below) / (above - below);
            } else if (below >= 0) {
                neighbours = table[below + NANOS];
            } else if (above >= 0) {
                neighbours = table[above + NANOS];
            }
            table[row + PRIOR_NANOS] = NEIGHBOUR_SHARE * neighbours + (1 - NEIGHBOUR_SHARE) * modeNanos;
            above = row;
        }
    }

    private static double square(double x) {
        return x * x;
    }

    // ---- publishing

    /**
     * The next version, if one is due after the step at hand: as soon as the model is warm, at the first steps of a row of the table,
     * every {@value #PUBLISH_STEPS} steps, and where the expectation of this step or of the usual one has moved, at most once in
     * {@value #PUBLISH_COST} steps on average. Otherwise the version before.
     *
     * @param usual composition of a usual decode-only step
     */
    public static StepTimeSnapshot publish(
            State state, StepTimeSnapshot before, StepLoad load, StepLoad usual, long nextStepId) {
        if (!isWarm(state)) {
            return before;
        }
        int since = state.steps - state.publishedAtStep;
        boolean due = !before.known() || state.newRow || since >= PUBLISH_STEPS;
        if (!due && state.publishCredit >= PUBLISH_COST) {
            double most = StrictMath.max(PUBLISH_CHANGE, PUBLISH_NOISE_SHARE * state.relativeNoise);
            due = moved(predictNanos(state, load), before.expectedNanos(load), most)
                    || moved(predictNanos(state, usual), before.referenceNanos, most);
        }
        if (!due && isWarmForPrompts(state) && !before.promptsKnown) {
            due = true;
        }
        if (!due) {
            return before;
        }
        state.publishedAtStep = state.steps;
        state.publishCredit = Math.max(0, state.publishCredit - PUBLISH_COST);
        state.newRow = false;
        return snapshot(state, before.version + 1, usual, nextStepId);
    }

    private static boolean moved(double now, double before, double most) {
        return StrictMath.abs(now - before) > most * before;
    }

    private static StepTimeSnapshot snapshot(State state, int version, StepLoad usual, long nextStepId) {
        StepTimeSnapshot snapshot = new StepTimeSnapshot();
        snapshot.version = version;
        snapshot.validFromStepId = nextStepId;
        snapshot.promptsKnown = isWarmForPrompts(state);
        snapshot.fixedNanos = fixed(state.coefficients[0], 0);
        snapshot.perSequence = fixed(state.coefficients[1] / SCALE[1], StepTimeSnapshot.SEQUENCE_BITS);
        snapshot.perResident = fixed(state.coefficients[2] / SCALE[2], StepTimeSnapshot.TOKEN_BITS);
        snapshot.perPrompt = fixed(state.coefficients[3] / SCALE[3], StepTimeSnapshot.TOKEN_BITS);
        snapshot.perPair = fixed(state.coefficients[4] / SCALE[4], StepTimeSnapshot.PAIR_BITS);
        snapshot.noiseMillionths = StrictMath.round(state.relativeNoise * 1e6);
        int count = 0;
        int[] cells = new int[GraphMode.COUNT * BatchBucket.COUNT];
        long[] nanos = new long[cells.length];
        for (int mode = 0; mode < GraphMode.COUNT; mode++) {
            double[] table = state.tables[mode];
            for (int bucket = 0; bucket < table.length / FIELDS; bucket++) {
                if (seen(table, bucket)) {
                    cells[count] = mode * BatchBucket.COUNT + bucket;
                    nanos[count++] = fixed(table[bucket * FIELDS + NANOS], 0);
                }
            }
        }
        int usualBucket = BatchBucket.of(usual.paddedCount());
        for (int mode = 0; mode < GraphMode.COUNT; mode++) {
            double[] table = state.tables[mode];
            if (usualBucket < table.length / FIELDS
                    && seen(table, usualBucket)
                    && table[usualBucket * FIELDS + STEPS] == 0) {
                snapshot.promptsOnlyModes |= 1 << mode;
            }
        }
        snapshot.cells = Arrays.copyOf(cells, count);
        snapshot.cellNanos = Arrays.copyOf(nanos, count);
        snapshot.usualSequences = usual.sequences();
        snapshot.usualPaddedCount = usual.paddedCount();
        snapshot.usualGraphMode = usual.graphMode().ordinal();
        snapshot.usualResidentTokens = usual.residentTokens();
        snapshot.referenceNanos = snapshot.expectedNanos(usual);
        return snapshot;
    }

    private static long fixed(double value, int bits) {
        double scaled = value * (1L << bits);
        return StrictMath.round(StrictMath.max(-MOST_FIXED_POINT, StrictMath.min(MOST_FIXED_POINT, scaled)));
    }
}
