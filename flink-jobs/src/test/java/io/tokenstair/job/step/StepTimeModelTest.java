package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
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
        StepLoad small = StepLoad.decodeOnly(8, 900);
        StepLoad large = new StepLoad(8, 4_000, 256, StepLoad.pairs(256, 512));

        double byTerms = StepTimeModel.predictNanos(model, small)
                + StepTimeModel.residentNanos(model, 3_100)
                + StepTimeModel.promptNanos(model, large.promptTokens(), large.promptPairs());

        assertThat(StepTimeModel.predictNanos(model, large)).isCloseTo(byTerms, within(1.0));
    }

    @Test
    void isWarmAfterSixteenDecodeOnlySteps() {
        StepTimeModel.State model = new StepTimeModel.State();
        StepLoad prompt = new StepLoad(1, 0, 512, StepLoad.pairs(512, 512));
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
    void aSizeThatWasExtrapolatedToNothingDoesNotOutweighTheOthers() {
        StepTimeModel.State model = new StepTimeModel.State();
        StepLoad usual = StepLoad.decodeOnly(4, 2_000);
        StepLoad prompt = new StepLoad(4, 2_000, 2_000, StepLoad.pairs(2_000, 2_000));
        StepLoad cheapPrompt = new StepLoad(9, 2_000, 2_000, StepLoad.pairs(2_000, 2_000));
        for (int i = 0; i < 400; i++) {
            StepTimeModel.learn(model, usual, 13_000_000);
            StepTimeModel.learn(model, prompt, 79_000_000);
            if (i % 4 == 0) {
                StepTimeModel.learn(model, cheapPrompt, 20_000_000);
            }
        }
        // By those prompts a step of nine without one takes less than nothing.
        StepLoad unknown = StepLoad.decodeOnly(9, 2_000);
        assertThat(StepTimeModel.predictNanos(model, unknown)).isLessThan(1e6);
        for (int i = 0; i < 100; i++) {
            StepTimeModel.learn(model, unknown, 14_000_000);
        }

        assertThat(Math.sqrt(model.weights / model.gram[0])).isBetween(5e6, 30e6);
        assertThat(StepTimeModel.predictNanos(model, unknown)).isGreaterThan(2e6);
        assertThat(StepTimeModel.predictNanos(model, usual)).isBetween(12e6, 15e6);
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

    // ---- the table

    @Test
    void learnsStairsThatAreNotMonotone() {
        Engine engine = new Engine(11);
        engine.run(6_000);

        for (int padded : new int[] {8, 64, 72, 128, 136, 192, 200, 256}) {
            StepLoad load = engine.load(padded - 3, GraphMode.FULL, 50_000);
            assertThat(engine.snapshot.expectedNanos(load) / engine.meanNanos(load))
                    .as("padded to %d", padded)
                    .isCloseTo(1, within(0.02));
            assertThat(engine.snapshot.expect(load).basis()).isEqualTo(StepExpectation.Basis.LEARNT);
        }
    }

    @Test
    void aSizeThatWasNotSeenIsBetweenItsNeighboursAndSaysSo() {
        Engine engine = new Engine(12);
        engine.without = 80;
        engine.run(6_000);
        StepLoad unseen = engine.load(78, GraphMode.FULL, 50_000);

        assertThat(engine.snapshot.expect(unseen).basis()).isEqualTo(StepExpectation.Basis.NEIGHBOURS);
        assertThat(engine.snapshot.expectedNanos(unseen) / engine.meanNanos(unseen))
                .isCloseTo(1, within(0.05));
    }

    @Test
    void aGraphModeThatWasNotSeenIsNoGarbageAndIsLearntAtOnce() {
        Engine engine = new Engine(13);
        engine.run(3_000);
        StepLoad eager = engine.load(60, GraphMode.EAGER, 50_000);

        assertThat(engine.snapshot.expect(eager).basis()).isEqualTo(StepExpectation.Basis.OTHER_MODE);
        assertThat(engine.snapshot.expectedNanos(eager) / engine.meanNanos(eager))
                .isBetween(0.5, 1.1);
        assertThat(engine.snapshot.expect(eager).graphNanos()).isZero();
        for (int i = 0; i < 4; i++) {
            engine.step(eager, Math.round(engine.meanNanos(eager)));
        }
        assertThat(engine.snapshot.expect(eager).basis()).isEqualTo(StepExpectation.Basis.LEARNT);
        assertThat(engine.snapshot.expectedNanos(eager) / engine.meanNanos(eager))
                .isCloseTo(1, within(0.05));
        assertThat((double) engine.snapshot.expect(eager).graphNanos()).isCloseTo(4e6, within(1e6));
    }

    @Test
    void aFirstStepThatCompilesIsForgottenWithinAFewSteps() {
        Engine engine = new Engine(14);
        engine.without = 80;
        engine.run(3_000);
        StepLoad load = engine.load(78, GraphMode.FULL, 50_000);
        engine.step(load, 2_000_000_000);
        for (int i = 0; i < 8; i++) {
            engine.step(load, Math.round(engine.meanNanos(load)));
        }

        assertThat(engine.snapshot.expectedNanos(load) / engine.meanNanos(load)).isCloseTo(1, within(0.05));
    }

    // ---- faults and changes

    @Test
    void doesNotLearnAFaultOfAMinute() {
        Engine engine = new Engine(15);
        engine.run(4_000);
        StepLoad usual = engine.load(60, GraphMode.FULL, 50_000);
        double before = engine.snapshot.expectedNanos(usual);
        engine.factor = 1.4;
        engine.run(3_000);

        assertThat(engine.snapshot.expectedNanos(usual)).isCloseTo((long) before, within((long) (0.05 * before)));
    }

    @Test
    void followsAChangeThatLastsAndComesBackSooner() {
        Engine engine = new Engine(16);
        engine.run(4_000);
        StepLoad usual = engine.load(60, GraphMode.FULL, 50_000);
        engine.factor = 1.4;
        engine.run(6_000);
        assertThat(engine.snapshot.expectedNanos(usual) / engine.meanNanos(usual))
                .isCloseTo(1.4, within(0.05));

        engine.factor = 1;
        engine.run(1_000);
        assertThat(engine.snapshot.expectedNanos(usual) / engine.meanNanos(usual))
                .isCloseTo(1, within(0.05));
    }

    @Test
    void aRiseIsNotTakenForThePriceOfTheContextThatGrowsMeanwhile() {
        Engine engine = new Engine(18);
        engine.run(2_000);
        StepLoad small = engine.load(20, GraphMode.FULL, 8_000);
        StepLoad large = engine.load(20, GraphMode.FULL, 60_000);
        for (int i = 0; i < 600; i++) {
            // Twenty long answers: contexts grow evenly, and the level rises by 12 % at a point in time.
            StepLoad load = engine.load(20, GraphMode.FULL, 8_000 + 40L * i);
            double noise = 1 + 0.015 * Math.max(-3, Math.min(3, engine.random.nextGaussian()));
            engine.step(load, Math.round(engine.meanNanos(load) * noise * (i < 200 ? 1 : 1.12)));
        }

        assertThat(engine.snapshot.expectedNanos(small) / engine.meanNanos(small))
                .isCloseTo(1, within(0.02));
        assertThat(engine.snapshot.expectedNanos(large) / engine.meanNanos(large))
                .isCloseTo(1, within(0.02));
        assertThat(engine.model.level.slower).isCloseTo(0.12, within(0.02));
    }

    @Test
    void aSizeThatCameWithAFaultIsLearntWhenThatHasEnded() {
        Engine engine = new Engine(19);
        for (int i = 0; i < 2_000; i++) {
            StepLoad load = engine.load(9 + i % 8, GraphMode.FULL, 8_000 + 10L * (i % 100));
            engine.step(load, Math.round(engine.meanNanos(load) * (1 + 0.015 * engine.random.nextGaussian())));
        }
        for (int i = 0; i < 500; i++) {
            StepLoad load = engine.load(i < 60 ? 16 : 17 + i % 8, GraphMode.FULL, 9_000);
            double fault = i < 120 ? 1.5 : 1;
            engine.step(load, Math.round(engine.meanNanos(load) * fault * (1 + 0.015 * engine.random.nextGaussian())));
        }
        StepLoad met = engine.load(20, GraphMode.FULL, 9_000);

        assertThat(engine.snapshot.expectedNanos(met) / engine.meanNanos(met)).isCloseTo(1, within(0.03));
        assertThat(engine.model.level.slower).isZero();
    }

    @Test
    void aLevelIsUsualOnceItLastedFourTimesAsLongAsTheOneBefore() {
        Engine engine = new Engine(20);
        engine.run(1_000);
        StepLoad usual = engine.load(60, GraphMode.FULL, 50_000);
        engine.factor = 1.3;
        engine.run(1_500);
        assertThat(engine.snapshot.expectedNanos(usual) / engine.meanNanos(usual))
                .isCloseTo(1, within(0.03));
        engine.run(2_000);
        assertThat(engine.snapshot.expectedNanos(usual) / engine.meanNanos(usual))
                .isCloseTo(1.3, within(0.03));
        assertThat(engine.model.level.believed).isCloseTo(1.3, within(0.03));
    }

    @Test
    void oneStepInTwentyThatIsSlowMovesNothing() {
        Engine engine = new Engine(17);
        engine.faultEvery = 20;
        engine.run(6_000);
        StepLoad usual = engine.load(60, GraphMode.FULL, 50_000);

        assertThat(engine.snapshot.expectedNanos(usual) / engine.meanNanos(usual))
                .isCloseTo(1, within(0.02));
    }

    // ---- what cannot be

    @Test
    void stepsThatCannotBeAreCountedAndChangeNothing() {
        StepTimeModel.State model = learnt(STEPS, 5);
        StepTimeModel.State same = learnt(STEPS, 5);
        StepLoad usual = StepLoad.decodeOnly(6, 3_000);
        long year = 365L * 24 * 3_600 * 1_000_000_000;
        StepTimeModel.learn(model, usual, year);
        StepTimeModel.learn(model, usual, 0);
        StepTimeModel.learn(model, usual, -5, 1_000_000);
        StepTimeModel.learn(model, usual, Long.MIN_VALUE);
        StepTimeModel.learn(model, usual, Long.MAX_VALUE);
        StepTimeModel.learn(model, StepLoad.decodeOnly(0, 0), 5_000_000);
        StepTimeModel.learn(model, StepLoad.decodeOnly(Integer.MAX_VALUE, 10), 5_000_000);
        StepTimeModel.learn(model, StepLoad.decodeOnly(6, Long.MAX_VALUE), 5_000_000);
        StepTimeModel.learn(model, StepLoad.decodeOnly(6, -1), 5_000_000);
        StepTimeModel.learn(model, new StepLoad(6, 3_000, Long.MAX_VALUE, 0), 5_000_000);
        StepTimeModel.learn(model, new StepLoad(6, 3_000, 5, Long.MAX_VALUE), 5_000_000);

        assertThat(model.refusedSteps).isEqualTo(11);
        assertThat(model.coefficients).containsExactly(same.coefficients);
        assertThat(StepTimeModel.predictNanos(model, usual)).isEqualTo(StepTimeModel.predictNanos(same, usual));
    }

    @Test
    void theLargestThatCanBeDoesNotSpoilTheRest() {
        Engine engine = new Engine(18);
        engine.run(3_000);
        StepLoad usual = engine.load(60, GraphMode.FULL, 50_000);
        engine.step(new StepLoad(60, 64, GraphMode.FULL, 10_000_000_000L, 0, 0, 0, 0), 12_000_000);
        engine.step(new StepLoad(65_536, 65_536, GraphMode.FULL, 50_000, 0, 0, 0, 0), 12_000_000);
        engine.step(
                new StepLoad(60, 64, GraphMode.FULL, 50_000, 100_000_000, 0, 1_000_000_000_000_000L, 0), 12_000_000);
        engine.run(200);

        assertThat(engine.snapshot.expectedNanos(usual) / engine.meanNanos(usual))
                .isCloseTo(1, within(0.03));
    }

    @Test
    void attachesInTheMiddleOfALife() {
        Engine engine = new Engine(19);
        engine.stepId = 5_000_000;
        engine.run(15);
        assertThat(engine.snapshot.version).isZero();
        engine.run(200);
        assertThat(engine.snapshot.version).isPositive();
        assertThat(engine.snapshot.validFromStepId).isGreaterThan(5_000_015);
    }

    // ---- versions

    @Test
    void versionsFollowEachOtherAtABoundedRate() {
        Engine engine = new Engine(20);
        engine.run(20_000);

        for (int i = 1; i < engine.versions.size(); i++) {
            StepTimeSnapshot before = engine.versions.get(i - 1);
            StepTimeSnapshot after = engine.versions.get(i);
            assertThat(after.version).isEqualTo(before.version + 1);
            assertThat(after.validFromStepId).isGreaterThan(before.validFromStepId);
            assertThat(after.validFromStepId - before.validFromStepId).isLessThanOrEqualTo(256);
        }
        assertThat(engine.versions.size()).isLessThan(20_000 / 16 + 256 + 8 * 60);
    }

    @Test
    void aVersionIsWhatWasLearntUpToRounding() {
        Engine engine = new Engine(21);
        engine.run(5_000);
        engine.snapshot = new StepTimeSnapshot();
        engine.run(1);
        for (int sequences = 1; sequences < 250; sequences += 7) {
            StepLoad load = engine.load(sequences, GraphMode.FULL, 30_000);
            assertThat((double) engine.snapshot.expectedNanos(load))
                    .isCloseTo(StepTimeModel.predictNanos(engine.model, load), within(10.0));
        }
    }

    /** An engine with captured graphs and stairs, and the model that learns it. */
    private static final class Engine {
        private final Random random;
        private final StepTimeModel.State model = new StepTimeModel.State();
        private final List<StepTimeSnapshot> versions = new ArrayList<>();
        private StepTimeSnapshot snapshot = new StepTimeSnapshot();
        private long stepId;
        private double factor = 1;
        private int without;
        private int faultEvery;

        Engine(long seed) {
            random = new Random(seed);
        }

        StepLoad load(int sequences, GraphMode mode, long resident) {
            int padded = BatchBucket.paddedCount(sequences, sequences, 0, 0, mode);
            return new StepLoad(sequences, padded, mode, resident, 0, 0, 0, 0);
        }

        double meanNanos(StepLoad load) {
            int padded = load.paddedCount();
            double table = padded <= 64 ? 8.5e6 : padded <= 128 ? 9.8e6 : padded <= 192 ? 13.6e6 : 11.4e6;
            double launch = load.graphMode() == GraphMode.EAGER ? 4e6 : 0;
            return table + launch + 5e3 * load.sequences() + 76 * load.residentTokens() + 33e3 * load.promptTokens();
        }

        void run(int steps) {
            for (int i = 0; i < steps; i++) {
                int sequences = 1 + random.nextInt(250);
                if (BatchBucket.paddedCount(sequences, sequences, 0, 0, GraphMode.FULL) == without) {
                    sequences = 3;
                }
                StepLoad load = load(sequences, GraphMode.FULL, sequences * (300L + random.nextInt(600)));
                double noise = 1 + 0.015 * Math.max(-3, Math.min(3, random.nextGaussian()));
                double fault = faultEvery > 0 && random.nextInt(faultEvery) == 0 ? 3 : 1;
                step(load, Math.round(meanNanos(load) * factor * noise * fault));
            }
        }

        void step(StepLoad load, long stepNanos) {
            StepTimeModel.learn(model, load, stepNanos);
            stepId++;
            StepTimeSnapshot next =
                    StepTimeModel.publish(model, snapshot, load, load(60, GraphMode.FULL, 50_000), stepId);
            if (next != snapshot) {
                versions.add(next);
            }
            snapshot = next;
        }
    }

    // ---- a linear engine

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
        return new StepLoad(sequences, resident, prompt, StepLoad.pairs(prompt, prompt));
    }

    /** 5 ms, 0.1 ms a sequence, 1 us a resident token, 0.15 ms a prompt token. */
    private static double trueNanos(StepLoad load) {
        return 5e6 + 1e5 * load.sequences() + 1e3 * load.residentTokens() + 1.5e5 * load.promptTokens();
    }
}
