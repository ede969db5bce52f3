package io.tokenstair.clock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.tokenstair.event.ClockFitted;
import io.tokenstair.event.ClockSampled;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClockFitTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long NEVER = Long.MAX_VALUE;

    private final ClockFit fit = ClockFit.between("a", "b");
    private final ClockWay way = ClockWay.between("a", "b");

    private static ClockSampled bracketed(long before, long remote, long after) {
        return new ClockSampled("a", "b", before, remote, after, null);
    }

    /** Event time is the sample's own millisecond. */
    private List<ClockFitted> accept(ClockSampled sample) {
        List<ClockFitted> made = fit.accept(sample);
        made.forEach(segment ->
                assertThat(way.add(segment, millis(sample.afterNanos()))).isTrue());
        return made;
    }

    private static long millis(long nanos) {
        return Math.floorDiv(nanos + 999_999, 1_000_000L);
    }

    // ---- what holds for all clocks

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void theTruthIsAlwaysWithinTheHardBoundAndTheOrderOfStampsNeverTurns(long seed) {
        Random random = new Random(seed);
        RandomClocks clocks = new RandomClocks(random, NEVER, 0);
        long every = SECOND / (1 + random.nextInt(20));
        List<ClockSampled> samples = clocks.samples(random, 600, every, 500 + random.nextInt(20_000));
        long lastStamp = Long.MIN_VALUE;
        long lastAligned = Long.MIN_VALUE;
        for (ClockSampled sample : samples) {
            accept(sample);
            // Stamps up to the next sample, as whoever has these segments aligns them.
            for (int k = 0; k < 8; k++) {
                long stamp = Math.max(lastStamp, sample.afterNanos() + random.nextLong(every));
                AlignedStamp aligned = Objects.requireNonNull(way.align(stamp, millis(stamp)));
                assertThat(Math.abs(aligned.epochNanos() - clocks.truth(stamp)))
                        .as("at %d", stamp)
                        .isLessThanOrEqualTo(aligned.boundNanos());
                assertThat(aligned.sigmaNanos()).isBetween(0L, aligned.boundNanos());
                if (lastStamp != Long.MIN_VALUE) {
                    assertThat(aligned.epochNanos()).isGreaterThanOrEqualTo(lastAligned);
                }
                lastStamp = stamp;
                lastAligned = aligned.epochNanos();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void segmentsAreNumberedAndMeetWhereOneTakesOver(long seed) {
        Random random = new Random(seed);
        List<ClockFitted> made = new ArrayList<>();
        RandomClocks clocks = new RandomClocks(random, NEVER, 0);
        clocks.samples(random, 900, SECOND / 5, 12_000).forEach(sample -> made.addAll(accept(sample)));

        for (int i = 0; i < made.size(); i++) {
            assertThat(made.get(i).segmentIndex()).isEqualTo(i);
            assertThat(made.get(i).stepped()).isFalse();
            if (i > 0) {
                long start = made.get(i).startNanos();
                long before = covering(made.subList(0, i), start);
                assertThat(Objects.requireNonNull(ClockWay.align(made.get(i), start))
                                .epochNanos())
                        .isBetween(before - 1, before + 1);
            }
        }
        // Three minutes: at most one stretch and one line a second, and far fewer on a link this good.
        assertThat(made.size()).isBetween(18, 360);
    }

    private static long covering(List<ClockFitted> segments, long stamp) {
        for (int i = segments.size() - 1; i >= 0; i--) {
            if (segments.get(i).startNanos() <= stamp) {
                return Objects.requireNonNull(ClockWay.align(segments.get(i), stamp))
                        .epochNanos();
            }
        }
        throw new AssertionError("nothing covers " + stamp);
    }

    @Test
    void aDriftIsLearntWithinAWindow() {
        RandomClocks clocks = new RandomClocks(new Random(5), NEVER, 0);
        List<ClockSampled> samples = clocks.samples(new Random(6), 400, SECOND / 10, 12_000);
        samples.forEach(this::accept);
        long stamp = samples.get(399).afterNanos() + SECOND / 20;
        AlignedStamp aligned = Objects.requireNonNull(way.align(stamp, millis(stamp)));

        assertThat(Math.abs(aligned.epochNanos() - clocks.truth(stamp))).isLessThan(400);
        assertThat(aligned.boundNanos()).isBetween(12_000L, 20_000L);
        assertThat(aligned.sigmaNanos()).isLessThan(1_000);
    }

    @Test
    void theSameSamplesAlwaysGiveTheSameSegments() {
        List<ClockSampled> samples =
                new RandomClocks(new Random(7), 40 * SECOND, -3 * SECOND).samples(new Random(8), 900, SECOND / 9, 900);
        ClockFit again = ClockFit.between("a", "b");
        for (ClockSampled sample : samples) {
            assertThat(again.accept(sample)).isEqualTo(fit.accept(sample));
        }
        assertThat(again).usingRecursiveComparison().isEqualTo(fit);
    }

    // ---- single samples

    @Test
    void aBracketBoundsTheOffset() {
        // b read 100_000 somewhere between 1_000 and 1_200 of a: 98_800 <= offset <= 99_000.
        ClockFitted made = accept(bracketed(1_000, 100_000, 1_200)).get(0);

        assertThat(made.startNanos()).isEqualTo(1_100);
        assertThat(made.offsetNanos()).isEqualTo(98_900);
        assertThat(made.boundNanos()).isBetween(100L, 106L);
        assertThat(made.segmentIndex()).isZero();
        assertThat(made.stepped()).isFalse();
        assertThat(way.align(1_099, 1)).isNull();
    }

    @Test
    void aStatedBoundStandsWhereReadingsBracketNothing() {
        ClockFitted made =
                accept(new ClockSampled("a", "b", 1_000, 100_000, 1_000, 20L)).get(0);

        assertThat(made.offsetNanos()).isEqualTo(99_000);
        assertThat(made.boundNanos()).isBetween(20L, 26L);
    }

    @Test
    void samplesThatCannotBeAreRefusedAndCounted() {
        long year = 365 * 86_400 * SECOND;
        List<ClockSampled> absurd = List.of(
                bracketed(1_200, 100_000, 1_000),
                bracketed(0, 5, year),
                bracketed(Long.MIN_VALUE, 0, Long.MAX_VALUE),
                bracketed(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE),
                bracketed(Long.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE + 1),
                new ClockSampled("a", "b", 1_000, 100_000, 1_000, -1L),
                new ClockSampled("a", "b", 1_000, 100_000, 1_000, Long.MAX_VALUE),
                new ClockSampled("a", "b", 1_000, 100_000, 1_000, year));

        absurd.forEach(sample -> assertThat(accept(sample)).isEmpty());
        assertThat(fit.refusedCount).isEqualTo(absurd.size());
        assertThat(fit.count).isZero();

        ClockFitted made = accept(bracketed(1_000, 100_000, 1_200)).get(0);
        assertThat(made.refusedCount()).isEqualTo(absurd.size());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> fit.accept(new ClockSampled("a", "c", 1, 2, 3, null)))
                .withMessage("Cannot take a sample of a and c on the way from a to b");
    }

    @Test
    void absurdOffsetsNeitherBreakNorOverflowAnything() {
        Random random = new Random(9);
        for (int i = 0; i < 3_000; i++) {
            long before = random.nextLong() >> random.nextInt(64);
            long remote = random.nextLong() >> random.nextInt(64);
            long width = random.nextLong() >>> random.nextInt(64);
            for (ClockFitted segment : fit.accept(bracketed(before, remote, before + width))) {
                assertThat(segment.boundNanos()).isNotNegative();
                assertThat(segment.endNanos()).isGreaterThanOrEqualTo(segment.startNanos());
            }
        }
        assertThat(fit.refusedCount).isBetween(1L, 2_999L);
    }

    // ---- steps and silence

    @ParameterizedTest
    @ValueSource(longs = {-3_600_000_000_000L, -1_000_000_000L, -100_000L, 100_000L, 50_000_000L, 86_400_000_000_000L})
    void aClockThatStepsSplitsTheWay(long step) {
        Random random = new Random(10);
        RandomClocks clocks = new RandomClocks(random, 45 * SECOND, step);
        List<ClockSampled> samples = clocks.samples(random, 900, SECOND / 10, 9_000);
        List<ClockFitted> stepped = new ArrayList<>();
        for (ClockSampled sample : samples) {
            accept(sample).stream().filter(ClockFitted::stepped).forEach(stepped::add);
            long stamp = sample.afterNanos() + 10;
            AlignedStamp aligned = way.align(stamp, millis(stamp));
            if (!stepped.isEmpty() && stamp < stepped.get(stepped.size() - 1).startNanos() + 2 * SECOND + 2_000_000) {
                // The first clock may have gone back: its readings of these seconds may have been read twice.
                assertThat(aligned != null || step > 0).isTrue();
            } else {
                assertThat(aligned).isNotNull();
            }
            // Between the step and the first sample that shows it nobody can know yet.
            if (aligned != null && (stamp < 45 * SECOND - 300_000 || !stepped.isEmpty())) {
                assertThat(Math.abs(aligned.epochNanos() - clocks.truth(stamp)))
                        .as("at %d", stamp)
                        .isLessThanOrEqualTo(aligned.boundNanos());
            }
        }

        assertThat(stepped).isNotEmpty();
        assertThat(stepped.get(0).startNanos()).isBetween(45 * SECOND, 47 * SECOND);
        assertThat(stepped.get(0).agreedNanos()).isNotNull().isBetween(43 * SECOND, 45 * SECOND);
        // What was aligned before stays as it was: by the event time of its record.
        AlignedStamp early = Objects.requireNonNull(way.align(44 * SECOND, 44_100));
        assertThat(Math.abs(early.epochNanos() - clocks.truth(44 * SECOND))).isLessThanOrEqualTo(early.boundNanos());
    }

    @Test
    void aClockWithoutAStepIsNotSplit() {
        Random random = new Random(11);
        for (ClockSampled sample : new RandomClocks(random, NEVER, 0).samples(random, 3_000, SECOND / 10, 900)) {
            assertThat(accept(sample)).noneMatch(ClockFitted::stepped);
        }
    }

    @Test
    void afterOneWrongSampleNothingIsAlignedForAMomentAndNothingEverWrong() {
        Random random = new Random(12);
        RandomClocks clocks = new RandomClocks(random, NEVER, 0);
        List<ClockSampled> samples = clocks.samples(random, 400, SECOND / 10, 9_000);
        for (int i = 0; i < samples.size(); i++) {
            ClockSampled sample = samples.get(i);
            accept(
                    i == 200
                            ? bracketed(sample.beforeNanos(), sample.remoteNanos() + SECOND, sample.afterNanos())
                            : sample);
            long stamp = sample.afterNanos() + 10;
            AlignedStamp aligned = way.align(stamp, millis(stamp));
            assertThat(aligned == null).as("after sample %d", i).isEqualTo(i >= 200 && i <= 220);
            if (aligned != null) {
                assertThat(Math.abs(aligned.epochNanos() - clocks.truth(stamp)))
                        .isLessThanOrEqualTo(aligned.boundNanos());
            }
        }
    }

    @Test
    void theBoundGrowsWithoutSamplesAndThenNothingIsAligned() {
        Random random = new Random(13);
        RandomClocks clocks = new RandomClocks(random, NEVER, 0);
        List<ClockSampled> samples = clocks.samples(random, 400, SECOND / 10, 9_000);
        samples.forEach(this::accept);
        long last = samples.get(399).afterNanos();
        long bound = 0;
        for (long after = SECOND; after < ClockFit.REACH_NANOS - 12 * SECOND; after += SECOND) {
            AlignedStamp aligned = Objects.requireNonNull(way.align(last + after, millis(last + after)));
            assertThat(aligned.boundNanos()).isGreaterThan(bound);
            bound = aligned.boundNanos();
            assertThat(Math.abs(aligned.epochNanos() - clocks.truth(last + after)))
                    .isLessThanOrEqualTo(bound);
        }
        long beyond = last + ClockFit.REACH_NANOS + 2 * SECOND;

        assertThat(way.align(beyond, millis(beyond))).isNull();
    }

    @Test
    void afterSingleSampleTheBoundGrowsAsFastAsAClockMayDrift() {
        accept(bracketed(0, 100_000, 200));

        assertThat(Objects.requireNonNull(way.align(SECOND, 1_000)).boundNanos())
                .isBetween(500_000L, 501_000L);
    }

    @Test
    void samplesAfterALongPauseBeginAnew() {
        Random random = new Random(14);
        RandomClocks clocks = new RandomClocks(random, NEVER, 0);
        clocks.samples(random, 100, SECOND / 10, 9_000).forEach(this::accept);
        long later = 2_000 * SECOND;
        List<ClockFitted> made = accept(bracketed(later, clocks.truth(later + 9_000), later + 18_000));

        assertThat(made).singleElement().extracting(ClockFitted::stepped).isEqualTo(true);
        assertThat(way.align(1_500 * SECOND, millis(1_500 * SECOND))).isNull();
    }

    @Test
    void aFirstClockThatGoesBackBeginsAnew() {
        accept(bracketed(1_000 * SECOND, 5, 1_000 * SECOND + 100));
        accept(bracketed(1_001 * SECOND, SECOND + 5, 1_001 * SECOND + 100));
        List<ClockFitted> made = fit.accept(bracketed(10, 7_000 * SECOND, 110));

        assertThat(made).singleElement().satisfies(segment -> {
            assertThat(segment.stepped()).isTrue();
            assertThat(segment.startNanos()).isEqualTo(60);
            assertThat(segment.sampleCount()).isEqualTo(1);
        });
    }

    // ---- bounds of the state

    @Test
    void aWindowHoldsNoMoreThanItSays() {
        Random random = new Random(15);
        RandomClocks clocks = new RandomClocks(random, NEVER, 0);
        for (ClockSampled sample : clocks.samples(random, 20_000, SECOND / 2_000, 900)) {
            accept(sample);
            assertThat(fit.count).isLessThanOrEqualTo(ClockFit.MAX_SAMPLES);
        }
        assertThat(fit.timeNanos.length).isLessThanOrEqualTo(ClockFit.MAX_SAMPLES + 1);
        assertThat(fit.inForce.size()).isLessThanOrEqualTo(2);
    }

    @Test
    void theTickOfACoarseClockIsFoundAndReckonedWith() {
        Random random = new Random(16);
        for (int i = 0; i < 300; i++) {
            long before = i * SECOND / 10 + random.nextInt(1_000);
            long read = before + 880 + random.nextInt(100);
            accept(bracketed(before, Math.floorDiv(read + 5_000, 32) * 32, read + 880 + random.nextInt(100)));
        }
        long sum = 0;
        for (int second = 10; second < 30; second++) {
            AlignedStamp aligned = Objects.requireNonNull(way.align(second * SECOND, second * 1_000L));
            sum += aligned.epochNanos() - second * SECOND - 5_000;
        }

        assertThat(fit.toTick.tickNanos()).isEqualTo(32);
        assertThat(fit.fromTick.tickNanos()).isEqualTo(1);
        // Without it the clock would seem half a tick early.
        assertThat(sum / 20).isBetween(-8L, 8L);
    }
}
