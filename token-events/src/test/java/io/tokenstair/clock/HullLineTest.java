package io.tokenstair.clock;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HullLineTest {
    private static final long LIMIT = ClockFit.MAX_DRIFT;

    private static Brackets random(Random random, int count) {
        long[] x = random.longs(count, -30_000_000_000L, 1).sorted().toArray();
        x[count - 1] = 0;
        long[] lower = new long[count];
        long[] upper = new long[count];
        long slope = random.nextInt(800_000_000) - 400_000_000;
        for (int i = 0; i < count; i++) {
            long at = FixedPoint.scaled(x[i], slope) + 7_000;
            lower[i] = at - 1_000 - random.nextInt(20_000);
            upper[i] = at + 1_000 + random.nextInt(20_000);
        }
        return new Brackets(x, lower, upper);
    }

    private static long room(Brackets brackets, long slope) {
        long most = Long.MAX_VALUE;
        long least = Long.MIN_VALUE;
        for (int i = 0; i < brackets.x().length; i++) {
            long shift = FixedPoint.scaled(brackets.x()[i], slope);
            most = Math.min(most, brackets.upper()[i] - shift);
            least = Math.max(least, brackets.lower()[i] - shift);
        }
        return most - least;
    }

    @Test
    void noOtherSlopeLeavesMoreRoom() {
        Random random = new Random(1);
        for (int round = 0; round < 300; round++) {
            Brackets brackets = random(random, 1 + random.nextInt(40));
            HullLine line = Objects.requireNonNull(HullLine.of(brackets, LIMIT, 0));
            long best = room(brackets, line.slope());
            for (int k = -500; k <= 500; k++) {
                assertThat(room(brackets, LIMIT / 500 * k)).isLessThanOrEqualTo(best + 2);
                long near = line.slope() + k * 1_000L;
                if (Math.abs(near) <= LIMIT) {
                    assertThat(room(brackets, near)).isLessThanOrEqualTo(best + 2);
                }
            }
        }
    }

    @Test
    void everyLineThatPassesIsWithinTheBounds() {
        Random random = new Random(2);
        for (int round = 0; round < 300; round++) {
            Brackets brackets = random(random, 1 + random.nextInt(30));
            HullLine line = Objects.requireNonNull(HullLine.of(brackets, LIMIT, 0));
            for (int k = 0; k < 300; k++) {
                long slope = random.nextLong(-LIMIT, LIMIT + 1);
                if (room(brackets, slope) < 0) {
                    continue;
                }
                assertThat(slope).isBetween(line.flattest(), line.steepest());
                for (int i = 0; i < brackets.x().length; i++) {
                    long shift = FixedPoint.scaled(brackets.x()[i], slope);
                    assertThat(highest(brackets, slope)).isLessThanOrEqualTo(line.most());
                    assertThat(lowest(brackets, slope)).isGreaterThanOrEqualTo(line.least());
                    assertThat(line.value() + FixedPoint.scaled(brackets.x()[i], line.slope()))
                            .isBetween(brackets.lower()[i] - 2, brackets.upper()[i] + 2);
                    assertThat(shift).isEqualTo(exact(brackets.x()[i], slope));
                }
            }
        }
    }

    private static long highest(Brackets brackets, long slope) {
        long most = Long.MAX_VALUE;
        for (int i = 0; i < brackets.x().length; i++) {
            most = Math.min(most, brackets.upper()[i] - FixedPoint.scaled(brackets.x()[i], slope));
        }
        return most;
    }

    private static long lowest(Brackets brackets, long slope) {
        long least = Long.MIN_VALUE;
        for (int i = 0; i < brackets.x().length; i++) {
            least = Math.max(least, brackets.lower()[i] - FixedPoint.scaled(brackets.x()[i], slope));
        }
        return least;
    }

    private static long exact(long value, long rate) {
        return BigInteger.valueOf(value)
                .multiply(BigInteger.valueOf(rate))
                .shiftRight(FixedPoint.BITS)
                .longValueExact();
    }

    @Test
    void whereOneInstantHindersAloneThePriorSlopeIsTaken() {
        Brackets one = new Brackets(new long[] {0}, new long[] {-5}, new long[] {5});

        assertThat(Objects.requireNonNull(HullLine.of(one, LIMIT, 1_234)).slope())
                .isEqualTo(1_234);
        assertThat(Objects.requireNonNull(HullLine.of(one, LIMIT, 3 * LIMIT)).slope())
                .isEqualTo(LIMIT);
    }

    @Test
    void noLineIsLaidThroughWhatDoesNotFit() {
        Brackets stepped =
                new Brackets(new long[] {-2_000, -1_000, 0}, new long[] {0, 0, 9_000}, new long[] {10, 10, 9_010});
        Brackets absurd =
                new Brackets(new long[] {-1_000, 0}, new long[] {Long.MIN_VALUE + 1, Long.MAX_VALUE - 9}, new long[] {
                    Long.MIN_VALUE + 9, Long.MAX_VALUE - 1
                });

        assertThat(HullLine.of(stepped, LIMIT, 0)).isNull();
        assertThat(HullLine.of(absurd, LIMIT, 0)).isNull();
    }

    @Test
    void productsAndRatesAreExactOrRefused() {
        Random random = new Random(3);
        for (int i = 0; i < 20_000; i++) {
            long a = random.nextLong() >> random.nextInt(64);
            long b = random.nextLong() >> random.nextInt(64);
            long c = random.nextLong() >> random.nextInt(64);
            long d = random.nextLong() >> random.nextInt(64);
            assertThat(FixedPoint.compareProducts(a, b, c, d))
                    .isEqualTo(BigInteger.valueOf(a)
                            .multiply(BigInteger.valueOf(b))
                            .compareTo(BigInteger.valueOf(c).multiply(BigInteger.valueOf(d))));
            BigInteger scaled =
                    BigInteger.valueOf(a).multiply(BigInteger.valueOf(b)).shiftRight(FixedPoint.BITS);
            if (scaled.bitLength() <= 63) {
                assertThat(FixedPoint.scaled(a, b)).isEqualTo(scaled.longValueExact());
            } else {
                org.assertj.core.api.Assertions.assertThatThrownBy(() -> FixedPoint.scaled(a, b))
                        .isInstanceOf(ArithmeticException.class);
            }
            long run = 1 + (Math.abs(c) >> 22);
            long rise = d >> 30;
            BigInteger[] rate =
                    BigInteger.valueOf(rise).shiftLeft(FixedPoint.BITS).divideAndRemainder(BigInteger.valueOf(run));
            long floor = rate[0].longValue() - (rate[1].signum() < 0 ? 1 : 0);
            if (rate[0].bitLength() <= 62 && run < 1L << 43) {
                assertThat(FixedPoint.rate(rise, run)).isEqualTo(floor);
            }
        }
        assertThat(Arrays.asList(FixedPoint.scaled(-1, 1), FixedPoint.scaled(1L << 40, 3)))
                .containsExactly(-1L, 3L);
    }
}
