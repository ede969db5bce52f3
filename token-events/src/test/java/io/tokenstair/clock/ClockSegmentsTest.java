package io.tokenstair.clock;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.ClockSampled;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ClockSegmentsTest {
    private final ClockSegments segments = ClockSegments.between("engine", "wall");

    @Test
    void nothingIsAlignedBeforeTheFirstSample() {
        assertThat(segments.align(5_000)).isNull();
        assertThat(segments.newest()).isNull();
    }

    @Test
    void aBracketBoundsTheOffset() {
        // The wall read 100_000 somewhere between 1_000 and 1_200 of the engine: 98_800 <= offset <= 99_000.
        assertThat(segments.accept(bracketed(1_000, 100_000, 1_200)))
                .isEqualTo(new ClockSegment(0, 1_100, 98_900, 100));

        assertThat(segments.align(1_100)).isEqualTo(new AlignedStamp(100_000, 100));
        assertThat(segments.align(2_100)).isEqualTo(new AlignedStamp(101_000, 100));
    }

    @Test
    void aSampleTakenTheOtherWayRoundSaysTheSame() {
        // The engine read 1_000 between 100_000 and 100_200 of the wall: 99_000 <= offset <= 99_200.
        ClockSegment made = segments.accept(new ClockSampled("wall", "engine", 100_000, 1_000, 100_200, null));

        assertThat(made).isEqualTo(new ClockSegment(0, 1_000, 99_100, 100));
    }

    @Test
    void aStatedBoundIsTakenWhereNothingIsBracketed() {
        assertThat(segments.accept(new ClockSampled("engine", "wall", 1_000, 100_000, 1_000, 250L)))
                .isEqualTo(new ClockSegment(0, 1_000, 99_000, 250));
        assertThat(ClockSegments.between("wall", "engine")
                        .accept(new ClockSampled("engine", "wall", 1_000, 100_000, 1_000, 250L)))
                .isEqualTo(new ClockSegment(0, 100_000, -99_000, 250));
    }

    @Test
    void anOddBracketIsCoveredWhole() {
        ClockSegment made = segments.accept(bracketed(1_000, 100_000, 1_003));

        assertThat(made).isEqualTo(new ClockSegment(0, 1_001, 98_998, 2));
    }

    @Test
    void stampsBeforeTheFirstSegmentAreNotAligned() {
        segments.accept(bracketed(1_000, 100_000, 1_200));

        assertThat(segments.align(1_099)).isNull();
        assertThat(segments.align(1_100)).isNotNull();
    }

    @Test
    void theOffsetStandsAsLongAsSamplesAllowIt() {
        segments.accept(bracketed(1_000, 100_000, 1_200));

        assertThat(segments.accept(bracketed(2_000, 101_050, 2_200))).isNull();
        assertThat(segments.accept(bracketed(3_000, 102_000, 3_100))).isNull();
        assertThat(segments.accept(bracketed(4_000, 103_001, 4_100))).isEqualTo(new ClockSegment(1, 4_050, 98_951, 50));
    }

    @Test
    void earlierSegmentsAreNeverRewritten() {
        segments.accept(bracketed(1_000, 100_000, 1_200));
        AlignedStamp early = segments.align(2_000);
        segments.accept(bracketed(10_000, 200_000, 10_200));
        segments.accept(bracketed(20_000, 300_000, 20_200));

        assertThat(segments.align(2_000)).isEqualTo(early);
        assertThat(segments.align(10_099)).isEqualTo(new AlignedStamp(108_999, 100));
        assertThat(segments.align(10_100)).isEqualTo(new AlignedStamp(200_000, 100));
        assertThat(segments.align(99_999)).isEqualTo(new AlignedStamp(379_899, 100));

        // A sample that comes late would change what is aligned already.
        assertThat(segments.accept(bracketed(5_000, 999_999, 5_200))).isNull();
        assertThat(segments.accept(bracketed(20_000, 999_999, 20_200))).isNull();
        assertThat(segments.align(6_000)).isEqualTo(new AlignedStamp(104_900, 100));
    }

    @Test
    void samplesOfOtherClocksAndContradictoryOnesChangeNothing() {
        assertThat(segments.accept(new ClockSampled("engine", "gpu", 1, 2, 3, null)))
                .isNull();
        assertThat(segments.accept(new ClockSampled("engine", "engine", 1, 2, 3, null)))
                .isNull();
        assertThat(segments.accept(bracketed(1_200, 100_000, 1_000))).isNull();
        assertThat(segments.accept(new ClockSampled("engine", "wall", 1_000, 100_000, 1_000, -1L)))
                .isNull();
        assertThat(segments.accept(bracketed(Long.MIN_VALUE, Long.MAX_VALUE, 0)))
                .isNull();
        assertThat(segments.accept(new ClockSampled("engine", "wall", 0, 0, 0, Long.MAX_VALUE)))
                .isNull();

        assertThat(segments.align(5_000)).isNull();
    }

    @Test
    void aStampBeyondTheRangeOfTimeIsNotAligned() {
        segments.accept(bracketed(1_000, 100_000, 1_200));

        assertThat(segments.align(Long.MAX_VALUE)).isNull();
    }

    @Test
    void theOldestSegmentsGoWhenThereAreTooMany() {
        for (long i = 0; i < ClockSegments.MAX_SEGMENTS + 10; i++) {
            assertThat(segments.accept(bracketed(1_000 * i, 5_000 * i, 1_000 * i + 2)))
                    .isNotNull();
        }

        assertThat(segments.startNanos).hasSize(ClockSegments.MAX_SEGMENTS).isSorted();
        assertThat(segments.newest()).extracting(ClockSegment::version).isEqualTo(ClockSegments.MAX_SEGMENTS + 9L);
        assertThat(segments.align(9_500)).isNull();
        assertThat(segments.align(10_001)).isEqualTo(new AlignedStamp(50_000, 1));
    }

    @Test
    void theTruthIsWithinTheBoundAtEverySampleOfADriftingClock() {
        Random random = new Random(11);
        List<ClockSampled> samples = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            long before = i * 100_000_000L;
            long way = 6_000L + random.nextInt(20_000);
            long back = 6_000L + random.nextInt(20_000);
            samples.add(bracketed(before, truth(before + way), before + way + back));
        }
        for (ClockSampled sample : samples) {
            ClockSegment made = segments.accept(sample);
            AlignedStamp aligned = Objects.requireNonNull(segments.align(sample.afterNanos()));
            long error = Math.abs(aligned.epochNanos() - truth(sample.afterNanos()));
            long halfWidth = (sample.afterNanos() - sample.beforeNanos()) / 2 + 1;
            assertThat(error).isLessThanOrEqualTo(made == null ? 2 * halfWidth : aligned.boundNanos());
        }

        ClockSegments again = ClockSegments.between("engine", "wall");
        samples.forEach(again::accept);
        assertThat(again).usingRecursiveComparison().isEqualTo(segments);
        assertThat(segments.madeCount).isBetween(50L, 1_000L);
    }

    /** The wall clock while the engine's clock runs 10 ppm slow. */
    private static long truth(long engineNanos) {
        return 1_700_000_000_000_000_000L + engineNanos + engineNanos / 100_000;
    }

    private static ClockSampled bracketed(long before, long remote, long after) {
        return new ClockSampled("engine", "wall", before, remote, after, null);
    }
}
