package io.tokenstair.job.staircase;

import java.util.function.IntPredicate;
import java.util.function.IntToDoubleFunction;

/** A made-up series: 10 ms are expected, unless told otherwise, and the times follow a shape with 2 % of noise. */
record Readings(int count, IntToDoubleFunction factor, IntToDoubleFunction load, IntPredicate kvEvent) {
    static final long EXPECTED_NANOS = 10_000_000;

    /** A series whose time is the expected one times a factor that depends on the index. */
    static Readings of(int count, IntToDoubleFunction factor) {
        return new Readings(count, factor, i -> 1, i -> false);
    }

    /** The same with KV events where the predicate says. */
    Readings withKvEvents(IntPredicate when) {
        return new Readings(count, factor, load, when);
    }

    /** The same under a load that multiplies the expected time, and the time with it. */
    Readings underLoad(IntToDoubleFunction load) {
        return new Readings(count, factor, load, kvEvent);
    }

    /** Levels that begin at these indexes, each so much above the one before. */
    static IntToDoubleFunction levels(double rise, int... onsets) {
        return i -> {
            double level = 1;
            for (int onset : onsets) {
                level *= i >= onset ? 1 + rise : 1;
            }
            return level;
        };
    }

    /** Close to any of these indexes: up to six before, up to three after. */
    static IntPredicate near(int... onsets) {
        return i -> {
            for (int onset : onsets) {
                if (i >= onset - 6 && i <= onset + 3) {
                    return true;
                }
            }
            return false;
        };
    }

    long expectedNanos(int i) {
        return Math.round(EXPECTED_NANOS * load.applyAsDouble(i));
    }

    long nanos(int i) {
        return Math.round(expectedNanos(i) * factor.applyAsDouble(i) * (1 + 0.02 * noise(i)));
    }

    /** Standard deviation 1, the same number for the same index: the sum of four draws by a hash. */
    private static double noise(int i) {
        double sum = 0;
        for (int draw = 0; draw < 4; draw++) {
            long z = (4L * i + draw + 1) * 0x9E3779B97F4A7C15L;
            z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
            z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
            sum += ((z ^ z >>> 31) >>> 11) * 0x1.0p-53 - 0.5;
        }
        return sum * Math.sqrt(3);
    }

    /** Feeds a part of the series. */
    void feed(StaircaseDetector detector, StaircaseState state, int from, int to) {
        for (int i = from; i < to; i++) {
            detector.accept(state, i, nanos(i), expectedNanos(i), kvEvent.test(i) ? 1 : 0);
        }
    }

    /** Feeds all of it and asks. */
    StaircaseVerdict judge(StaircaseDetector detector) {
        StaircaseState state = detector.start();
        feed(detector, state, 0, count);
        return detector.verdict(state);
    }
}
