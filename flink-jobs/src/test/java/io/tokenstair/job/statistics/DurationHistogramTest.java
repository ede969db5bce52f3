package io.tokenstair.job.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The histogram against sorted lists of exact durations. */
class DurationHistogramTest {

    /** Durations over the whole range, many of them alike, some far out. */
    private static long[] durations(SplittableRandom random, int count) {
        long[] nanos = new long[count];
        for (int i = 0; i < count; i++) {
            nanos[i] = switch (random.nextInt(12)) {
                case 0 -> random.nextLong(600);
                case 1 -> 25_000_000;
                case 2 -> 1L << random.nextInt(42);
                case 3 -> random.nextLong(2_000_000_000_000L);
                default -> (long) (25e6 * StrictMath.exp(0.4 * random.nextGaussian()));
            };
        }
        return nanos;
    }

    @Test
    void everyDurationLiesWithinTheBoundOfItsBucket() {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 2_000_000; i++) {
            long nanos = random.nextLong(1L << 1 + random.nextInt(40));
            long told = LogBuckets.nanosOf(LogBuckets.of(nanos));
            if (nanos < LogBuckets.FLOOR_NANOS) {
                assertThat(told).isZero();
            } else {
                assertThat(Math.abs(told - nanos) * 128).isLessThanOrEqualTo(nanos);
            }
        }
    }

    @Test
    void bucketsRiseWithTheDurationAndCoverTheRange() {
        int before = 0;
        for (long nanos = 0; nanos < 1L << 41; nanos += 1 + nanos / 300) {
            int bucket = LogBuckets.of(nanos);
            assertThat(bucket).isBetween(before, before + 1);
            before = bucket;
        }
        assertThat(before).isEqualTo(LogBuckets.COUNT - 1);
        assertThat(LogBuckets.of(1_000)).isPositive();
        assertThat(LogBuckets.of(1_000_000_000_000L)).isLessThan(LogBuckets.COUNT - 1);
        assertThat(LogBuckets.of(Long.MAX_VALUE)).isEqualTo(LogBuckets.COUNT - 1);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void mergingIsTheUnionAndSubtractingItsInverseInAnyOrder(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        long[] all = durations(random, 3_000);
        int cut = random.nextInt(all.length);
        DurationHistogram left = DurationHistogram.of(Arrays.copyOf(all, cut));
        DurationHistogram right = DurationHistogram.of(Arrays.copyOfRange(all, cut, all.length));
        DurationHistogram union = DurationHistogram.of(all);
        for (int i = all.length - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            long swapped = all[i];
            all[i] = all[j];
            all[j] = swapped;
        }

        assertThat(DurationHistogram.of(all)).isEqualTo(union);
        assertThat(left.plus(right)).isEqualTo(union);
        assertThat(right.plus(left)).isEqualTo(union);
        assertThat(union.minus(right)).isEqualTo(left);
        assertThat(union.minus(left)).isEqualTo(right);
        assertThat(union.minus(union)).isEqualTo(new DurationHistogram());
        DurationCounter counter = new DurationCounter();
        counter.add(right);
        counter.add(left);
        assertThat(counter.histogram()).isEqualTo(union);
        counter.clear();
        assertThat(counter.histogram().isEmpty()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13, 14, 15, 16})
    void quantilesMedianAndDeviationAreThoseOfTheSortedList(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        long[] nanos = durations(random, 1 + random.nextInt(4_000));
        DurationHistogram histogram = DurationHistogram.of(nanos);
        // The same on what the buckets stand for: then every answer is exact.
        long[] told = Arrays.stream(nanos)
                .map(value -> LogBuckets.nanosOf(LogBuckets.of(value)))
                .sorted()
                .toArray();
        for (int q : new int[] {1, 100, 1_000, 5_000, 9_000, 9_900, 9_990, 9_999, 10_000}) {
            int rank = (int) Math.max(1, ((long) told.length * q + 9_999) / 10_000);
            assertThat(histogram.quantileNanos(q)).as("%d", q).isEqualTo(told[rank - 1]);
        }
        long median = told[(told.length + 1) / 2 - 1];
        long[] distances = Arrays.stream(told)
                .map(value -> Math.abs(value - median))
                .sorted()
                .toArray();
        assertThat(histogram.medianNanos()).isEqualTo(median);
        assertThat(histogram.medianAbsoluteDeviationNanos()).isEqualTo(distances[(told.length + 1) / 2 - 1]);
        assertThat(histogram.countAbove(median))
                .isEqualTo(Arrays.stream(told).filter(value -> value > median).count());
    }

    @Test
    void takingOutMoreThanThereIsIsRefused() {
        assertThatThrownBy(() -> DurationHistogram.of(1_000).minus(DurationHistogram.of(1_000, 1_000)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
