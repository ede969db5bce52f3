package io.tokenstair.job.staircase;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.job.staircase.SyntheticSeries.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StaircaseDetectorTest {
    private static final int SERIES_PER_KIND = 60;
    private static final long FIRST_SEED = 20_000;
    private static final long EXPECTED = 10_000_000;

    @Test
    void staircasesAreFoundWithKvEvidence() {
        Score score = score(true);

        assertThat(score.precision()).isGreaterThanOrEqualTo(0.95);
        assertThat(score.recall()).isGreaterThanOrEqualTo(0.90);
        assertThat(score.kvDriven()).isGreaterThanOrEqualTo(0.95);
    }

    @Test
    void staircasesAreFoundByTheirShapeAlone() {
        Score score = score(false);

        assertThat(score.precision()).isGreaterThanOrEqualTo(0.95);
        assertThat(score.recall()).isGreaterThanOrEqualTo(0.80);
        assertThat(score.kvDriven()).isZero();
    }

    @Test
    void onsetsAreWithinTwelveTokensOfTheTruth() {
        int found = 0;
        int near = 0;
        int real = 0;
        for (Kind kind : List.of(Kind.STAIRS, Kind.SMALL_STAIRS_ON_GROWTH)) {
            for (int i = 0; i < SERIES_PER_KIND; i++) {
                SyntheticSeries series = SyntheticSeries.of(kind, FIRST_SEED + i);
                real += series.onsets.size();
                for (Rise rise : series.judge(true).rises()) {
                    found++;
                    near += series.onsets.stream().anyMatch(onset -> Math.abs(onset - rise.onsetTokenIndex()) <= 12)
                            ? 1
                            : 0;
                }
            }
        }

        assertThat(near / (double) found).isGreaterThanOrEqualTo(0.95);
        assertThat(near / (double) real).isGreaterThanOrEqualTo(0.80);
    }

    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {"LEVEL", "GROWTH_MODELLED", "JITTER", "PREFILL_BURSTS", "PREEMPTION_GAPS", "ONE_SHIFT"})
    void noStaircaseWhereThereIsNone(Kind kind) {
        for (int i = 0; i < 2 * SERIES_PER_KIND; i++) {
            StaircaseVerdict verdict = SyntheticSeries.of(kind, FIRST_SEED + i).judge(true);

            assertThat(verdict.shape()).as("seed %d", FIRST_SEED + i).isNotEqualTo(StaircaseShape.STAIRCASE);
            assertThat(verdict.kvDriven()).as("seed %d", FIRST_SEED + i).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {"GROWTH_NOT_MODELLED", "RAMP"})
    void growthIsARampAndHardlyEverAStaircase(Kind kind) {
        int ramps = 0;
        int staircases = 0;
        for (int i = 0; i < SERIES_PER_KIND; i++) {
            StaircaseShape shape =
                    SyntheticSeries.of(kind, FIRST_SEED + i).judge(true).shape();
            ramps += shape == StaircaseShape.RAMP ? 1 : 0;
            staircases += shape == StaircaseShape.STAIRCASE ? 1 : 0;
        }

        assertThat(ramps).isGreaterThanOrEqualTo(SERIES_PER_KIND * 3 / 4);
        assertThat(staircases).isLessThanOrEqualTo(SERIES_PER_KIND / 10);
    }

    @Test
    void batchEdgesThatTheModelExpectsAreHardlyEverStaircases() {
        int staircases = 0;
        for (int i = 0; i < SERIES_PER_KIND; i++) {
            StaircaseShape shape = SyntheticSeries.of(Kind.BATCH_EDGES, FIRST_SEED + i)
                    .judge(true)
                    .shape();
            staircases += shape == StaircaseShape.STAIRCASE ? 1 : 0;
        }

        assertThat(staircases).isLessThanOrEqualTo(SERIES_PER_KIND / 20);
    }

    @Test
    void oneLastingRiseIsAShift() {
        int shifts = 0;
        for (int i = 0; i < SERIES_PER_KIND; i++) {
            StaircaseVerdict verdict =
                    SyntheticSeries.of(Kind.ONE_SHIFT, FIRST_SEED + i).judge(true);
            shifts += verdict.shape() == StaircaseShape.SHIFT && verdict.riseCount() == 1 ? 1 : 0;
        }

        assertThat(shifts).isGreaterThanOrEqualTo(SERIES_PER_KIND * 9 / 10);
    }

    @Test
    void twoRisesAreAStaircaseOnlyWithKvEventsAtBoth() {
        StaircaseState withEvents = new StaircaseState();
        StaircaseState without = new StaircaseState();
        StaircaseState evenly = new StaircaseState();
        Random random = new Random(7);
        for (int i = 0; i < 600; i++) {
            double factor = i < 200 ? 1 : i < 400 ? 1.15 : 1.32;
            long gap = Math.round(EXPECTED * factor * (1 + 0.02 * random.nextGaussian()));
            boolean near = (i >= 194 && i < 202) || (i >= 394 && i < 402);
            StaircaseDetector.accept(withEvents, i, gap, EXPECTED, near ? 1 : 0);
            StaircaseDetector.accept(without, i, gap, EXPECTED, 0);
            StaircaseDetector.accept(evenly, i, gap, EXPECTED, i % 3 == 0 ? 1 : 0);
        }

        assertThat(StaircaseDetector.verdict(withEvents).shape()).isEqualTo(StaircaseShape.STAIRCASE);
        assertThat(StaircaseDetector.verdict(withEvents).kvDriven()).isTrue();
        assertThat(StaircaseDetector.verdict(without).shape()).isEqualTo(StaircaseShape.SHIFT);
        assertThat(StaircaseDetector.verdict(evenly).shape()).isEqualTo(StaircaseShape.SHIFT);
        assertThat(StaircaseDetector.verdict(evenly).kvDriven()).isFalse();
    }

    @Test
    void acceptReportsEachRiseOnceWithItsHeight() {
        StaircaseState state = new StaircaseState();
        List<Rise> reported = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            double factor = i < 100 ? 1 : i < 200 ? 1.1 : i < 300 ? 1.1 * 1.2 : 1.1 * 1.2 * 1.3;
            Rise rise = StaircaseDetector.accept(state, i, Math.round(EXPECTED * factor), EXPECTED, 0);
            if (rise != null) {
                reported.add(rise);
            }
        }

        assertThat(reported).extracting(Rise::onsetTokenIndex).containsExactly(100, 200, 300);
        assertThat(reported.get(0).levelChangeRatio()).isBetween(0.095, 0.105);
        assertThat(reported.get(1).levelChangeRatio()).isBetween(0.19, 0.21);
        assertThat(reported.get(2).levelChangeRatio()).isBetween(0.29, 0.31);
        StaircaseVerdict verdict = StaircaseDetector.verdict(state);
        assertThat(verdict.shape()).isEqualTo(StaircaseShape.STAIRCASE);
        assertThat(verdict.kvDriven()).isFalse();
        assertThat(verdict.rises()).isEqualTo(reported);
    }

    @Test
    void constantTimeIsNothing() {
        StaircaseState state = new StaircaseState();
        for (int i = 0; i < 5000; i++) {
            assertThat(StaircaseDetector.accept(state, i, EXPECTED, EXPECTED, 0))
                    .isNull();
        }

        assertThat(StaircaseDetector.verdict(state))
                .isEqualTo(new StaircaseVerdict(StaircaseShape.NONE, false, 0, List.of()));
    }

    @Test
    void aBurstThatEndsTakesItsRiseBack() {
        StaircaseState state = new StaircaseState();
        for (int i = 0; i < 400; i++) {
            boolean burst = i % 100 >= 40 && i % 100 < 60;
            StaircaseDetector.accept(state, i, burst ? 2 * EXPECTED : EXPECTED, EXPECTED, 0);
        }

        assertThat(StaircaseDetector.verdict(state).riseCount()).isZero();
        assertThat(StaircaseDetector.verdict(state).shape()).isEqualTo(StaircaseShape.NONE);
    }

    @Test
    void tokensWithoutTimeOrExpectationAreLeftOut() {
        SyntheticSeries series = SyntheticSeries.of(Kind.STAIRS, FIRST_SEED);
        StaircaseState dense = new StaircaseState();
        StaircaseState sparse = new StaircaseState();
        for (int i = 0; i < series.gapNanos.length; i++) {
            StaircaseDetector.accept(dense, i, series.gapNanos[i], series.expectedNanos[i], 0);
            StaircaseDetector.accept(sparse, i, series.gapNanos[i], series.expectedNanos[i], 0);
            StaircaseDetector.accept(sparse, i, series.gapNanos[i] * 50, 0, 0);
            StaircaseDetector.accept(sparse, i, 0, series.expectedNanos[i], 0);
            StaircaseDetector.accept(sparse, i, series.gapNanos[i], -1, 0);
        }

        assertThat(sparse).usingRecursiveComparison().isEqualTo(dense);
    }

    @Test
    void tooFewTokensAreNothing() {
        StaircaseState state = new StaircaseState();
        assertThat(StaircaseDetector.verdict(state).shape()).isEqualTo(StaircaseShape.NONE);
        for (int i = 0; i < 40; i++) {
            StaircaseDetector.accept(state, i, EXPECTED * (1 + i / 10), EXPECTED, 1);
        }

        assertThat(StaircaseDetector.verdict(state).shape()).isEqualTo(StaircaseShape.NONE);
    }

    @Test
    void extremeTimesDoNotBreakIt() {
        StaircaseState state = new StaircaseState();
        for (int i = 0; i < 2000; i++) {
            long gap = i % 7 == 0 ? Long.MAX_VALUE : i % 5 == 0 ? 1 : EXPECTED;
            StaircaseDetector.accept(state, i, gap, i % 11 == 0 ? Long.MAX_VALUE : EXPECTED, Integer.MAX_VALUE);
        }

        assertThat(StaircaseDetector.verdict(state).shape()).isNotEqualTo(StaircaseShape.STAIRCASE);
    }

    @Test
    void moreRisesThanAreRememberedAreCounted() {
        StaircaseState state = new StaircaseState();
        double factor = 1;
        for (int i = 0; i < 1100; i++) {
            factor *= i > 0 && i % 100 == 0 ? 1.1 : 1;
            StaircaseDetector.accept(state, i, Math.round(EXPECTED * factor), EXPECTED, 0);
        }

        StaircaseVerdict verdict = StaircaseDetector.verdict(state);
        assertThat(verdict.riseCount()).isEqualTo(10);
        assertThat(verdict.rises()).hasSize(StaircaseState.MAX_RISES);
        assertThat(verdict.shape()).isEqualTo(StaircaseShape.STAIRCASE);
    }

    private static Score score(boolean withKvEvents) {
        int found = 0;
        int foundReal = 0;
        int real = 0;
        int kvDriven = 0;
        for (Kind kind : Kind.values()) {
            for (int i = 0; i < SERIES_PER_KIND; i++) {
                StaircaseVerdict verdict =
                        SyntheticSeries.of(kind, FIRST_SEED + i).judge(withKvEvents);
                boolean staircase = verdict.shape() == StaircaseShape.STAIRCASE;
                found += staircase ? 1 : 0;
                foundReal += staircase && kind.staircase() ? 1 : 0;
                real += kind.staircase() ? 1 : 0;
                kvDriven += kind.staircase() && verdict.kvDriven() ? 1 : 0;
            }
        }
        return new Score(foundReal / (double) found, foundReal / (double) real, kvDriven / (double) real);
    }

    /** How good the verdicts are: shares of 1. */
    private record Score(double precision, double recall, double kvDriven) {}
}
