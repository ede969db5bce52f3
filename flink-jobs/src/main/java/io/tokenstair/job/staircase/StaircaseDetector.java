package io.tokenstair.job.staircase;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tells a staircase of token times from jitter, bursts, ramps and single shifts, one request at a time. Stateless: all memory is in
 * {@link StaircaseState}; the same tokens always give the same answer.
 *
 * <p>Four tokens make a tick, whose level is the mean of the middle two of ln(time / expected time). A change of level is raised
 * when the mean of the last 2, 4, 8 or 16 ticks leaves the mean of the segment before by {@value #THRESHOLD} deviations (a
 * generalised likelihood ratio over dyadic windows). The deviation is taken from differences of ticks, so that the changes
 * themselves do not widen it. After {@value #SETTLE_TICKS} ticks a change counts as a rise when a step fits it better than a line
 * and it is above 3 %; a fall that follows within {@value #BURST_TICKS} ticks takes the rise back. The verdict weighs level treads
 * against one straight line (Bayesian information criterion).
 */
public final class StaircaseDetector {
    static final int TOKENS_PER_TICK = 4;

    private static final int SCALE_BITS = 20;
    private static final double SCALE = 1 << SCALE_BITS;
    private static final int MAX_LEVEL = 4 << SCALE_BITS;
    private static final int RING = StaircaseState.RING;
    private static final int RING_MASK = RING - 1;
    private static final int[] WINDOWS = {2, 4, 8, 16};
    private static final double THRESHOLD = 4.5;
    private static final int MIN_BEFORE_TICKS = 3;
    private static final int MIN_AFTER_TICKS = 2;
    private static final int FIRST_CENTRE_TICKS = 4;
    private static final int SETTLE_TICKS = 5;
    private static final int SHAPE_TICKS = 6;
    private static final int BURST_TICKS = 6;
    private static final int KV_TICKS_BEFORE = 3;
    private static final int KV_TICKS_AFTER = 1;
    private static final int MIN_TICKS = 16;
    private static final int MAX_ADVANCE = 0xFFFF;

    private static final double LIMIT_DEVIATIONS = 3;
    private static final double FADE = 0.98;
    private static final double PRIOR_WEIGHT = 3;
    private static final double PRIOR_DEVIATION = 0.02 * SCALE;
    private static final double MIN_DEVIATION = 0.006 * SCALE;
    private static final double MAX_CORRELATION = 0.75;
    private static final double DIFFERENCE_LIMIT = 18;

    /** ln(1.03) in level units: a smaller change is within what the expected time itself may be wrong by. */
    private static final double MIN_HEIGHT = 0.029558802241544 * SCALE;

    private static final double MIN_SHARPNESS = 1;
    private static final double MIN_RAMP_HEIGHT = 0.048790164169432 * SCALE;
    private static final int MIN_RISES_PROVEN = 2;
    private static final int MIN_RISES_BY_SHAPE = 3;
    private static final double MAX_FALL_SHARE = 0.35;
    private static final double MIN_JUMP_SHARE = 0.55;
    private static final double MIN_EVIDENCE = 10;
    private static final double MIN_ENRICHMENT = 1.5;
    private static final int MIN_KV_TOKENS = 3;
    private static final double MAX_CHANCE = 0.003;

    private StaircaseDetector() {}

    /**
     * Takes in the next token. Tokens come in order of their index.
     *
     * @param state memory of the request, changed here
     * @param tokenIndex index of the token
     * @param gapNanos time of the token, in ns; 0 or less when not known, the token is then left out
     * @param expectedNanos what the model expects for it, in ns; 0 or less when not known, the token is then left out
     * @param kvEvents KV-pressure events since the token before: evictions, preemptions, recomputations, collapsed hit rate. They
     *     count even where the token is left out
     * @return the rise that this token confirmed, which began at least {@value #SETTLE_TICKS} ticks ago; null when it confirmed none. A
     *     fall soon after takes it back: {@link #verdict} has the rises that lasted
     */
    public static @Nullable Rise accept(
            StaircaseState state, int tokenIndex, long gapNanos, long expectedNanos, int kvEvents) {
        if (kvEvents > 0 && state.tickKvTokens < TOKENS_PER_TICK) {
            state.tickKvTokens++;
        }
        if (gapNanos <= 0 || expectedNanos <= 0) {
            return null;
        }
        if (state.tickTokens == 0) {
            state.tickFirstTokenIndex = tokenIndex;
        }
        state.tickLevels[state.tickTokens++] = level(gapNanos, expectedNanos);
        if (state.tickTokens < TOKENS_PER_TICK) {
            return null;
        }
        int tickLevel = middleOfFour(state.tickLevels);
        int slot = state.tickCount & RING_MASK;
        int advance = state.tickFirstTokenIndex - state.lastTickTokenIndex;
        state.tokenAdvances[slot] = (short) Math.min(MAX_ADVANCE, Math.max(0, advance));
        state.lastTickTokenIndex = state.tickFirstTokenIndex;
        state.kvTokensOfTick[slot] = (byte) state.tickKvTokens;
        state.kvTokens += state.tickKvTokens;
        state.tickTokens = 0;
        state.tickKvTokens = 0;
        return acceptTick(state, tickLevel);
    }

    private static int level(long gapNanos, long expectedNanos) {
        double level = StrictMath.rint(StrictMath.log((double) gapNanos / (double) expectedNanos) * SCALE);
        return (int) Math.max(-MAX_LEVEL, Math.min(MAX_LEVEL, level));
    }

    private static int middleOfFour(int[] values) {
        int smallest = Math.min(Math.min(values[0], values[1]), Math.min(values[2], values[3]));
        int largest = Math.max(Math.max(values[0], values[1]), Math.max(values[2], values[3]));
        return (values[0] + values[1] + values[2] + values[3] - smallest - largest) >> 1;
    }

    private static @Nullable Rise acceptTick(StaircaseState state, int level) {
        int tick = state.tickCount++;
        state.levels[tick & RING_MASK] = level;
        updateDeviation(state, tick, level);
        double deviation = deviation(state);
        int count = tick - state.segmentStart;
        int limited = level;
        if (count >= FIRST_CENTRE_TICKS) {
            double centre = (double) state.segment[2] / count;
            limited = limit(level, centre, deviation);
        }
        state.limitedLevels[tick & RING_MASK] = limited;
        add(state.total, tick, limited, 1);
        add(state.segment, count, limited, 1);
        count++;
        if (state.changeCount == 0 && count == FIRST_CENTRE_TICKS) {
            recentre(state, deviation);
        }
        if (state.pendingOnset < 0) {
            if (!changed(state, count)) {
                return null;
            }
            beginSegment(state, onset(state, count), deviation);
        }
        if (state.tickCount - state.pendingOnset < SETTLE_TICKS) {
            return null;
        }
        return settle(state);
    }

    private static void add(long[] sums, long tick, long level, int sign) {
        sums[0] += sign * tick;
        sums[1] += sign * tick * tick;
        sums[2] += sign * level;
        sums[3] += sign * tick * level;
        sums[4] += sign * level * level;
    }

    private static void updateDeviation(StaircaseState state, int tick, int level) {
        if (tick == 0) {
            state.differenceWeight = PRIOR_WEIGHT;
            state.difference1 = PRIOR_WEIGHT * PRIOR_DEVIATION * PRIOR_DEVIATION;
            state.difference4 = state.difference1;
        }
        if (tick < 4) {
            return;
        }
        double deviation = deviation(state);
        double limit = DIFFERENCE_LIMIT * deviation * deviation;
        state.differenceWeight = FADE * state.differenceWeight + 1;
        state.difference1 = FADE * state.difference1 + halfSquare(level - state.levels[tick - 1 & RING_MASK], limit);
        state.difference4 = FADE * state.difference4 + halfSquare(level - state.levels[tick - 4 & RING_MASK], limit);
    }

    private static double halfSquare(double difference, double limit) {
        return 0.5 * Math.min(limit, difference * difference);
    }

    private static double deviation(StaircaseState state) {
        return Math.max(MIN_DEVIATION, StrictMath.sqrt(state.difference4 / state.differenceWeight));
    }

    /** Variance of a level for comparing means: neighbouring ticks may hang together. */
    private static double comparisonVariance(StaircaseState state) {
        double deviation = deviation(state);
        double correlation = state.difference4 <= 0 ? 0 : 1 - state.difference1 / state.difference4;
        correlation = Math.max(0, Math.min(MAX_CORRELATION, correlation));
        return deviation * deviation * (1 + correlation) / (1 - correlation);
    }

    private static int limit(int level, double centre, double deviation) {
        double reach = LIMIT_DEVIATIONS * deviation;
        return (int) StrictMath.rint(Math.max(centre - reach, Math.min(centre + reach, level)));
    }

    private static boolean changed(StaircaseState state, int count) {
        double bound = THRESHOLD * THRESHOLD * comparisonVariance(state);
        long windowSum = 0;
        int summed = 0;
        for (int window : WINDOWS) {
            int before = count - window;
            if (before < MIN_BEFORE_TICKS) {
                return false;
            }
            while (summed < window) {
                summed++;
                windowSum += state.limitedLevels[state.tickCount - summed & RING_MASK];
            }
            double difference = (double) windowSum / window - (double) (state.segment[2] - windowSum) / before;
            if (difference * difference * window * before / count > bound) {
                return true;
            }
        }
        return false;
    }

    /** The tick that splits the current segment best. */
    private static int onset(StaircaseState state, int count) {
        int best = MIN_AFTER_TICKS;
        double bestGain = -1;
        long afterSum = 0;
        int most = Math.min(RING, count - MIN_AFTER_TICKS);
        for (int after = 1; after <= most; after++) {
            afterSum += state.limitedLevels[state.tickCount - after & RING_MASK];
            if (after < MIN_AFTER_TICKS) {
                continue;
            }
            int before = count - after;
            double difference = (double) afterSum / after - (double) (state.segment[2] - afterSum) / before;
            double gain = difference * difference * after * before / count;
            if (gain > bestGain) {
                bestGain = gain;
                best = after;
            }
        }
        return state.tickCount - best;
    }

    private static void beginSegment(StaircaseState state, int onset, double deviation) {
        for (int tick = onset; tick < state.tickCount; tick++) {
            add(state.segment, tick - state.segmentStart, state.limitedLevels[tick & RING_MASK], -1);
        }
        addCentred(state.within, state.segment, onset - state.segmentStart);
        if (state.changeCount > 0) {
            addCentred(state.interior, state.segment, onset - state.segmentStart);
        }
        state.previousSegmentStart = state.segmentStart;
        state.segmentStart = onset;
        state.changeCount++;
        state.pendingOnset = onset;
        recentre(state, deviation);
    }

    private static void addCentred(double[] into, long[] sums, int count) {
        double tickMean = (double) sums[0] / count;
        double levelMean = (double) sums[2] / count;
        into[0] += sums[1] - tickMean * sums[0];
        into[1] += sums[3] - tickMean * sums[2];
        if (into.length > 2) {
            into[2] += sums[4] - levelMean * sums[2];
        }
    }

    /**
     * Limits the levels of the current segment, all of which are in the ring, around their median instead of the mean they were
     * limited around: without this one large change is raised two or three times.
     */
    private static void recentre(StaircaseState state, double deviation) {
        int count = state.tickCount - state.segmentStart;
        int[] sorted = new int[count];
        for (int i = 0; i < count; i++) {
            sorted[i] = state.levels[state.segmentStart + i & RING_MASK];
        }
        Arrays.sort(sorted);
        int median = sorted[count / 2];
        Arrays.fill(state.segment, 0);
        for (int i = 0; i < count; i++) {
            int tick = state.segmentStart + i;
            int slot = tick & RING_MASK;
            add(state.total, tick, state.limitedLevels[slot], -1);
            state.limitedLevels[slot] = limit(state.levels[slot], median, deviation);
            add(state.total, tick, state.limitedLevels[slot], 1);
            add(state.segment, i, state.limitedLevels[slot], 1);
        }
    }

    private static @Nullable Rise settle(StaircaseState state) {
        int onset = state.pendingOnset;
        state.pendingOnset = -1;
        int from = Math.max(onset - SHAPE_TICKS, Math.max(state.previousSegmentStart, state.tickCount - RING));
        int to = Math.min(onset + SHAPE_TICKS, state.tickCount);
        long[] before = new long[5];
        long[] after = new long[5];
        long[] both = new long[5];
        for (int tick = from; tick < to; tick++) {
            int level = state.limitedLevels[tick & RING_MASK];
            add(tick < onset ? before : after, tick - from, level, 1);
            add(both, tick - from, level, 1);
        }
        int beforeCount = onset - from;
        int afterCount = to - onset;
        if (beforeCount == 0) {
            return null;
        }
        double height = (double) after[2] / afterCount - (double) before[2] / beforeCount;
        if (Math.abs(height) < MIN_HEIGHT) {
            return null;
        }
        double step = squaresAboutMean(before, beforeCount) + squaresAboutMean(after, afterCount);
        double[] centred = new double[3];
        addCentred(centred, both, beforeCount + afterCount);
        double line = centred[2] - centred[1] * centred[1] / centred[0];
        boolean sharp = line - step > MIN_SHARPNESS * comparisonVariance(state);
        if (height < 0) {
            fall(state, onset, -height);
            return null;
        }
        if (!sharp) {
            state.rampCount++;
            return null;
        }
        return rise(state, onset, (int) height);
    }

    private static double squaresAboutMean(long[] sums, int count) {
        return sums[4] - (double) sums[2] / count * sums[2];
    }

    private static Rise rise(StaircaseState state, int onset, int height) {
        int kvTokens = 0;
        for (int tick = Math.max(Math.max(0, state.tickCount - RING), onset - KV_TICKS_BEFORE);
                tick <= onset + KV_TICKS_AFTER;
                tick++) {
            kvTokens += state.kvTokensOfTick[tick & RING_MASK];
        }
        int tokenIndex = tokenIndex(state, onset);
        if (state.riseCount < StaircaseState.MAX_RISES) {
            state.riseTokenIndexes[state.riseCount] = tokenIndex;
            state.riseHeights[state.riseCount] = height;
            state.riseKvTokens[state.riseCount] = (byte) kvTokens;
        }
        state.riseCount++;
        state.riseSum += height;
        return new Rise(tokenIndex, ratio(height), kvTokens);
    }

    private static int tokenIndex(StaircaseState state, int tick) {
        int index = state.lastTickTokenIndex;
        for (int later = tick + 1; later < state.tickCount; later++) {
            index -= Short.toUnsignedInt(state.tokenAdvances[later & RING_MASK]);
        }
        return index;
    }

    private static double ratio(int height) {
        return StrictMath.exp(height / SCALE) - 1;
    }

    private static void fall(StaircaseState state, int onset, double depth) {
        int last = state.riseCount - 1;
        if (last >= 0
                && last < StaircaseState.MAX_RISES
                && tokenIndex(state, onset) - state.riseTokenIndexes[last] <= BURST_TICKS * TOKENS_PER_TICK) {
            state.riseCount--;
            state.riseSum -= state.riseHeights[last];
            return;
        }
        state.fallSum += (long) depth;
    }

    /** What the tokens so far say. Does not change the state: it may be asked at any time, and again later. */
    public static StaircaseVerdict verdict(StaircaseState state) {
        boolean kvDriven = kvDriven(state);
        List<Rise> rises = new ArrayList<>();
        for (int i = 0; i < Math.min(state.riseCount, StaircaseState.MAX_RISES); i++) {
            rises.add(new Rise(state.riseTokenIndexes[i], ratio(state.riseHeights[i]), state.riseKvTokens[i]));
        }
        return new StaircaseVerdict(shape(state, kvDriven), kvDriven, state.riseCount, rises);
    }

    private static StaircaseShape shape(StaircaseState state, boolean kvDriven) {
        int n = state.tickCount;
        if (n < MIN_TICKS) {
            return StaircaseShape.NONE;
        }
        double floor = 1;
        double logN = StrictMath.log(n);
        double[] all = new double[3];
        addCentred(all, state.total, n);
        double[] within = state.within.clone();
        addCentred(within, state.segment, n - state.segmentStart);
        double lineSquares = Math.max(floor, all[2] - all[1] * all[1] / all[0]);
        double levelSquares = Math.max(floor, all[2]);
        double stepSquares = Math.max(floor, within[2]);
        double slopedSquares = Math.max(floor, within[2] - (within[0] > 0 ? within[1] * within[1] / within[0] : 0));
        double level = n * StrictMath.log(levelSquares / n) + 2 * logN;
        double line = n * StrictMath.log(lineSquares / n) + 3 * logN;
        double steps = n * StrictMath.log(stepSquares / n) + (2.0 * state.changeCount + 2) * logN;
        double slopedSteps = n * StrictMath.log(slopedSquares / n) + (2.0 * state.changeCount + 3) * logN;

        boolean lasting = state.riseCount > 0 && state.fallSum <= MAX_FALL_SHARE * state.riseSum;
        boolean edged = Math.min(steps, slopedSteps) < line - MIN_EVIDENCE;
        int needed = kvDriven ? MIN_RISES_PROVEN : MIN_RISES_BY_SHAPE;
        if (state.riseCount >= needed
                && lasting
                && edged
                && state.rampCount <= state.riseCount
                && jumpShare(state) >= MIN_JUMP_SHARE) {
            return StaircaseShape.STAIRCASE;
        }
        if (lasting && edged && state.rampCount < state.riseCount && jumpShare(state) >= MIN_JUMP_SHARE) {
            return StaircaseShape.SHIFT;
        }
        double lineHeight = all[1] / all[0] * n;
        return lineHeight > MIN_RAMP_HEIGHT && line < level - MIN_EVIDENCE ? StaircaseShape.RAMP : StaircaseShape.NONE;
    }

    /** Share of the whole rise that happened at the edges: 1 for level treads, 0 for a ramp. */
    private static double jumpShare(StaircaseState state) {
        double net = state.riseSum - state.fallSum;
        if (state.interior[0] <= 0 || net <= 0) {
            return 1;
        }
        int last = Math.min(state.riseCount, StaircaseState.MAX_RISES) - 1;
        double slope = state.interior[1] / state.interior[0];
        int tokens = state.riseTokenIndexes[last] - state.riseTokenIndexes[0];
        return 1 - slope * tokens / TOKENS_PER_TICK / net;
    }

    private static boolean kvDriven(StaircaseState state) {
        int rises = Math.min(state.riseCount, StaircaseState.MAX_RISES);
        int near = 0;
        for (int i = 0; i < rises; i++) {
            near += state.riseKvTokens[i];
        }
        int window = rises * (KV_TICKS_BEFORE + KV_TICKS_AFTER + 1) * TOKENS_PER_TICK;
        int elsewhere = state.tickCount * TOKENS_PER_TICK - window;
        if (near < MIN_KV_TOKENS || elsewhere <= 0) {
            return false;
        }
        double background = (Math.max(0, state.kvTokens - near) + 1.0) / (elsewhere + 2.0);
        return near >= MIN_ENRICHMENT * background * window && binomialTail(near, window, background) < MAX_CHANCE;
    }

    /** The chance of at least {@code hits} in {@code trials} at this rate. */
    private static double binomialTail(int hits, int trials, double rate) {
        double logOdds = StrictMath.log(rate) - StrictMath.log1p(-rate);
        double logTerm = trials * StrictMath.log1p(-rate);
        double below = 0;
        for (int k = 0; k < Math.min(hits, trials); k++) {
            below += StrictMath.exp(logTerm);
            logTerm += StrictMath.log((double) (trials - k) / (k + 1)) + logOdds;
        }
        return Math.max(0, 1 - below);
    }
}
