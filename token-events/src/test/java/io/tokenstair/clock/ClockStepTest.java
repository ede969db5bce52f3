package io.tokenstair.clock;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.ClockFitted;
import io.tokenstair.event.ClockSampled;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A clock steps between two samples: who waits until the next one is told nothing that is wrong, and is told so for a moment only. */
class ClockStepTest {
    private static final long MS = 1_000_000L;
    private static final long SECOND = 1_000 * MS;
    private static final long YEAR = 365 * 86_400 * SECOND;
    private static final long WAITS_MILLIS = 5_000;
    private static final long STEP_AT = 40 * SECOND + 333 * MS;
    private static final long END = 90 * SECOND;

    private static Stream<Arguments> steps() {
        List<Arguments> cases = new ArrayList<>();
        for (boolean first : new boolean[] {true, false}) {
            for (long step : new long[] {
                3 * SECOND, -3 * SECOND, 700 * MS, -700 * MS, 5 * MS, -5 * MS, 100 * SECOND, -100 * SECOND, YEAR, -YEAR
            }) {
                for (long every : new long[] {50 * MS, SECOND, 4 * SECOND}) {
                    cases.add(Arguments.of(first, step, every));
                }
            }
        }
        return cases.stream();
    }

    @ParameterizedTest(name = "first clock {0}, by {1} ns, a sample every {2} ns")
    @MethodSource("steps")
    void whatLiesAroundAStepIsNotAlignedAndAllElseIsWithinItsBound(boolean first, long step, long every) {
        LongUnaryOperator a = clock(7 * YEAR, 3_000, first ? step : 0);
        LongUnaryOperator b = clock(3 * YEAR, -11_000, first ? 0 : step);
        ClockWay way = ClockWay.between("a", "b");
        ClockFit fit = ClockFit.between("a", "b");
        Random random = new Random(step ^ every);
        for (long t = 0; t < END; t += every) {
            long there = 20_000 + random.nextInt(2_000);
            long back = 20_000 + random.nextInt(2_000);
            ClockSampled sample = new ClockSampled(
                    "a",
                    "b",
                    a.applyAsLong(t),
                    b.applyAsLong(t + there),
                    Math.max(a.applyAsLong(t + there + back), a.applyAsLong(t)),
                    null);
            for (ClockFitted segment : fit.accept(sample)) {
                assertThat(way.add(segment, (t + there + back) / MS)).isTrue();
            }
        }

        // Stamps of records that are written at once, and of such that wait a while.
        for (long waits : new long[] {0, 120, 1_500}) {
            for (long t = 10 * SECOND; t < END - 2 * SECOND; t += 13_713_711) {
                long millis = t / MS + waits;
                AlignedStamp there = way.align(a.applyAsLong(t), millis, millis + WAITS_MILLIS);
                AlignedStamp back = way.alignBack(b.applyAsLong(t), millis, millis + WAITS_MILLIS);
                isRight(there, b.applyAsLong(t), t);
                isRight(back, a.applyAsLong(t), t);
                boolean near = t < STEP_AT
                        ? t > STEP_AT - (WAITS_MILLIS + waits + 100) * MS
                        : t < STEP_AT + every + 2 * SECOND + 100 * MS;
                if (!near) {
                    assertThat(there).as("at %d", t).isNotNull();
                    assertThat(back).as("at %d", t).isNotNull();
                }
            }
        }
        long later = END - SECOND;
        assertThat(way.align(a.applyAsLong(later), later / MS)).isNotNull();
    }

    private static void isRight(AlignedStamp aligned, long truth, long t) {
        if (aligned != null) {
            assertThat(Math.abs(aligned.epochNanos() - truth)).as("at %d", t).isLessThanOrEqualTo(aligned.boundNanos());
        }
    }

    /** A clock that begins somewhere, gains so many ns a second and steps once. */
    private static LongUnaryOperator clock(long begins, long gains, long step) {
        return t -> begins + t + t / SECOND * gains + (t % SECOND) * gains / SECOND + (t >= STEP_AT ? step : 0);
    }
}
