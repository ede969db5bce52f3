package io.tokenstair.clock;

import io.tokenstair.event.ClockFitted;
import io.tokenstair.event.ClockSampled;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Learns the way from one clock to another from bracketed samples, in integers: the same samples in the same order always give the
 * same segments.
 *
 * <p>A sample bounds the offset without any assumption about the link: the second clock was read between two readings of the first. Over
 * the last {@link #WINDOW_NANOS} the line with the largest margin to all brackets ({@link HullLine}) is the estimate, and every line
 * that passes through all of them bounds it. Where too few samples had a free way for a sure estimate, older ones, up to
 * {@link #LONG_WINDOW_NANOS}, are taken in. Where no line passes, a clock stepped or changed its rate: the oldest samples are dropped
 * until one does. A new segment begins at the newest sample, continues what was said before there and joins the new line within
 * {@link #CATCH_UP_NANOS}, so that the order of stamps never turns; only a step breaks off, and says which sample still agreed with
 * what was before it. Segments are never rewritten.
 *
 * <p>The hard bound holds as far as samples are true, no clock is off by more than {@link #MAX_DRIFT}, and none leaves a straight line
 * by more than {@link #WANDER} of the distance to the newest sample.
 *
 * <p>Fit to be kept as a stream engine's state: {@value #MAX_SAMPLES} samples of three numbers, 13 KB at most.
 */
public class ClockFit {
    /** How far back samples count. */
    public static final long WINDOW_NANOS = 30_000_000_000L;

    /** How far back they count for the estimate, never for the bound, while those of the window leave it unsure. */
    public static final long LONG_WINDOW_NANOS = 120_000_000_000L;

    /** The statistical width above which an estimate is unsure: a quarter of what two hosts should be aligned to. */
    private static final long UNSURE_NANOS = 50;

    /** How long a new line takes to replace the old one. */
    public static final long CATCH_UP_NANOS = 1_000_000_000L;

    /** After this a segment is made although the old one still serves. */
    public static final long RENEWAL_NANOS = 10_000_000_000L;

    /** How far past its last sample a segment holds; the bound grows until then. */
    public static final long REACH_NANOS = 300_000_000_000L;

    /** The greatest difference in rate of two clocks: 500 ppm, the fastest that a Linux kernel slews one. */
    public static final long MAX_DRIFT = (1L << FixedPoint.BITS) / 2_000;

    /** How far a clock may leave a straight line: 20 ns a second, about 100 times the wander of an ordinary crystal. */
    public static final long WANDER = (1L << FixedPoint.BITS) / 50_000_000;

    /**
     * How far a clock is likely to leave a straight line: what the estimate reckons with, 7 ns a second. Set, like
     * {@link #SURPRISE_SIGMAS}, on simulated links; bench's ClockAccuracy shows what they reach on others.
     */
    private static final long LIKELY_WANDER = (1L << FixedPoint.BITS) / 150_000_000;

    /** The same over a long window: a clock that wanders does not go on in one direction. */
    private static final long LASTING_WANDER = LIKELY_WANDER / 3;

    private static final long SURPRISE_SIGMAS = 3;

    /** Widest bracket that is taken: a wider one says nothing. */
    public static final long MAX_WIDTH_NANOS = 60_000_000_000L;

    /** Most samples held; beyond, the oldest that the window is past goes, else the widest bracket. */
    public static final int MAX_SAMPLES = 512;

    private static final long FARTHEST_NANOS = 1L << 62;

    public String fromClockId = "";
    public String toClockId = "";

    /** Segments made so far; the number of the next one. */
    public long madeCount;

    /** Samples refused so far as impossible. */
    public long refusedCount;

    /** Readings of the first clock in the middle of each bracket, rising. */
    public long[] timeNanos = new long[0];

    /** Least offset that each sample allows. */
    public long[] lowerNanos = new long[0];

    /** Greatest offset that each sample allows. */
    public long[] upperNanos = new long[0];

    /** Samples held. */
    public int count;

    public ClockTick fromTick = new ClockTick();
    public ClockTick toTick = new ClockTick();

    /** The segments in force: the newest, and the one before it where that leads to it. */
    public List<ClockFitted> inForce = new ArrayList<>();

    /** Sixteen times the mean of how far a new line was from what was said before, in ns; 0 while the window is young. */
    public long surprise;

    /** When the last line was fitted, and when segments were last made, by the first clock. */
    public long lastFitNanos;

    public long lastMadeNanos;

    /** The first clock went back, or the samples paused too long: nothing before counts. */
    public boolean broken;

    /** For a stream engine that fills in the fields. Use {@link #between}. */
    public ClockFit() {}

    /** A way of which nothing is known yet. */
    public static ClockFit between(String fromClockId, String toClockId) {
        ClockFit fit = new ClockFit();
        fit.fromClockId = fromClockId;
        fit.toClockId = toClockId;
        return fit;
    }

    /**
     * Takes in a sample of this way. One that cannot be (read after before read before, a bracket wider than
     * {@link #MAX_WIDTH_NANOS}, a negative stated bound, an offset beyond 2^62 ns) is counted and changes nothing.
     *
     * @return the segments that begin with it, in order: none, one or two
     */
    public List<ClockFitted> accept(ClockSampled sample) {
        if (!sample.localClockId().equals(fromClockId)
                || !sample.remoteClockId().equals(toClockId)) {
            throw new IllegalArgumentException("Cannot take a sample of " + sample.localClockId() + " and "
                    + sample.remoteClockId() + " on the way from " + fromClockId + " to " + toClockId);
        }
        Bracket bracket = Bracket.of(sample);
        if (bracket == null) {
            refusedCount++;
            return List.of();
        }
        Long newest = count == 0 ? null : timeNanos[count - 1];
        if (newest != null && isBack(bracket, newest)) {
            count = 0;
            broken = true;
        }
        add(bracket);
        if (sample.statedBoundNanos() == null) {
            fromTick.accept(sample.beforeNanos());
            fromTick.accept(sample.afterNanos());
            toTick.accept(sample.remoteNanos());
        }
        long now = timeNanos[count - 1];
        if (inForce.isEmpty() || broken || isDue(now) || contradicts(bracket)) {
            lastFitNanos = now;
            return fit(now, newest);
        }
        return List.of();
    }

    /** Whether the first clock went back: far, or while the second one surely went on. A sample that only comes late is behind in both. */
    private boolean isBack(Bracket bracket, long newest) {
        if (bracket.timeNanos >= newest) {
            return false;
        }
        AlignedStamp said = align(inForce, newest);
        return bracket.timeNanos < newest - WINDOW_NANOS
                || (said != null
                        && AlignedStamp.saturatedSum(bracket.timeNanos, bracket.lowerNanos)
                                > AlignedStamp.saturatedSum(said.epochNanos(), said.boundNanos())
                        && contradicts(bracket));
    }

    /** Whether a line is to be fitted again: at most once a second, more often while the window is young. */
    private boolean isDue(long now) {
        long age = now - timeNanos[0];
        return now - lastFitNanos >= Math.min(CATCH_UP_NANOS, age / 2);
    }

    /** Whether what is in force is not what this bracket allows. */
    private boolean contradicts(Bracket bracket) {
        AlignedStamp said = align(inForce, bracket.timeNanos);
        if (said == null) {
            return true;
        }
        long offset = said.epochNanos() - bracket.timeNanos;
        return offset < bracket.lowerNanos || offset > bracket.upperNanos;
    }

    private static @Nullable AlignedStamp align(List<ClockFitted> segments, long clockNanos) {
        for (int i = segments.size() - 1; i >= 0; i--) {
            if (segments.get(i).startNanos() <= clockNanos) {
                return ClockWay.align(segments.get(i), clockNanos);
            }
        }
        return null;
    }

    // ---- the window

    private void add(Bracket bracket) {
        int drop = 0;
        long oldest =
                Math.max(bracket.timeNanos, count == 0 ? bracket.timeNanos : timeNanos[count - 1]) - LONG_WINDOW_NANOS;
        while (drop < count && timeNanos[drop] < oldest) {
            drop++;
        }
        dropOldest(drop);
        if (count == timeNanos.length) {
            int capacity = Math.min(MAX_SAMPLES + 1, Math.max(16, 2 * count));
            timeNanos = Arrays.copyOf(timeNanos, capacity);
            lowerNanos = Arrays.copyOf(lowerNanos, capacity);
            upperNanos = Arrays.copyOf(upperNanos, capacity);
        }
        int at = count;
        while (at > 0 && timeNanos[at - 1] > bracket.timeNanos) {
            at--;
        }
        move(at, at + 1);
        timeNanos[at] = bracket.timeNanos;
        lowerNanos[at] = bracket.lowerNanos;
        upperNanos[at] = bracket.upperNanos;
        count++;
        if (count > MAX_SAMPLES && timeNanos[0] < timeNanos[count - 1] - WINDOW_NANOS) {
            dropOldest(1);
        } else if (count > MAX_SAMPLES) {
            int widest = 0;
            for (int i = 1; i < count; i++) {
                if (upperNanos[i] - lowerNanos[i] > upperNanos[widest] - lowerNanos[widest]) {
                    widest = i;
                }
            }
            move(widest + 1, widest);
            count--;
        }
    }

    private void dropOldest(int drop) {
        if (drop > 0) {
            move(drop, 0);
            count -= drop;
        }
    }

    private void move(int from, int to) {
        System.arraycopy(timeNanos, from, timeNanos, to, count - from);
        System.arraycopy(lowerNanos, from, lowerNanos, to, count - from);
        System.arraycopy(upperNanos, from, upperNanos, to, count - from);
    }

    // ---- the line

    /**
     * Fits a line.
     *
     * @param newest reading of the newest sample before the one at hand; null for the first
     */
    private List<ClockFitted> fit(long now, @Nullable Long newest) {
        Long agreed = newest;
        long prior = inForce.isEmpty() || broken
                ? 0
                : inForce.get(inForce.size() - 1).driftNanos();
        int from = 0;
        while (timeNanos[from] < now - WINDOW_NANOS) {
            from++;
        }
        HullLine line = HullLine.of(window(from, now, WANDER), MAX_DRIFT, prior);
        boolean contradiction = line == null;
        if (line == null) {
            // A window whose newest part passes: the smallest number of oldest samples that must go.
            int keeps = count - 1;
            int fails = from;
            while (keeps - fails > 1) {
                int middle = (keeps + fails) >>> 1;
                if (HullLine.of(window(middle, now, WANDER), MAX_DRIFT, prior) == null) {
                    fails = middle;
                } else {
                    keeps = middle;
                }
            }
            agreed = timeNanos[keeps - 1];
            dropOldest(keeps);
            from = 0;
            fromTick = new ClockTick();
            toTick = new ClockTick();
            line = HullLine.of(window(0, now, WANDER), MAX_DRIFT, prior);
            if (line == null) {
                throw new IllegalStateException("Cannot lay a line through one bracket");
            }
        }
        if (!contradiction && from > 0) {
            agreed = timeNanos[from - 1];
        }
        // The bound must hold for a clock that wanders far; the estimate is better when it trusts the clock more.
        Brackets likely = window(from, now, LIKELY_WANDER);
        HullLine estimate = HullLine.of(likely, MAX_DRIFT, prior);
        long sigma = estimate == null ? Long.MAX_VALUE : estimate.sigma(likely);
        if (from > 0 && sigma > UNSURE_NANOS) {
            Brackets all = window(0, now, LASTING_WANDER);
            HullLine longer = HullLine.of(all, MAX_DRIFT, prior);
            if (longer != null && longer.value() >= line.least() && longer.value() <= line.most()) {
                estimate = longer;
                sigma = longer.sigma(all);
                from = 0;
            }
        }
        if (estimate == null) {
            estimate = line;
        }
        long value = lowerNanos[count - 1] + estimate.value();
        long slope = estimate.slope();
        long halfWidth = Math.max(line.most() - estimate.value(), estimate.value() - line.least());
        long growth = Math.max(0, Math.max(line.steepest() - slope, slope - line.flattest())) + WANDER;
        sigma = Math.min(halfWidth, sigma);

        AlignedStamp before = broken ? null : align(inForce, now);
        long correction = before == null ? 0 : before.epochNanos() - now - value;
        boolean stepped =
                !inForce.isEmpty() && (before == null || isDisproved(before, correction, halfWidth, contradiction));
        if (stepped) {
            correction = 0;
        }
        // Lines of one second that disagree by more than the delays explain: the clock wanders.
        long distance = Math.min(Math.abs(correction), halfWidth);
        if (now - timeNanos[0] >= RENEWAL_NANOS) {
            surprise += distance - surprise / 16;
            sigma = Math.min(halfWidth, Math.max(sigma, SURPRISE_SIGMAS * surprise / 16));
        } else {
            // The rate is still being learnt.
            surprise = 0;
            sigma = Math.max(sigma, distance);
        }
        if (!inForce.isEmpty() && !stepped && !contradiction && !isWorthIt(now, before, correction, halfWidth, sigma)) {
            return List.of();
        }
        broken = false;
        lastMadeNanos = now;
        inForce = segments(now, value, slope, correction, halfWidth, growth, sigma, count - from, stepped, agreed);
        return inForce;
    }

    /** Whether what was said so far cannot be: it lies outside both widths, or outside the new one when a line through all is not. */
    private static boolean isDisproved(AlignedStamp before, long correction, long halfWidth, boolean contradiction) {
        long distance = Math.abs(correction);
        return distance > halfWidth && (contradiction || distance - halfWidth > before.boundNanos());
    }

    /** The samples from one on, as seen from an instant: widened by what wander and ticks may hide. */
    private Brackets window(int from, long now, long wander) {
        int size = count - from;
        long base = lowerNanos[count - 1];
        long[] x = new long[size];
        long[] lower = new long[size];
        long[] upper = new long[size];
        for (int i = 0; i < size; i++) {
            x[i] = timeNanos[from + i] - now;
            long slack = FixedPoint.scaled(-x[i], wander) + 1;
            lower[i] = lowerNanos[from + i] - base - slack - (fromTick.tickNanos() - 1);
            upper[i] = upperNanos[from + i] - base + slack + toTick.tickNanos() - 1;
        }
        return new Brackets(x, lower, upper);
    }

    /** Whether the new line says anything that the segment in force does not. */
    private boolean isWorthIt(long now, @Nullable AlignedStamp before, long correction, long halfWidth, long sigma) {
        return before == null
                || now - lastMadeNanos >= RENEWAL_NANOS
                || Math.abs(correction) > Math.max(1, sigma / 3)
                || before.boundNanos() > halfWidth + halfWidth / 4;
    }

    /** The new line from now on; where it does not meet what was said so far, a stretch that leads from there to it. */
    private List<ClockFitted> segments(
            long now,
            long value,
            long slope,
            long correction,
            long halfWidth,
            long growth,
            long sigma,
            int used,
            boolean stepped,
            @Nullable Long agreed) {
        List<ClockFitted> made = new ArrayList<>(2);
        long start = now;
        if (correction != 0) {
            // At most a quarter faster or slower than it should be: the order of stamps stays.
            long span = Math.max(CATCH_UP_NANOS, Math.multiplyExact(4, Math.abs(correction)));
            long distance = Math.abs(correction);
            made.add(new ClockFitted(
                    fromClockId,
                    toClockId,
                    madeCount++,
                    now,
                    now + span,
                    value + correction,
                    slope - FixedPoint.rate(correction, span),
                    halfWidth + distance + 1,
                    growth,
                    sigma + distance / 2,
                    used,
                    stepped,
                    refusedCount));
            start = now + span;
        }
        long passed = start - now;
        long wider = FixedPoint.scaled(passed, growth);
        made.add(new ClockFitted(
                fromClockId,
                toClockId,
                madeCount++,
                start,
                Math.addExact(Math.max(start, now), REACH_NANOS),
                value + FixedPoint.scaled(passed, slope),
                slope,
                halfWidth + wider + 1,
                growth,
                sigma,
                used,
                stepped && correction == 0,
                refusedCount,
                stepped && correction == 0 ? agreed : null));
        return made;
    }

    /** What a sample allows the offset to be, at a reading of the first clock. */
    private record Bracket(long timeNanos, long lowerNanos, long upperNanos) {
        static @Nullable Bracket of(ClockSampled sample) {
            long before = sample.beforeNanos();
            long after = sample.afterNanos();
            Long stated = sample.statedBoundNanos();
            if (after < before || (stated != null && (stated < 0 || stated > MAX_WIDTH_NANOS))) {
                return null;
            }
            try {
                long width = Math.subtractExact(after, before);
                long middle = before + width / 2;
                if (width > MAX_WIDTH_NANOS || middle < -FARTHEST_NANOS || middle > FARTHEST_NANOS) {
                    return null;
                }
                long slack = FixedPoint.scaled(width / 2 + 1, MAX_DRIFT) + 1;
                long remote = sample.remoteNanos();
                long lower = stated == null
                        ? Math.subtractExact(remote, after)
                        : Math.subtractExact(Math.subtractExact(remote, middle), stated + width / 2);
                long upper = stated == null
                        ? Math.subtractExact(remote, before)
                        : Math.addExact(Math.subtractExact(remote, middle), stated + width / 2);
                if (lower < -FARTHEST_NANOS || upper > FARTHEST_NANOS) {
                    return null;
                }
                return new Bracket(middle, lower - slack, upper + slack);
            } catch (ArithmeticException e) {
                return null;
            }
        }
    }
}
