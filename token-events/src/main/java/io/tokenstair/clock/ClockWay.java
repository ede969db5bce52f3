package io.tokenstair.clock;

import io.tokenstair.event.ClockFitted;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The way from one clock to another as its segments say, and back. Which segment aligns a reading depends on the reading and on the
 * event time of the record that holds it, never on when it is asked: of the segments published up to that event time it is the last
 * that starts at or before the reading. Segments published more than {@link #LOOKBACK_MILLIS} before the newest of those are not looked at, so
 * that they need not be kept.
 *
 * <p>Where a clock stepped, no segment holds from the last sample before to the first sample after the step. Who can wait says up to which later
 * event time segments are known, and steps are seen that were published until then. Nobody can tell which of the two clocks stepped: one that
 * may have gone back shows readings twice, and those of records from around the step are not aligned either.
 *
 * <p>Public fields for a stream engine's state.
 */
public class ClockWay {
    /** How far before the newest segment, in event time, one may have been published and still be used. */
    public static final long LOOKBACK_MILLIS = 120_000;

    /** How far the event time of a record may be from that of a stamp in it, and from that of a sample taken then. */
    public static final long RECORD_MILLIS = 2_000;

    private static final int COLUMNS = 8;
    private static final int PUBLISHED = 0;
    private static final int START = 1;
    private static final int END = 2;
    private static final int OFFSET = 3;
    private static final int DRIFT = 4;
    private static final int BOUND = 5;
    private static final int GROWTH = 6;
    private static final int SIGMA = 7;

    public String fromClockId = "";
    public String toClockId = "";

    /** Number of the newest segment; -1 before the first. */
    public long newestIndex = -1;

    /** Event time of the first segment that was ever added. */
    public long firstPublishedMillis = Long.MAX_VALUE;

    /** Segments in the order they were published, {@value #COLUMNS} numbers each. */
    public long[] values = new long[0];

    /** Segments held. */
    public int count;

    /** Steps of the segments held, in the order they were published, {@value #STEP_COLUMNS} numbers each. */
    public long[] steps = new long[0];

    private static final int STEP_COLUMNS = 7;
    private static final int FROM_AFTER = 1;
    private static final int FROM_BEFORE = 2;
    private static final int TO_AFTER = 3;
    private static final int TO_BEFORE = 4;
    private static final int FROM_TWICE_SINCE = 5;
    private static final int TO_TWICE_SINCE = 6;

    /** For a stream engine that fills in the fields. Use {@link #between}. */
    public ClockWay() {}

    /** A way without segments. */
    public static ClockWay between(String fromClockId, String toClockId) {
        ClockWay way = new ClockWay();
        way.fromClockId = fromClockId;
        way.toClockId = toClockId;
        return way;
    }

    /**
     * Takes the next segment. One that came before, or that says what cannot be, changes nothing.
     *
     * @param publishedMillis its event time
     * @return false when it changed nothing
     */
    public boolean add(ClockFitted segment, long publishedMillis) {
        boolean possible = segment.boundNanos() >= 0
                && segment.boundGrowthNanos() >= 0
                && segment.sigmaNanos() >= 0
                && segment.endNanos() >= segment.startNanos()
                && Math.abs(segment.driftNanos()) < 1L << FixedPoint.BITS - 1;
        boolean inOrder = count == 0
                || (publishedMillis >= at(count - 1, PUBLISHED)
                        && (publishedMillis > at(count - 1, PUBLISHED) || segment.segmentIndex() > newestIndex));
        if (!possible || !inOrder) {
            return false;
        }
        if (count * COLUMNS == values.length) {
            values = Arrays.copyOf(values, Math.max(4, 2 * count) * COLUMNS);
        }
        Long agreed = segment.agreedNanos();
        if (agreed != null) {
            addStep(agreed, segment, publishedMillis);
        }
        int row = count * COLUMNS;
        values[row + PUBLISHED] = publishedMillis;
        values[row + START] = segment.startNanos();
        values[row + END] = segment.endNanos();
        values[row + OFFSET] = segment.offsetNanos();
        values[row + DRIFT] = segment.driftNanos();
        values[row + BOUND] = segment.boundNanos();
        values[row + GROWTH] = segment.boundGrowthNanos();
        values[row + SIGMA] = segment.sigmaNanos();
        count++;
        newestIndex = segment.segmentIndex();
        firstPublishedMillis = Math.min(firstPublishedMillis, publishedMillis);
        return true;
    }

    /** Notes between which readings of either clock a step lies. */
    private void addStep(long agreed, ClockFitted segment, long publishedMillis) {
        long start = segment.startNanos();
        long startThere = AlignedStamp.saturatedSum(start, segment.offsetNanos());
        AlignedStamp before = align(agreed, publishedMillis, publishedMillis);
        long agreedThere = before == null
                ? AlignedStamp.saturatedSum(startThere, AlignedStamp.saturatedSum(agreed, -start))
                : before.epochNanos();
        long passed = AlignedStamp.saturatedSum(start, -agreed);
        long passedThere = AlignedStamp.saturatedSum(startThere, -agreedThere);
        // A clock that went back shows less time than the other one.
        long took = Math.max(0, Math.max(passed, passedThere));
        long since = publishedMillis == Long.MAX_VALUE
                ? Long.MAX_VALUE
                : publishedMillis - RECORD_MILLIS - took / 1_000_000 - 1;
        int row = steps.length;
        steps = Arrays.copyOf(steps, row + STEP_COLUMNS);
        steps[row + PUBLISHED] = publishedMillis;
        steps[row + FROM_AFTER] = agreed;
        steps[row + FROM_BEFORE] = start;
        steps[row + TO_AFTER] = agreedThere;
        steps[row + TO_BEFORE] = startThere;
        steps[row + FROM_TWICE_SINCE] = passed < passedThere ? since : Long.MAX_VALUE;
        steps[row + TO_TWICE_SINCE] = passedThere < passed ? since : Long.MAX_VALUE;
    }

    /** Whether segments held begin with a step of a clock. */
    boolean hasSteps() {
        return steps.length > 0;
    }

    /** Whether a clock stepped within the segments that may align what a record of an event time holds, or are known ahead of it. */
    boolean hasSteps(long eventMillis, long knownMillis) {
        int newest = newest(eventMillis);
        for (int row = 0; row < steps.length; row += STEP_COLUMNS) {
            if (counts(row, newest, knownMillis)) {
                return true;
            }
        }
        return false;
    }

    private boolean counts(int row, int newest, long knownMillis) {
        long published = steps[row + PUBLISHED];
        return published <= knownMillis && (newest < 0 || published >= at(newest, PUBLISHED) - LOOKBACK_MILLIS);
    }

    /** Whether a reading lies where a clock stepped, as far as segments published up to an event time show. */
    private boolean isInDoubt(long clockNanos, long eventMillis, long knownMillis, boolean back) {
        int newest = newest(eventMillis);
        for (int row = 0; row < steps.length; row += STEP_COLUMNS) {
            boolean between = clockNanos > steps[row + (back ? TO_AFTER : FROM_AFTER)]
                    && clockNanos < steps[row + (back ? TO_BEFORE : FROM_BEFORE)];
            boolean twice = eventMillis > steps[row + (back ? TO_TWICE_SINCE : FROM_TWICE_SINCE)]
                    && eventMillis - RECORD_MILLIS <= steps[row + PUBLISHED];
            if ((between || twice) && counts(row, newest, knownMillis)) {
                return true;
            }
        }
        return false;
    }

    private long at(int segment, int column) {
        return values[segment * COLUMNS + column];
    }

    /** Event time of the newest segment published up to an event time; {@link Long#MIN_VALUE} when there is none. */
    long publishedMillis(long eventMillis) {
        int newest = newest(eventMillis);
        return newest < 0 ? Long.MIN_VALUE : at(newest, PUBLISHED);
    }

    /** The hard bound that the newest segment published up to an event time has by then; there must be one. */
    long boundNanos(long eventMillis) {
        int newest = newest(eventMillis);
        long ageMillis = Math.min(eventMillis - at(newest, PUBLISHED), ClockFit.REACH_NANOS / 1_000_000);
        return AlignedStamp.saturatedSum(
                at(newest, BOUND), FixedPoint.scaled(ageMillis * 1_000_000, at(newest, GROWTH)));
    }

    private int newest(long eventMillis) {
        int from = 0;
        int to = count;
        while (from < to) {
            int middle = (from + to) >>> 1;
            if (at(middle, PUBLISHED) <= eventMillis) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from - 1;
    }

    /**
     * A reading of the first clock on the axis of the second.
     *
     * @param clockNanos the reading
     * @param eventMillis event time of the record that holds it
     * @return null when no segment holds for it, or the result does not fit 64 bits: never a guess
     */
    public @Nullable AlignedStamp align(long clockNanos, long eventMillis) {
        return align(clockNanos, eventMillis, eventMillis);
    }

    /**
     * The same of who knows of steps that segments show up to a later event time.
     *
     * @param knownMillis event time up to which segments are known
     */
    public @Nullable AlignedStamp align(long clockNanos, long eventMillis, long knownMillis) {
        if (steps.length > 0 && isInDoubt(clockNanos, eventMillis, knownMillis, false)) {
            return null;
        }
        int newest = newest(eventMillis);
        for (int i = newest; i >= 0 && isNear(i, newest); i--) {
            if (at(i, START) <= clockNanos) {
                return align(
                        clockNanos,
                        at(i, START),
                        at(i, END),
                        at(i, OFFSET),
                        at(i, DRIFT),
                        at(i, BOUND),
                        at(i, GROWTH),
                        at(i, SIGMA));
            }
        }
        return null;
    }

    /**
     * A reading of the second clock on the axis of the first.
     *
     * @param clockNanos the reading
     * @param eventMillis event time of the record that holds it
     * @return null when no segment holds for it, or the result does not fit 64 bits
     */
    public @Nullable AlignedStamp alignBack(long clockNanos, long eventMillis) {
        return alignBack(clockNanos, eventMillis, eventMillis);
    }

    /**
     * The same of who knows of steps that segments show up to a later event time.
     *
     * @param knownMillis event time up to which segments are known
     */
    public @Nullable AlignedStamp alignBack(long clockNanos, long eventMillis, long knownMillis) {
        if (steps.length > 0 && isInDoubt(clockNanos, eventMillis, knownMillis, true)) {
            return null;
        }
        int newest = newest(eventMillis);
        for (int i = newest; i >= 0 && isNear(i, newest); i--) {
            try {
                long passed = Math.subtractExact(Math.subtractExact(clockNanos, at(i, OFFSET)), at(i, START));
                if (passed >= 0) {
                    long drift = at(i, DRIFT);
                    // passed = own * (1 + drift), own = passed - passed * drift / (1 + drift)
                    long back = inverse(drift);
                    long reading = Math.addExact(at(i, START), passed + FixedPoint.scaled(passed, back));
                    AlignedStamp there =
                            align(reading, at(i, START), at(i, END), 0, 0, at(i, BOUND), at(i, GROWTH), at(i, SIGMA));
                    // The width was in ns of the second clock, and two roundings came in.
                    return there == null
                            ? null
                            : new AlignedStamp(
                                    reading,
                                    there.boundNanos()
                                            + FixedPoint.scaled(there.boundNanos(), Math.max(0, back))
                                            + 2
                                            + (passed >>> FixedPoint.BITS),
                                    there.sigmaNanos());
                }
            } catch (ArithmeticException e) {
                return null;
            }
        }
        return null;
    }

    private boolean isNear(int segment, int newest) {
        return at(segment, PUBLISHED) >= at(newest, PUBLISHED) - LOOKBACK_MILLIS;
    }

    /** -drift / (1 + drift), by two divisions. */
    private static long inverse(long drift) {
        long one = 1L << FixedPoint.BITS;
        return FixedPoint.rate(-drift, one + drift);
    }

    static @Nullable AlignedStamp align(ClockFitted segment, long clockNanos) {
        return align(
                clockNanos,
                segment.startNanos(),
                segment.endNanos(),
                segment.offsetNanos(),
                segment.driftNanos(),
                segment.boundNanos(),
                segment.boundGrowthNanos(),
                segment.sigmaNanos());
    }

    private static @Nullable AlignedStamp align(
            long clockNanos, long start, long end, long offset, long drift, long bound, long growth, long sigma) {
        if (clockNanos < start || clockNanos > end) {
            return null;
        }
        try {
            long passed = Math.subtractExact(clockNanos, start);
            long aligned = Math.addExact(Math.addExact(clockNanos, offset), FixedPoint.scaled(passed, drift));
            long widened = Math.addExact(bound, FixedPoint.scaled(passed, growth));
            return new AlignedStamp(aligned, widened, Math.min(widened, sigmaAfter(sigma, passed)));
        } catch (ArithmeticException e) {
            return null;
        }
    }

    /** The rate was learnt over a window: what it is off by tells as much again after a third of that. */
    private static long sigmaAfter(long sigma, long passedNanos) {
        return Math.addExact(
                sigma, Math.multiplyExact(sigma, passedNanos / 1_000_000) / (ClockFit.WINDOW_NANOS / 3_000_000));
    }

    /**
     * Forgets segments that no record after an event time can need.
     *
     * @return false when nothing is left that such a record can need
     */
    public boolean forget(long eventMillis) {
        int newest = newest(eventMillis);
        int drop = 0;
        while (drop < newest && !isNear(drop, newest)) {
            drop++;
        }
        if (drop > 0) {
            values = Arrays.copyOfRange(values, drop * COLUMNS, count * COLUMNS);
            count -= drop;
            int row = 0;
            while (row < steps.length && steps[row + PUBLISHED] < at(0, PUBLISHED)) {
                row += STEP_COLUMNS;
            }
            steps = row == 0 ? steps : Arrays.copyOfRange(steps, row, steps.length);
        }
        return count > 0 && at(count - 1, PUBLISHED) >= eventMillis - ClockGraph.MEMORY_MILLIS;
    }
}
