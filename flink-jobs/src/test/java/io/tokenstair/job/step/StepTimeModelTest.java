package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;

class StepTimeModelTest {
    private static final int STEPS = 1_000;

    @Test
    void learnsALinearEngineWithinAFewPercent() {
        StepTimeModel.State model = learnt(STEPS, 7);
        Random random = new Random(8);

        for (int i = 0; i < 200; i++) {
            StepLoad load = load(random);
            assertThat(StepTimeModel.predictNanos(model, load) / trueNanos(load))
                    .isCloseTo(1, within(0.04));
        }
    }

    @Test
    void tellsWhatEachFactorCosts() {
        StepTimeModel.State model = learnt(STEPS, 7);

        assertThat(StepTimeModel.residentNanos(model, 1_000)).isCloseTo(1e6, within(0.1e6));
        assertThat(StepTimeModel.sequencesNanos(model, 8)).isCloseTo(0.8e6, within(0.25e6));
        assertThat(StepTimeModel.promptNanos(model, 100, 0)).isCloseTo(15e6, within(1.5e6));
    }

    @Test
    void termsSumToThePrediction() {
        StepTimeModel.State model = learnt(STEPS, 3);
        StepLoad small = StepLoad.decodeOnly(3, 900);
        StepLoad large = new StepLoad(8, 4_000, 256, StepLoad.attention(256, 512));

        double byTerms = StepTimeModel.predictNanos(model, small)
                + StepTimeModel.sequencesNanos(model, 5)
                + StepTimeModel.residentNanos(model, 3_100)
                + StepTimeModel.promptNanos(model, large.promptTokens(), large.promptAttention());

        assertThat(StepTimeModel.predictNanos(model, large)).isCloseTo(byTerms, within(1.0));
    }

    @Test
    void isWarmAfterSixteenDecodeOnlySteps() {
        StepTimeModel.State model = new StepTimeModel.State();
        StepLoad prompt = new StepLoad(1, 0, 512, StepLoad.attention(512, 512));
        for (int i = 0; i < 100; i++) {
            StepTimeModel.learn(model, prompt, 80_000_000);
        }
        assertThat(StepTimeModel.isWarm(model)).isFalse();
        for (int i = 0; i < StepTimeModel.WARM_STEPS; i++) {
            assertThat(StepTimeModel.isWarm(model)).isFalse();
            StepTimeModel.learn(model, StepLoad.decodeOnly(2, 500), 6_000_000);
        }
        assertThat(StepTimeModel.isWarm(model)).isTrue();
    }

    @Test
    void aStepThatEndsRightAfterALateOneDoesNotOutweighTheOthers() {
        StepTimeModel.State model = new StepTimeModel.State();
        StepLoad load = StepLoad.decodeOnly(4, 2_000);
        for (int i = 0; i < 200; i++) {
            StepTimeModel.learn(model, load, i % 5 == 0 ? 300_000 : 13_000_000, 6_500_000);
        }
        assertThat(StepTimeModel.predictNanos(model, load)).isBetween(9e6, 13.5e6);
    }

    @Test
    void neverExpectsLessThanNothing() {
        Random random = new Random(1);
        StepTimeModel.State model = new StepTimeModel.State();
        for (int i = 0; i < 2_000; i++) {
            // Time that has nothing to do with the load, and falls with it now and then.
            StepTimeModel.learn(model, load(random), Math.max(0, random.nextInt(40_000_000) - 5_000_000));
            for (double coefficient : model.coefficients) {
                assertThat(coefficient).isBetween(0.0, 1e12);
            }
            assertThat(StepTimeModel.predictNanos(model, load(random))).isPositive();
        }
    }

    @Test
    void doesNotLearnABurstOfFaults() {
        StepTimeModel.State model = learnt(STEPS, 5);
        StepLoad usual = StepLoad.decodeOnly(6, 3_000);
        double before = StepTimeModel.predictNanos(model, usual);
        for (int i = 0; i < 20; i++) {
            StepTimeModel.learn(model, usual, 400_000_000);
        }

        assertThat(StepTimeModel.predictNanos(model, usual)).isCloseTo(before, within(0.05 * before));
    }

    @Test
    void followsAnEngineThatBecomesSlowerForGood() {
        StepTimeModel.State model = learnt(STEPS, 5);
        Random random = new Random(9);
        for (int i = 0; i < 6_000; i++) {
            StepLoad load = load(random);
            StepTimeModel.learn(model, load, Math.round(1.5 * trueNanos(load)));
        }
        StepLoad usual = StepLoad.decodeOnly(6, 3_000);

        assertThat(StepTimeModel.predictNanos(model, usual) / trueNanos(usual)).isCloseTo(1.5, within(0.1));
    }

    @Test
    void sameStepsGiveTheSameBits() {
        assertThat(learnt(STEPS, 7).coefficients).containsExactly(learnt(STEPS, 7).coefficients);
    }

    private static StepTimeModel.State learnt(int steps, long seed) {
        Random random = new Random(seed);
        StepTimeModel.State model = new StepTimeModel.State();
        for (int i = 0; i < steps; i++) {
            StepLoad load = load(random);
            double noise = 1 + 0.01 * Math.max(-3, Math.min(3, random.nextGaussian()));
            StepTimeModel.learn(model, load, Math.round(trueNanos(load) * noise));
        }
        return model;
    }

    /** One step in five computes prompt tokens too. */
    private static StepLoad load(Random random) {
        int sequences = 1 + random.nextInt(16);
        long resident = sequences * (100L + random.nextInt(900));
        int prompt = random.nextInt(5) == 0 ? 16 + random.nextInt(240) : 0;
        return new StepLoad(sequences, resident, prompt, StepLoad.attention(prompt, prompt));
    }

    /** 5 ms, 0.1 ms a sequence, 1 us a resident token, 0.15 ms a prompt token. */
    private static double trueNanos(StepLoad load) {
        return 5e6 + 1e5 * load.sequences() + 1e3 * load.residentTokens() + 1.5e5 * load.promptTokens();
    }
}
