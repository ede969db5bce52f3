package io.tokenstair.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StepLawTest {
    @ParameterizedTest
    @CsvSource({"1,1", "2,2", "3,4", "4,4", "5,8", "9,16", "64,64", "65,72", "256,256", "257,272", "500,512"})
    void aBatchIsPaddedToTheNextCapturedSize(int batch, int padded) {
        assertThat(StepLaw.padded(batch)).isEqualTo(padded);
    }

    @Test
    void theGemmTableIsATableAndNotALine() {
        assertThat(StepLaw.gemmNanos(136)).isGreaterThan(1.35 * StepLaw.gemmNanos(128));
        // Not monotone either.
        assertThat(StepLaw.gemmNanos(192)).isLessThan(StepLaw.gemmNanos(136));
        assertThat(StepLaw.gemmNanos(1)).isEqualTo(8.8e6);
    }

    @Test
    void aUsualStepTakesAboutTwelveMillis() {
        assertThat(StepLaw.decodeOnlyNanos(30, 18_000, false)).isBetween(11_500_000L, 13_500_000L);
    }

    @Test
    void aCounterfactualDiffersInWhatWasTakenOutAlone() {
        StepCost.Conditions noisy = new StepCost.Conditions(1.03, 1, 1, 0, false, 512);
        StepWork work = new StepWork(30, 18_000, 0, 0, 0);
        StepWork with = new StepWork(31, 18_000, 1, 33_000 * 500, 1.7 * 500 * 250);

        long difference =
                StepCost.of(with, noisy).totalNanos() - StepCost.of(work, noisy).totalNanos();

        assertThat(StepLaw.padded(30)).isEqualTo(StepLaw.padded(31));
        assertThat(difference)
                .isBetween(
                        Math.round(1.03 * (33_000 * 500 + 1.7 * 500 * 250 + StepLaw.PIECEWISE_NANOS)),
                        Math.round(1.03 * (33_000 * 500 + 1.7 * 500 * 250 + StepLaw.PIECEWISE_NANOS)) + 10_000);
    }

    @Test
    void aBatchAboveTheLargestGraphRunsEagerly() {
        StepWork work = new StepWork(41, 18_000, 0, 0, 0);
        StepCost.Conditions small = new StepCost.Conditions(1, 1, 1, 0, false, 40);

        assertThat(StepCost.mode(work, small)).isEqualTo(StepCost.GraphMode.EAGER);
        assertThat(StepCost.of(work, small).totalNanos()
                        - StepCost.of(work, small.launched(false)).totalNanos())
                .isEqualTo(StepLaw.EAGER_NANOS);
    }
}
