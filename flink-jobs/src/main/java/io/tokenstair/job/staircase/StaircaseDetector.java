package io.tokenstair.job.staircase;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tells a staircase of step or token times from jitter, bursts, ramps, single shifts and steps of the load, one series at a time.
 * Stateless: all memory is in {@link StaircaseState}; the same values always give the same answer. One algorithm in two sizes:
 * {@link #FULL} for the steps of an engine, {@link #COMPACT} for the tokens of a request.
 *
 * <p>What is judged is ln(time / expected time), by value: a step or a token. The full detector takes the median of three values, the
 * compact one the mean of the middle two of four; either is a tick. A change of level is raised when the mean of the last ticks, over
 * windows that double, leaves the mean of the segment before by some deviations (a generalised likelihood ratio). The deviation is taken
 * from differences of ticks, so that the changes themselves do not widen it, and allows for neighbours that hang together. Levels are
 * limited to three deviations around their segment.
 *
 * <p>A change is told twice: soon, for whoever wants to know early, and for good by the {@value #PROOF_VALUES} values on either side,
 * where a slow ramp can be told from an edge. It counts as a rise when it is above 3 %, when a step fits it better than a line does, and
 * when it is not the expected time that changed there by more: then the model is a little wrong about another load. A fall that follows
 * soon takes a rise back. The verdict weighs level treads against one straight line (Bayesian information criterion), and the rises at
 * the edges against the slope between them.
 *
 * <p>KV events make it KV-driven when they are enriched around the rises: so many rises with an event near, of all places that have one,
 * and so many events at those, as chance would hardly bring. A place that has an event may have many: events that come in bunches are
 * worth as many fewer as they bunch.
 */
public final class StaircaseDetector {
    private static final int PROOF_VALUES = 64;
    private static final int FADE_VALUES = 200;

    /** Ticks around an onset in which KV events are near: of one, and of four values. */
    private static final int NEAR_STEPS = 17;

    private static final int NEAR_TOKENS = 5;

    /** For the steps of an engine: a tick per step, 128 of them remembered. */
    public static final StaircaseDetector FULL = new StaircaseDetector(Size.FULL);

    /** For the tokens of a request: a tick per four tokens, 32 of them remembered. */
    public static final StaircaseDetector COMPACT = new StaircaseDetector(Size.COMPACT);

    private static final int LEVEL_BITS = 12;
    private static final double SCALE = 1 << LEVEL_BITS;
    private static final int MAX_LEVEL = 3 << LEVEL_BITS;
    private static final int MAX_LOAD = 7 << LEVEL_BITS;
    private static final int SQUARE_BITS = 8;
    private static final int WEIGHT_BITS = 16;
    /** Expected times are kept relative to 10 ms, so that they fit. */
    private static final int LOAD_ORIGIN = FixedLog.of(10_000_000);

    /** Levels of a value that is left out: below all others. */
    public static final int NO_LEVELS = Integer.MIN_VALUE;

    private static final int MAX_ADVANCE = 0xFFFF;

    /** Ticks after which nothing more is taken in: sums of squares of tick numbers stay far inside 64 bits. */
    static final int MAX_TICKS = 1 << 19;

    private static final double LIMIT_DEVIATIONS = 3;
    private static final double PRIOR_DEVIATION = 0.02 * SCALE;
    private static final double MIN_DEVIATION = 0.006 * SCALE;
    private static final double MAX_CORRELATION = 0.75;
    private static final double DIFFERENCE_LIMIT = 18;

    /** ln(1.03) in level units: a smaller change is within what the expected time itself may be wrong by. */
    private static final double MIN_HEIGHT = 0.029558802241544 * SCALE;

    /** ln(1.12): the expected time is wrong by less, some 3 % for either of two loads. */
    private static final double EXPECTED_ERROR = 0.113328685307003 * SCALE;

    /** By how many variances a step must fit better than a line. */
    private static final double MIN_SHARPNESS = 1.5;
    /** ln(1.05): a smaller slope, or a smaller edge of the load, is not worth a word. */
    private static final double MIN_RAMP_HEIGHT = 0.048790164169432 * SCALE;

    private static final int MIN_RISES_PROVEN = 2;
    private static final int MIN_RISES_BY_SHAPE = 3;
    private static final double MAX_FALL_SHARE = 0.35;
    private static final double MIN_JUMP_SHARE = 0.55;
    private static final double MIN_EVIDENCE = 10;
    private static final double MIN_ENRICHMENT = 1.5;
    private static final int MIN_KV_COUNT = 3;
    /** A larger chance of a coincidence proves nothing: of series that rise twice without a KV cause, about one in 3,000 passes. */
    private static final double MAX_CHANCE = 0.0003;
    /** The same where every KV event of the series lies at a rise, which coincidences hardly bring. */
    private static final double MAX_CHANCE_OF_ALL = 0.01;

    private static final int MIN_BLOCKS = 4;
    /** Places with KV events that tell how many a place has that has any. */
    private static final int MIN_HITS = 8;

    /**
     * Comparisons are made without divisions where they are not close: closer than this, relative to what is compared, they are made as
     * written. Rounding makes a billionth of this.
     */
    private static final double CLEARLY_BELOW = 1 - 1e-6;

    private final Size size;
    private final int ringMask;
    private final boolean ofSteps;

    private StaircaseDetector(Size size) {
        this.size = size;
        this.ringMask = size.ring - 1;
        this.ofSteps = size.valuesPerTick == 1;
    }

    /** A share that fades with a tick. Constants of either size, that it costs no division. */
    private long faded(long value) {
        return ofSteps ? value / FADE_VALUES : value / (FADE_VALUES / 4);
    }

    /** Whether a block of {@link Size#near} ticks ends with so many. */
    private boolean endsBlock(int ticks) {
        return ofSteps ? ticks % NEAR_STEPS == 0 : ticks % NEAR_TOKENS == 0;
    }

    /** How much a detector remembers, and how long it waits: the same spans in ticks of one or of four values. */
    private enum Size {
        FULL(1, 5),
        COMPACT(4, 4.5);

        final int valuesPerTick;
        /** Deviations beyond which a change is raised. */
        final double threshold;
        /** Ticks that are remembered: as many as the proof needs. */
        final int ring;

        final int[] windows;
        /** How far apart ticks are that hang together no more. */
        final int apart;
        /** Ticks that the deviation assumed at the start is worth. */
        final int prior;
        /** Least ticks before and after a change, for it to be raised. */
        final int before;

        final int after;
        /** Ticks after which the first segment has a level. */
        final int centre;
        /** Ticks after an onset before it is told at first, by how many ticks on either side. */
        final int settle;

        final int shape;
        /** Ticks on either side by which a change is told for good. */
        final int proof;
        /** A fall within so many ticks takes a rise back; a rise within so many is part of the one before. */
        final int burst;
        /** How many ticks an onset may be off. */
        final int blur;
        /** Ticks before and after an onset in which a KV event is near; the onset's own is one more. */
        final int kvBefore;

        final int kvAfter;
        /** Ticks before which nothing is said. */
        final int least;

        Size(int valuesPerTick, double threshold) {
            this.valuesPerTick = valuesPerTick;
            this.threshold = threshold;
            proof = PROOF_VALUES / valuesPerTick;
            ring = 2 * proof;
            windows = doubling(Math.max(2, 4 / valuesPerTick), proof);
            prior = 16 / valuesPerTick;
            before = Math.max(3, 8 / valuesPerTick);
            after = Math.max(2, 3 / valuesPerTick);
            centre = 16 / valuesPerTick;
            apart = valuesPerTick == 1 ? 4 : 2;
            settle = 20 / valuesPerTick;
            shape = 24 / valuesPerTick;
            burst = 24 / valuesPerTick;
            blur = Math.max(1, 3 / valuesPerTick);
            kvBefore = (10 + valuesPerTick - 1) / valuesPerTick;
            kvAfter = 6 / valuesPerTick;
            least = 64 / valuesPerTick;
        }

        private static int[] doubling(int from, int to) {
            int[] lengths = new int[Integer.numberOfTrailingZeros(to / from) + 1];
            for (int i = 0; i < lengths.length; i++) {
                lengths[i] = from << i;
            }
            return lengths;
        }

        /** Ticks around an onset in which KV events are near. */
        int near() {
            return valuesPerTick == 1 ? NEAR_STEPS : NEAR_TOKENS;
        }
    }

    /** The memory of a series that begins. */
    public StaircaseState start() {
        return new StaircaseState(Math.max(3, size.valuesPerTick), size.ring);
    }

    /**
     * Takes in the next value. Values come in the order of their index.
     *
     * @param state memory of the series, changed here
     * @param index of the token, or of the step
     * @param nanos its time, in ns; 0 or less when not known, the value is then left out
     * @param expectedNanos what the model expects for it, in ns; 0 or less when not known, the value is then left out
     * @param kvEvents KV-pressure events since the value before: evictions, preemptions, recomputations, collapsed hit rate. They count
     *     even where the value is left out
     * @return the rise that this value confirmed, which began a while ago; null when it confirmed none. A fall soon after takes it back:
     *     {@link #verdict} has the rises that lasted
     */
    public @Nullable Rise accept(StaircaseState state, int index, long nanos, long expectedNanos, int kvEvents) {
        return acceptLevels(state, index, levels(nanos, expectedNanos), kvEvents);
    }

    /** The same, of a value whose {@link #levels} are known. */
    public @Nullable Rise acceptLevels(StaircaseState state, int index, int levels, int kvEvents) {
        if (kvEvents > 0 && state.openKvCount < size.valuesPerTick) {
            state.openKvCount++;
        }
        if (levels == NO_LEVELS || state.tickCount >= MAX_TICKS) {
            return null;
        }
        short level = (short) (levels >> Short.SIZE);
        short load = (short) levels;
        return size.valuesPerTick == 1 ? acceptStep(state, index, level, load) : acceptToken(state, index, level, load);
    }

    /**
     * What is judged of a value: its level above its load, 16 bits each. It is the same for all series that share the value.
     *
     * @param nanos its time, in ns; 0 or less when not known
     * @param expectedNanos what the model expects for it, in ns; 0 or less when not known
     * @return the two, or {@link #NO_LEVELS} where one of the times is not known
     */
    public static int levels(long nanos, long expectedNanos) {
        if (nanos <= 0 || expectedNanos <= 0) {
            return NO_LEVELS;
        }
        int expected = FixedLog.of(expectedNanos);
        int level = level(FixedLog.of(nanos) - expected, MAX_LEVEL);
        return level << Short.SIZE | level(expected - LOAD_ORIGIN, MAX_LOAD) & 0xFFFF;
    }

    /** Values of a tick of the compact detector. */
    public static final int TICK_VALUES = 4;

    /** What is judged of the levels of a tick from a position on, in the form of {@link #levels}; {@link #NO_LEVELS} where one is left out. */
    public static int levelsOfTick(int[] levels, int at) {
        int first = levels[at];
        int second = levels[at + 1];
        int third = levels[at + 2];
        int fourth = levels[at + 3];
        if (first == NO_LEVELS || second == NO_LEVELS || third == NO_LEVELS || fourth == NO_LEVELS) {
            return NO_LEVELS;
        }
        int middle = middleOfFour(first >> Short.SIZE, second >> Short.SIZE, third >> Short.SIZE, fourth >> Short.SIZE);
        return middle << Short.SIZE | first & 0xFFFF;
    }

    /** Whether the next value is the first one of a tick of {@value #TICK_VALUES}. */
    public boolean beginsTick(StaircaseState state) {
        return !ofSteps && state.openCount == 0 && state.tickCount < MAX_TICKS;
    }

    /**
     * The same as the values of a tick one after the other.
     *
     * @param index of the first of them
     * @param levels of each, from a position on
     * @param tick {@link #levelsOfTick} of them, which must be known
     * @param kvEvents values with KV-pressure events
     */
    public @Nullable Rise acceptTick(StaircaseState state, int index, int[] levels, int at, int tick, int kvEvents) {
        state.openKvCount = Math.min(TICK_VALUES, state.openKvCount + kvEvents);
        state.openIndex = index;
        state.openLoad = (short) tick;
        for (int i = 0; i < TICK_VALUES; i++) {
            state.openLevels[i] = (short) (levels[at + i] >> Short.SIZE);
        }
        return close(state, tick >> Short.SIZE);
    }

    private static short level(int log, int most) {
        int shift = FixedLog.BITS - LEVEL_BITS;
        return (short) Math.max(-most, Math.min(most, log + (1 << shift - 1) >> shift));
    }

    private @Nullable Rise acceptStep(StaircaseState state, int index, short level, short load) {
        short[] last = state.openLevels;
        last[state.openCount % 3] = level;
        state.openCount = state.openCount == 5 ? 3 : state.openCount + 1;
        if (state.openCount < 3) {
            state.openIndex = index;
            state.openLoad = load;
            return null;
        }
        int middle = Math.max(Math.min(last[0], last[1]), Math.min(Math.max(last[0], last[1]), last[2]));
        Rise rise = close(state, middle);
        state.openIndex = index;
        state.openLoad = load;
        return rise;
    }

    private @Nullable Rise acceptToken(StaircaseState state, int index, short level, short load) {
        if (state.openCount == 0) {
            state.openIndex = index;
            state.openLoad = load;
        }
        state.openLevels[state.openCount++] = level;
        if (state.openCount < size.valuesPerTick) {
            return null;
        }
        state.openCount = 0;
        short[] levels = state.openLevels;
        return close(state, middleOfFour(levels[0], levels[1], levels[2], levels[3]));
    }

    private static int middleOfFour(int first, int second, int third, int fourth) {
        int smallest = Math.min(Math.min(first, second), Math.min(third, fourth));
        int largest = Math.max(Math.max(first, second), Math.max(third, fourth));
        return first + second + third + fourth - smallest - largest >> 1;
    }

    private @Nullable Rise close(StaircaseState state, int level) {
        int slot = state.tickCount & ringMask;
        state.advances[slot] = (short) Math.min(MAX_ADVANCE, Math.max(0, (long) state.openIndex - state.lastIndex));
        state.lastIndex = state.openIndex;
        state.loads[slot] = state.openLoad;
        state.kvOfTick[slot] = (byte) state.openKvCount;
        state.kvCount += state.openKvCount;
        state.kvBlockCount += state.openKvCount;
        state.openKvCount = 0;
        if (endsBlock(state.tickCount + 1)) {
            state.kvSquares += state.kvBlockCount * state.kvBlockCount;
            state.kvHits += state.kvBlockCount > 0 ? 1 : 0;
            state.kvBlockCount = 0;
        }
        return acceptTick(state, (short) level);
    }

    private @Nullable Rise acceptTick(StaircaseState state, short level) {
        int tick = state.tickCount++;
        state.levels[tick & ringMask] = level;
        updateDeviation(state, tick, level);
        double variance = variance(state);
        int count = tick - state.segmentStart;
        short limited = level;
        if ((count >= size.centre || state.changeCount > 0) && !isWithin(level, state.segment[2], count, variance)) {
            limited = limit(level, (double) state.segment[2] / count, StrictMath.sqrt(variance));
        }
        state.limitedLevels[tick & ringMask] = limited;
        add(state.total, tick, limited, 1);
        add(state.segment, count, limited, 1);
        count++;
        watchLoad(state, tick);
        if (state.changeCount == 0 && count == size.centre) {
            recentre(state, StrictMath.sqrt(variance));
        }
        if (state.pendingOnset < 0 && changed(state, count, variance)) {
            beginSegment(state, onset(state, count), StrictMath.sqrt(variance));
        }
        if (state.unproven && state.tickCount - state.segmentStart >= size.proof) {
            prove(state, state.tickCount);
        }
        if (state.pendingOnset < 0 || state.tickCount - state.pendingOnset < size.settle) {
            return null;
        }
        int onset = state.pendingOnset;
        state.pendingOnset = -1;
        Change change = change(state, onset, state.tickCount, size.shape);
        return change.kind == Change.Kind.RISE ? rise(state, onset, change.height) : null;
    }

    private static void add(long[] sums, long tick, long level, int sign) {
        sums[0] += sign * tick;
        sums[1] += sign * tick * tick;
        sums[2] += sign * level;
        sums[3] += sign * tick * level;
        sums[4] += sign * level * level;
    }

    private void updateDeviation(StaircaseState state, int tick, int level) {
        if (tick == 0) {
            state.differenceWeight = (long) size.prior << WEIGHT_BITS;
            state.difference1 =
                    (long) StrictMath.rint(size.prior * PRIOR_DEVIATION * PRIOR_DEVIATION * (1 << SQUARE_BITS));
            state.differenceApart = state.difference1;
        }
        if (tick < size.apart) {
            return;
        }
        long next = level - state.levels[tick - 1 & ringMask];
        long apart = level - state.levels[tick - size.apart & ringMask];
        long limit = isUsual(state, Math.max(next * next, apart * apart))
                ? Long.MAX_VALUE
                : (long) (DIFFERENCE_LIMIT * variance(state) * (1 << SQUARE_BITS));
        state.differenceWeight += (1 << WEIGHT_BITS) - faded(state.differenceWeight);
        state.difference1 += halfSquare(next, limit) - faded(state.difference1);
        state.differenceApart += halfSquare(apart, limit) - faded(state.differenceApart);
    }

    /** Whether the square of a difference is clearly below its limit. */
    private static boolean isUsual(StaircaseState state, long square) {
        double limit = CLEARLY_BELOW * DIFFERENCE_LIMIT;
        return square < limit * (MIN_DEVIATION * MIN_DEVIATION)
                || (double) square * state.differenceWeight
                        < limit * (state.differenceApart << WEIGHT_BITS - SQUARE_BITS);
    }

    private static long halfSquare(long difference, long limit) {
        return Math.min(limit, difference * difference << SQUARE_BITS) >> 1;
    }

    /** Variance of a tick, in square levels. */
    private static double variance(StaircaseState state) {
        double variance = (double) (state.differenceApart << WEIGHT_BITS - SQUARE_BITS) / state.differenceWeight;
        return Math.max(MIN_DEVIATION * MIN_DEVIATION, variance);
    }

    /** Variance of a level for comparing means: neighbouring ticks may hang together. */
    private static double comparisonVariance(StaircaseState state, double variance) {
        double correlation = correlation(state);
        return variance * (1 + correlation) / (1 - correlation);
    }

    private static double correlation(StaircaseState state) {
        double correlation = state.differenceApart <= 0 ? 0 : 1 - (double) state.difference1 / state.differenceApart;
        return Math.max(0, Math.min(MAX_CORRELATION, correlation));
    }

    private static short limit(int level, double centre, double deviation) {
        double reach = LIMIT_DEVIATIONS * deviation;
        return (short) StrictMath.rint(Math.max(centre - reach, Math.min(centre + reach, level)));
    }

    /** Whether a level is clearly within its limits around the mean of these levels: {@link #limit} would leave it as it is. */
    private static boolean isWithin(int level, long sum, int count, double variance) {
        double distance = (double) ((long) level * count - sum);
        return distance * distance < CLEARLY_BELOW * (LIMIT_DEVIATIONS * LIMIT_DEVIATIONS) * variance * count * count;
    }

    private boolean changed(StaircaseState state, int count, double variance) {
        // Neighbours that hang together only raise the bound.
        double least = CLEARLY_BELOW * size.threshold * size.threshold * variance;
        long windowSum = 0;
        int summed = 0;
        for (int window : size.windows) {
            int before = count - window;
            if (before < size.before) {
                return false;
            }
            while (summed < window) {
                summed++;
                windowSum += state.limitedLevels[state.tickCount - summed & ringMask];
            }
            double apart = (double) (windowSum * count - state.segment[2] * window);
            if (apart * apart >= least * ((double) window * before) * count
                    && isChange(state, windowSum, window, before, variance)) {
                return true;
            }
        }
        return false;
    }

    private boolean isChange(StaircaseState state, long windowSum, int window, int before, double variance) {
        double bound = size.threshold * size.threshold * comparisonVariance(state, variance);
        double difference = (double) windowSum / window - (double) (state.segment[2] - windowSum) / before;
        return difference * difference * window * before / (window + before) > bound;
    }

    /** The tick that splits the current segment best. */
    private int onset(StaircaseState state, int count) {
        int best = size.after;
        double bestGain = -1;
        long afterSum = 0;
        int most = Math.min(size.ring, count - size.after);
        for (int after = 1; after <= most; after++) {
            afterSum += state.limitedLevels[state.tickCount - after & ringMask];
            if (after < size.after) {
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

    private void beginSegment(StaircaseState state, int onset, double deviation) {
        if (state.unproven) {
            prove(state, onset);
        }
        for (int tick = onset; tick < state.tickCount; tick++) {
            add(state.segment, tick - state.segmentStart, state.limitedLevels[tick & ringMask], -1);
        }
        double[] closed = new double[3];
        addCentred(closed, state.segment, onset - state.segmentStart);
        for (int i = 0; i < closed.length; i++) {
            long rounded = (long) StrictMath.rint(closed[i]);
            state.within[i] += rounded;
            if (i < state.interior.length && state.changeCount > 0) {
                state.interior[i] += rounded;
            }
        }
        state.previousStart = state.segmentStart;
        state.segmentStart = onset;
        state.changeCount++;
        state.pendingOnset = onset;
        state.unproven = true;
        recentre(state, deviation);
    }

    private static void addCentred(double[] into, long[] sums, int count) {
        double tickMean = (double) sums[0] / count;
        double levelMean = (double) sums[2] / count;
        into[0] += sums[1] - tickMean * sums[0];
        into[1] += sums[3] - tickMean * sums[2];
        into[2] += sums[4] - levelMean * sums[2];
    }

    /**
     * Limits the levels of the current segment, all of which are in the ring, around their median instead of the mean they were
     * limited around: without this one large change is raised two or three times.
     */
    private void recentre(StaircaseState state, double deviation) {
        int count = state.tickCount - state.segmentStart;
        int[] sorted = new int[count];
        for (int i = 0; i < count; i++) {
            sorted[i] = state.levels[state.segmentStart + i & ringMask];
        }
        Arrays.sort(sorted);
        int median = sorted[count / 2];
        Arrays.fill(state.segment, 0);
        for (int i = 0; i < count; i++) {
            int tick = state.segmentStart + i;
            int slot = tick & ringMask;
            add(state.total, tick, state.limitedLevels[slot], -1);
            state.limitedLevels[slot] = limit(state.levels[slot], median, deviation);
            add(state.total, tick, state.limitedLevels[slot], 1);
            add(state.segment, i, state.limitedLevels[slot], 1);
        }
    }

    /** What a change of level is, as far as the ticks around it tell. */
    private record Change(Kind kind, int height) {
        private enum Kind {
            RISE,
            SLOPE,
            FALL,
            NOTHING
        }

        static final Change NOTHING = new Change(Kind.NOTHING, 0);
    }

    private Change change(StaircaseState state, int onset, int end, int reach) {
        int from = Math.max(onset - reach, Math.max(state.previousStart, state.tickCount - size.ring));
        int to = Math.min(onset + reach, end);
        int beforeCount = onset - from;
        int afterCount = to - onset;
        if (beforeCount <= 0 || afterCount <= 0) {
            return Change.NOTHING;
        }
        long[] before = new long[StaircaseState.SUMS];
        long[] after = new long[StaircaseState.SUMS];
        long[] both = new long[StaircaseState.SUMS];
        for (int tick = from; tick < to; tick++) {
            int level = state.limitedLevels[tick & ringMask];
            add(tick < onset ? before : after, tick - from, level, 1);
            add(both, tick - from, level, 1);
        }
        double height = (double) after[2] / afterCount - (double) before[2] / beforeCount;
        double change = Math.abs(height);
        if (change < MIN_HEIGHT
                || (change <= EXPECTED_ERROR && change <= Math.abs(loadChange(state, onset, from, to)))) {
            return Change.NOTHING;
        }
        if (height < 0) {
            return new Change(Change.Kind.FALL, (int) height);
        }
        double step = squaresAboutMean(before, beforeCount) + squaresAboutMean(after, afterCount);
        double[] centred = new double[3];
        addCentred(centred, both, beforeCount + afterCount);
        double line = centred[2] - centred[1] * centred[1] / centred[0];
        boolean sharp = line - step > MIN_SHARPNESS * comparisonVariance(state, variance(state));
        return new Change(sharp ? Change.Kind.RISE : Change.Kind.SLOPE, (int) height);
    }

    /** How much the expected time itself changed at an onset, in level units: a single step with a prompt is no change. */
    private int loadChange(StaircaseState state, int onset, int from, int to) {
        int span = 2 * size.blur + 1;
        int before = onset - size.blur + 1;
        int after = onset + size.blur;
        return medianLoad(state, Math.max(from, after), Math.min(to, after + span))
                - medianLoad(state, Math.max(from, before - span), Math.max(from + 1, before));
    }

    private int medianLoad(StaircaseState state, int from, int to) {
        int[] sorted = new int[Math.max(1, to - from)];
        for (int i = 0; i < sorted.length; i++) {
            sorted[i] = state.loads[Math.min(state.tickCount - 1, from + i) & ringMask];
        }
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /** Counts the change that began the current segment, by all that is known of it. */
    private void prove(StaircaseState state, int end) {
        state.unproven = false;
        int onset = state.segmentStart;
        Change change = change(state, onset, end, size.proof);
        switch (change.kind) {
            case RISE -> {
                Rise rise = rise(state, onset, change.height);
                int last = Math.min(state.riseCount, StaircaseState.MAX_RISES) - 1;
                if (last >= 0 && rise.onsetIndex() - state.riseIndexes[last] <= size.burst * size.valuesPerTick) {
                    state.riseHeights[last] =
                            (short) Math.min(Short.MAX_VALUE, state.riseHeights[last] + change.height);
                    state.riseSum += change.height;
                    break;
                }
                if (state.riseCount < StaircaseState.MAX_RISES) {
                    state.riseIndexes[state.riseCount] = rise.onsetIndex();
                    state.riseHeights[state.riseCount] = (short) change.height;
                    state.riseKvCounts[state.riseCount] = (byte) rise.kvCount();
                }
                state.riseCount++;
                state.riseSum += change.height;
                leaveOut(state, onset);
            }
            case SLOPE -> state.rampCount++;
            case FALL -> fall(state, onset, -change.height);
            case NOTHING -> {
                // Smaller than what the expected time may be wrong by, or its own change.
            }
        }
    }

    /** Remembers the blocks of ticks around a rise, so that they do not count as what is usual. */
    private void leaveOut(StaircaseState state, int onset) {
        int first = Math.max(0, onset - size.kvBefore) / size.near();
        int last = (onset + size.kvAfter) / size.near();
        for (int block = first; block <= last; block++) {
            int from = block * size.near();
            int to = from + size.near();
            if (from < state.tickCount - size.ring || to > state.tickCount) {
                continue;
            }
            int count = 0;
            for (int tick = from; tick < to; tick++) {
                count += state.kvOfTick[tick & ringMask];
            }
            state.nearBlocks++;
            state.nearCount += count;
            state.nearSquares += count * count;
            state.nearHits += count > 0 ? 1 : 0;
        }
    }

    /** Counts edges of the expected time itself: those between two lasting loads, and those that soon end again. */
    private void watchLoad(StaircaseState state, int tick) {
        if (tick <= 2 * size.settle) {
            return;
        }
        int before = state.loads[tick - size.settle - 1 & ringMask];
        int earlier = state.loads[tick - 2 * size.settle - 1 & ringMask] - before;
        int at = state.loads[tick - size.settle & ringMask] - before;
        int now = state.loads[tick & ringMask] - before;
        if (Math.abs(at) < MIN_RAMP_HEIGHT || Math.abs(earlier) >= MIN_RAMP_HEIGHT) {
            return;
        }
        if (Math.abs(now) >= MIN_RAMP_HEIGHT && at > 0 == now > 0) {
            state.loadEdgeCount++;
        } else if (at > 0) {
            state.burstCount++;
        }
    }

    private static double squaresAboutMean(long[] sums, int count) {
        return sums[4] - (double) sums[2] / count * sums[2];
    }

    private Rise rise(StaircaseState state, int onset, int height) {
        int kvCount = 0;
        for (int tick = Math.max(Math.max(0, state.tickCount - size.ring), onset - size.kvBefore);
                tick <= onset + size.kvAfter;
                tick++) {
            kvCount += state.kvOfTick[tick & ringMask];
        }
        return new Rise(index(state, onset), ratio(height), kvCount);
    }

    private int index(StaircaseState state, int tick) {
        int index = state.lastIndex;
        for (int later = tick + 1; later < state.tickCount; later++) {
            index -= Short.toUnsignedInt(state.advances[later & ringMask]);
        }
        return index;
    }

    private static double ratio(int height) {
        return StrictMath.exp(height / SCALE) - 1;
    }

    private void fall(StaircaseState state, int onset, int depth) {
        int last = state.riseCount - 1;
        if (last >= 0
                && last < StaircaseState.MAX_RISES
                && index(state, onset) - state.riseIndexes[last] <= size.burst * size.valuesPerTick) {
            state.riseCount--;
            state.burstCount++;
            state.riseSum -= state.riseHeights[last];
            return;
        }
        state.fallSum += depth;
    }

    /** What the values so far say. Does not change the state: it may be asked at any time, and again later. */
    public StaircaseVerdict verdict(StaircaseState asked) {
        StaircaseState state = asked;
        if (asked.unproven && asked.pendingOnset < 0) {
            state = asked.copy();
            prove(state, state.tickCount);
        }
        boolean kvDriven = kvDriven(state);
        StaircaseShape shape = shape(state, kvDriven);
        return new StaircaseVerdict(
                shape, kvDriven && shape == StaircaseShape.STAIRCASE, state.riseCount, rises(state));
    }

    /** The rises that are told for good so far, by onset: at most {@link StaircaseState#MAX_RISES}. */
    public List<Rise> rises(StaircaseState state) {
        List<Rise> rises = new ArrayList<>();
        for (int i = 0; i < Math.min(state.riseCount, StaircaseState.MAX_RISES); i++) {
            rises.add(new Rise(state.riseIndexes[i], ratio(state.riseHeights[i]), state.riseKvCounts[i]));
        }
        return rises;
    }

    private StaircaseShape shape(StaircaseState state, boolean kvDriven) {
        int n = state.tickCount;
        if (n < size.least) {
            return StaircaseShape.NONE;
        }
        double floor = 1;
        double logN = StrictMath.log(n);
        double[] all = new double[3];
        addCentred(all, state.total, n);
        double[] within = {state.within[0], state.within[1], state.within[2]};
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
        if (lineHeight > MIN_RAMP_HEIGHT && line < level - MIN_EVIDENCE) {
            return StaircaseShape.RAMP;
        }
        if (state.loadEdgeCount > 0) {
            return StaircaseShape.LOAD;
        }
        return state.burstCount > 0 ? StaircaseShape.TRANSIENT : StaircaseShape.NONE;
    }

    /** Share of the whole rise that happened at the edges: 1 for level treads, 0 for a ramp. */
    private double jumpShare(StaircaseState state) {
        double net = state.riseSum - state.fallSum;
        if (state.interior[0] <= 0 || net <= 0) {
            return 1;
        }
        int last = Math.min(state.riseCount, StaircaseState.MAX_RISES) - 1;
        double slope = (double) state.interior[1] / state.interior[0];
        int values = state.riseIndexes[last] - state.riseIndexes[0];
        return 1 - slope * values / size.valuesPerTick / net;
    }

    private boolean kvDriven(StaircaseState state) {
        int rises = Math.min(state.riseCount, StaircaseState.MAX_RISES);
        int near = 0;
        int risesNear = 0;
        for (int i = 0; i < rises; i++) {
            near += state.riseKvCounts[i];
            risesNear += state.riseKvCounts[i] > 0 ? 1 : 0;
        }
        int blocks = state.tickCount / size.near() - state.nearBlocks;
        if (risesNear < MIN_RISES_PROVEN || near < MIN_KV_COUNT || blocks < MIN_BLOCKS) {
            return false;
        }
        int values = size.near() * size.valuesPerTick;
        double elsewhere = Math.max(0, state.kvCount - state.kvBlockCount - state.nearCount);
        double rate = (elsewhere + 1) / (blocks * values + 2);
        if (near < MIN_ENRICHMENT * rate * rises * values) {
            return false;
        }
        int hits = Math.max(0, state.kvHits - state.nearHits);
        double chance = 0;
        for (int hit = 1; hit <= rises; hit++) {
            double chanceOfCount = hits >= MIN_HITS
                    ? chanceOfCount(state, near, hit, hits, elsewhere, values)
                    : hit >= risesNear ? 1 : 0;
            chance += chanceOfHits(hit, rises, hits + risesNear, blocks + rises) * chanceOfCount;
        }
        return chance < (hits == 0 ? MAX_CHANCE_OF_ALL : MAX_CHANCE);
    }

    /** The chance that exactly so many of the rises fall on one of the places with KV events, if they fell anywhere. */
    private static double chanceOfHits(int hit, int rises, int placesWithEvents, int places) {
        if (hit > placesWithEvents || rises - hit > places - placesWithEvents) {
            return 0;
        }
        return StrictMath.exp(logChoices(placesWithEvents, hit)
                + logChoices(places - placesWithEvents, rises - hit)
                - logChoices(places, rises));
    }

    private static double logChoices(int of, int count) {
        double log = 0;
        for (int i = 0; i < count; i++) {
            log += StrictMath.log((double) (of - i) / (i + 1));
        }
        return log;
    }

    /** The chance that so many places with KV events have at least {@code near} of them, if they have as many as such places elsewhere. */
    private static double chanceOfCount(
            StaircaseState state, int near, int places, int hitsElsewhere, double countElsewhere, int values) {
        double mean = countElsewhere / hitsElsewhere;
        double rate = mean / values;
        double spread = (double) (state.kvSquares - state.nearSquares) / hitsElsewhere - mean * mean;
        double bunching = Math.max(1, spread / (values * rate * (1 - rate)));
        return binomialTail((int) (near / bunching), (int) StrictMath.ceil(places * values / bunching), rate);
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
