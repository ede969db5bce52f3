package io.tokenstair.job.staircase;

import static io.tokenstair.job.staircase.Readings.EXPECTED_NANOS;
import static io.tokenstair.job.staircase.Readings.levels;
import static io.tokenstair.job.staircase.Readings.near;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What either detector says of each shape. How often it is right is measured in the bench. */
class StaircaseDetectorTest {
    private static final long YEAR_NANOS = 365L * 86_400 * 1_000_000_000;

    static Stream<Named<StaircaseDetector>> detectors() {
        return Stream.of(Named.of("full", StaircaseDetector.FULL), Named.of("compact", StaircaseDetector.COMPACT));
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void threeLastingRisesAreAStaircaseOfUnprovenCause(StaircaseDetector detector) {
        StaircaseVerdict verdict = Readings.of(800, levels(0.1, 200, 400, 600)).judge(detector);

        assertThat(verdict.shape()).isEqualTo(StaircaseShape.STAIRCASE);
        assertThat(verdict.kvDriven()).isFalse();
        assertThat(verdict.riseCount()).isEqualTo(3);
        assertThat(verdict.rises())
                .allSatisfy(rise -> assertThat(rise.levelChangeRatio()).isBetween(0.08, 0.12));
        for (int i = 0; i < 3; i++) {
            assertThat(verdict.rises().get(i).onsetIndex()).isBetween(200 * (i + 1) - 8, 200 * (i + 1) + 8);
        }
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void twoRisesAreAStaircaseWithKvEventsAtBoth(StaircaseDetector detector) {
        Readings rises = Readings.of(600, levels(0.15, 200, 400));

        StaircaseVerdict verdict = rises.withKvEvents(near(200, 400)).judge(detector);
        assertThat(verdict.shape()).isEqualTo(StaircaseShape.STAIRCASE);
        assertThat(verdict.kvDriven()).isTrue();
        assertThat(verdict.rises())
                .allSatisfy(rise -> assertThat(rise.kvCount()).isBetween(5, 12));
        assertThat(rises.judge(detector).shape()).isEqualTo(StaircaseShape.SHIFT);
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void kvEventsThatAreAsFrequentElsewhereProveNothing(StaircaseDetector detector) {
        Readings two = Readings.of(800, levels(0.15, 300, 550));

        for (Readings readings : List.of(
                two.withKvEvents(i -> i % 3 == 0),
                two.withKvEvents(i -> true),
                two.withKvEvents(near(300)),
                two.withKvEvents(near(100, 200, 450)),
                // In bunches, two of which happen to lie at the rises.
                two.withKvEvents(i -> i % 50 < 10),
                two.withKvEvents(i -> i % 125 > 30 && i % 125 < 55),
                two.withKvEvents(near(60, 180, 300, 410, 550, 700)))) {
            StaircaseVerdict verdict = readings.judge(detector);
            assertThat(verdict.shape()).isEqualTo(StaircaseShape.SHIFT);
            assertThat(verdict.kvDriven()).isFalse();
        }
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void aStaircaseWithKvEventsElsewhereIsOfUnprovenCause(StaircaseDetector detector) {
        StaircaseVerdict verdict = Readings.of(900, levels(0.12, 200, 400, 600))
                .withKvEvents(near(80, 310, 500, 700, 760))
                .judge(detector);

        assertThat(verdict.shape()).isEqualTo(StaircaseShape.STAIRCASE);
        assertThat(verdict.kvDriven()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void oneLastingRiseIsAShiftWhateverTheKvEvents(StaircaseDetector detector) {
        StaircaseVerdict verdict =
                Readings.of(600, levels(0.3, 250)).withKvEvents(near(250)).judge(detector);

        assertThat(verdict.shape()).isEqualTo(StaircaseShape.SHIFT);
        assertThat(verdict.kvDriven()).isFalse();
        assertThat(verdict.riseCount()).isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void slowRampsAreNoStaircase(StaircaseDetector detector) {
        for (int length = 200; length <= 450; length += 25) {
            for (double height = 0.2; height < 0.65; height += 0.1) {
                int span = length;
                double top = height;
                StaircaseVerdict verdict = Readings.of(
                                900, i -> 1 + top * Math.max(0, Math.min(1, (i - 200) / (double) span)))
                        .judge(detector);

                assertThat(verdict.shape())
                        .as("%d values, %.1f high", length, height)
                        .isNotEqualTo(StaircaseShape.STAIRCASE);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void growthThatTheModelDoesNotKnowIsARamp(StaircaseDetector detector) {
        assertThat(Readings.of(1000, i -> 1 + 0.4 * i / 1000).judge(detector).shape())
                .isEqualTo(StaircaseShape.RAMP);
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void aRiseThatSoonFallsAgainIsTransientAndDoesNotCount(StaircaseDetector detector) {
        StaircaseVerdict verdict = Readings.of(400, i -> i % 100 >= 40 && i % 100 < 60 ? 1.5 : 1)
                .withKvEvents(i -> i % 100 >= 36 && i % 100 < 44)
                .judge(detector);

        // The compact detector may be too slow to see it at all.
        assertThat(verdict.shape())
                .isIn(
                        StaircaseShape.TRANSIENT,
                        detector == StaircaseDetector.COMPACT ? StaircaseShape.NONE : StaircaseShape.TRANSIENT);
        assertThat(verdict.riseCount()).isZero();
        assertThat(verdict.kvDriven()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void shortStepsOfTheLoadAreTransient(StaircaseDetector detector) {
        assertThat(Readings.of(800, i -> 1)
                        .underLoad(i -> i % 200 >= 100 && i % 200 < 108 ? 3 : 1)
                        .judge(detector)
                        .shape())
                .isEqualTo(StaircaseShape.TRANSIENT);
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void swingsUpAndDownAreNoStaircase(StaircaseDetector detector) {
        assertThat(Readings.of(1000, i -> i / 100 % 2 == 0 ? 1 : 1.2)
                        .judge(detector)
                        .shape())
                .isNotEqualTo(StaircaseShape.STAIRCASE);
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void singleSlowValuesAreNothing(StaircaseDetector detector) {
        assertThat(Readings.of(900, i -> i % 37 == 0 ? 6 : i % 101 == 0 ? 80 : 1)
                        .judge(detector)
                        .shape())
                .isEqualTo(StaircaseShape.NONE);
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void stepsOfTheExpectedTimeAreStepsOfTheLoad(StaircaseDetector detector) {
        StaircaseVerdict verdict = Readings.of(800, i -> 1)
                .underLoad(levels(0.2, 200, 400, 600))
                .withKvEvents(near(200, 400, 600))
                .judge(detector);

        assertThat(verdict.shape()).isEqualTo(StaircaseShape.LOAD);
        assertThat(verdict.kvDriven()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void aModelThatIsALittleWrongAboutEachLoadMakesNoStaircase(StaircaseDetector detector) {
        StaircaseVerdict verdict = Readings.of(800, levels(0.06, 200, 400, 600))
                .underLoad(levels(0.2, 200, 400, 600))
                .judge(detector);

        assertThat(verdict.shape()).isNotIn(StaircaseShape.STAIRCASE, StaircaseShape.SHIFT);
        assertThat(verdict.riseCount()).isZero();
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void aRiseBeyondWhatTheModelCanBeWrongByCountsWhateverTheLoadDoes(StaircaseDetector detector) {
        assertThat(Readings.of(800, levels(0.2, 200, 400, 600))
                        .underLoad(i -> i / 200 % 2 == 0 ? 1 : 1.4)
                        .judge(detector)
                        .shape())
                .isEqualTo(StaircaseShape.STAIRCASE);
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void constantTimeIsNothing(StaircaseDetector detector) {
        StaircaseState state = detector.start();
        for (int i = 0; i < 5000; i++) {
            assertThat(detector.accept(state, i, EXPECTED_NANOS, EXPECTED_NANOS, 0))
                    .isNull();
        }

        assertThat(detector.verdict(state)).isEqualTo(new StaircaseVerdict(StaircaseShape.NONE, false, 0, List.of()));
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void tooFewValuesAreNothing(StaircaseDetector detector) {
        StaircaseState state = detector.start();
        assertThat(detector.verdict(state).shape()).isEqualTo(StaircaseShape.NONE);
        for (int i = 0; i < 60; i++) {
            detector.accept(state, i, EXPECTED_NANOS * (1 + i / 10), EXPECTED_NANOS, 1);
        }

        assertThat(detector.verdict(state).shape()).isEqualTo(StaircaseShape.NONE);
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void eachRiseIsToldOnceAndSoon(StaircaseDetector detector) {
        Readings readings = Readings.of(500, levels(0.2, 100, 220, 340));
        StaircaseState state = detector.start();
        List<Rise> told = new ArrayList<>();
        for (int i = 0; i < readings.count(); i++) {
            Rise rise = detector.accept(state, i, readings.nanos(i), readings.expectedNanos(i), 0);
            if (rise != null) {
                told.add(rise);
                assertThat(i).isBetween(rise.onsetIndex() + 15, rise.onsetIndex() + 40);
            }
        }

        assertThat(told).hasSize(3);
        assertThat(told).allSatisfy(rise -> assertThat(rise.levelChangeRatio()).isBetween(0.18, 0.22));
        assertThat(detector.verdict(state).rises()).hasSize(3);
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void askingChangesNothing(StaircaseDetector detector) {
        Readings readings = Readings.of(700, levels(0.2, 100, 220, 340)).withKvEvents(near(100, 220, 340));
        StaircaseState asked = detector.start();
        StaircaseState left = detector.start();
        for (int i = 0; i < readings.count(); i++) {
            readings.feed(detector, asked, i, i + 1);
            readings.feed(detector, left, i, i + 1);
            detector.verdict(asked);
        }

        assertThat(asked).usingRecursiveComparison().isEqualTo(left);
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void valuesWithoutTimeOrExpectationAreLeftOut(StaircaseDetector detector) {
        Readings readings = Readings.of(700, levels(0.2, 100, 220, 340));
        StaircaseState dense = detector.start();
        StaircaseState sparse = detector.start();
        for (int i = 0; i < readings.count(); i++) {
            readings.feed(detector, dense, i, i + 1);
            readings.feed(detector, sparse, i, i + 1);
            detector.accept(sparse, i, readings.nanos(i) * 50, 0, 0);
            detector.accept(sparse, i, 0, EXPECTED_NANOS, 0);
            detector.accept(sparse, i, -YEAR_NANOS, EXPECTED_NANOS, 0);
            detector.accept(sparse, i, readings.nanos(i), -1, 0);
        }

        assertThat(sparse).usingRecursiveComparison().isEqualTo(dense);
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void onsetsAreRightWhereValuesAreMissing(StaircaseDetector detector) {
        StaircaseState state = detector.start();
        Readings readings = Readings.of(2400, levels(0.2, 600, 1200, 1800));
        for (int i = 0; i < readings.count(); i++) {
            if (i % 3 != 0) {
                readings.feed(detector, state, i, i + 1);
            }
        }

        assertThat(detector.verdict(state).rises())
                .extracting(Rise::onsetIndex)
                .satisfiesExactly(
                        onset -> assertThat(onset).isBetween(590, 610),
                        onset -> assertThat(onset).isBetween(1190, 1210),
                        onset -> assertThat(onset).isBetween(1790, 1810));
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void absurdTimesMakeNoNumberAbsurd(StaircaseDetector detector) {
        long[] absurd = {Long.MAX_VALUE, 1, YEAR_NANOS, EXPECTED_NANOS, Long.MIN_VALUE, 0, -1, 3};
        StaircaseState state = detector.start();
        for (int i = 0; i < 4000; i++) {
            // Indexes may be absurd as well: they never go back in what is said.
            int index = i % 500 == 7 ? Integer.MAX_VALUE : i % 300 == 9 ? Integer.MIN_VALUE : i;
            detector.accept(
                    state, index, absurd[i * 7 % 8], absurd[i * 5 / 3 % 8], i % 2 == 0 ? Integer.MAX_VALUE : -1);
            StaircaseVerdict verdict = detector.verdict(state);
            assertThat(verdict.kvDriven()).isFalse();
            for (Rise rise : verdict.rises()) {
                assertThat(rise.levelChangeRatio()).isFinite().isPositive();
                assertThat(rise.kvCount()).isBetween(0, 20);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void yearLongGapsAreFarAboveTheLevelAndNoMore(StaircaseDetector detector) {
        StaircaseState state = detector.start();
        for (int i = 0; i < 600; i++) {
            detector.accept(state, i, i < 200 ? EXPECTED_NANOS : YEAR_NANOS, EXPECTED_NANOS, 0);
        }

        StaircaseVerdict verdict = detector.verdict(state);
        assertThat(verdict.shape()).isEqualTo(StaircaseShape.SHIFT);
        assertThat(verdict.rises().get(0).levelChangeRatio()).isBetween(15.0, 20.0);
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void moreRisesThanAreRememberedAreCounted(StaircaseDetector detector) {
        StaircaseVerdict verdict =
                Readings.of(1100, i -> Math.pow(1.1, i / 100)).judge(detector);

        assertThat(verdict.riseCount()).isEqualTo(10);
        assertThat(verdict.rises()).hasSize(StaircaseState.MAX_RISES);
        assertThat(verdict.shape()).isEqualTo(StaircaseShape.STAIRCASE);
    }

    @Test
    void afterHalfAMillionTicksNothingMoreIsTakenIn() {
        StaircaseState state = StaircaseDetector.FULL.start();
        for (int i = 0; i < StaircaseDetector.MAX_TICKS + 1000; i++) {
            StaircaseDetector.FULL.accept(state, i, EXPECTED_NANOS + i % 1000, EXPECTED_NANOS, i % 7 == 0 ? 1 : 0);
        }

        assertThat(state.tickCount).isEqualTo(StaircaseDetector.MAX_TICKS);
        assertThat(java.util.Arrays.stream(state.total).min().orElseThrow()).isNotNegative();
        assertThat(StaircaseDetector.FULL.verdict(state).shape()).isEqualTo(StaircaseShape.NONE);
    }

    @Test
    void theLogarithmInFixedPointIsTheLogarithm() {
        for (long value = 1; value > 0; value = value * 3 + 1) {
            assertThat(FixedLog.of(value) / (double) (1 << FixedLog.BITS))
                    .as("%d", value)
                    .isBetween(StrictMath.log(value) - 3e-6, StrictMath.log(value) + 3e-6);
        }
        assertThat(FixedLog.of(1)).isZero();
        assertThat(FixedLog.of(Long.MAX_VALUE) / (double) (1 << FixedLog.BITS)).isBetween(43.66, 43.67);
    }
}
