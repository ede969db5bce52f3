package io.tokenstair.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.cause.Cause;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The law of the truth: a contribution is the gap less the gap of the same token in the same run with that fault off. Here all requests
 * come at once, so that a fault changes when steps run and never what they compute, and the law must hold to the nanosecond.
 */
class CounterfactualTest {
    private static final int REQUESTS = 24;

    private static Settings settings() {
        Settings settings = new Settings();
        settings.requests = REQUESTS;
        for (int i = 0; i < REQUESTS; i++) {
            settings.extraRequests.add(new long[] {0, 40 + 7 * i, 90 + i, 0});
        }
        return settings;
    }

    private static Simulation run(Settings settings) {
        return Simulation.run(settings, RandomStream.ofSeed(9), Layers.BASIC);
    }

    @ParameterizedTest
    @EnumSource(
            value = FaultKind.class,
            names = {
                "KERNEL_SLOW",
                "TIER_STAIR",
                "THERMAL",
                "EAGER",
                "JIT",
                "ALLOC",
                "SYNC",
                "DRIVER_ERROR",
                "COLLECTIVE",
                "HOST_PAUSE",
                "HOST_CONTENTION",
                "HOST_GAP",
                "UNRECORDED"
            })
    void aContributionIsTheGapLessTheGapWithThatFaultOff(FaultKind kind) {
        Settings settings = settings();
        settings.jitterProbability = 0;
        if (kind.strikesOnce()) {
            settings.faults.add(Fault.once(kind, 400_000_000L, 30_000_000L));
            settings.faults.add(Fault.once(kind, 600_000_000L, 70_000_000L));
        } else {
            settings.faults.add(new Fault(
                    kind, 400_000_000L, 700_000_000L, kind == FaultKind.HOST_CONTENTION ? 9_000_000L : 0, 1.4));
        }
        Simulation with = run(settings);
        Cause cause = kind.cause();
        settings.without(Set.of(cause));
        Simulation without = run(settings);

        long sum = 0;
        assertThat(without.tokens()).hasSameSizeAs(with.tokens());
        for (int i = 0; i < with.tokens().size(); i++) {
            TokenTruth token = with.tokens().get(i);
            TokenTruth baseline = without.tokens().get(i);
            long contribution = token.contributions().getOrDefault(cause, 0L);
            assertThat(token.requestId() + token.tokenIndex()).isEqualTo(baseline.requestId() + baseline.tokenIndex());
            assertThat(token.gapNanos() - contribution).isEqualTo(baseline.gapNanos());
            assertThat(baseline.contributions()).doesNotContainKey(cause);
            sum += contribution;
        }
        assertThat(sum).isPositive();
    }

    @ParameterizedTest
    @EnumSource(
            value = FaultKind.class,
            names = {"OUTPUT_STALL", "GATEWAY_BUFFERING", "NETWORK", "CLIENT_SLOW"})
    void whatDelaysADeliveryLeavesTheGapAlone(FaultKind kind) {
        Settings settings = settings();
        settings.faults.add(new Fault(kind, 300_000_000L, 900_000_000L, 150_000_000L, 0.6));
        Simulation with = run(settings);
        Cause cause = kind.cause();
        settings.without(Set.of(cause));
        Simulation without = run(settings);

        for (int i = 0; i < with.tokens().size(); i++) {
            assertThat(with.tokens().get(i).gapNanos())
                    .isEqualTo(without.tokens().get(i).gapNanos());
        }
        assertThat(with.tokens()).anyMatch(token -> token.dominantCause() == cause);
        assertThat(without.tokens()).noneMatch(token -> token.contributions().containsKey(cause));
    }

    @Test
    void aFallbackThatLastsIsUsualOnceHalfOfTheLastStepsRanSo() {
        Settings settings = settings();
        settings.jitterProbability = 0;
        settings.extraRequests.clear();
        for (int i = 0; i < REQUESTS; i++) {
            settings.extraRequests.add(new long[] {0, 40 + 7 * i, 1_400, 0});
        }
        settings.faults.add(new Fault(FaultKind.EAGER, 7_000_000_000L, 100_000_000_000L, 0, 1));
        List<TokenTruth> tokens = run(settings).tokens();

        long slow = tokens.stream()
                .filter(token -> token.dominantCause() == Cause.KERNEL_FALLBACK)
                .map(TokenTruth::tokenIndex)
                .distinct()
                .count();
        assertThat(tokens).anyMatch(token -> token.tokenIndex() > 2 * UsualStep.STEPS);
        assertThat(slow).isBetween(UsualStep.STEPS / 2L - 20, UsualStep.STEPS / 2L + 20);
    }

    @Test
    void whereNothingWasWaitedForTheContributionsAndTheNoiseAreTheWholeExcess() {
        List<TokenTruth> tokens = Simulation.run(Scenario.PREFILL_INTERFERENCE, 2, 120, Layers.BASIC)
                .tokens();
        int checked = 0;
        for (TokenTruth token : tokens) {
            // The first token's own prompt is no contribution; a queue's wait holds what others computed meanwhile.
            if (token.tokenIndex() < 20) {
                continue;
            }
            long sum = token.contributions().values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
            long rest = token.gapNanos() - token.baselineNanos() - sum;
            assertThat(Math.abs(rest)).isLessThan(token.gapNanos() / 8);
            checked++;
        }
        assertThat(checked).isGreaterThan(5_000);
    }

    @Test
    void switchingOneFaultOffLeavesAllOtherNumbersAsTheyWere() {
        Simulation with = Simulation.run(Scenario.MIXED, 1, 80, Layers.BASIC);
        Simulation without = Simulation.run(Scenario.MIXED, 1, 80, Layers.BASIC, Set.of(Cause.STREAM_SYNC));

        assertThat(without.faults())
                .noneMatch(fault -> fault.cause() == Cause.STREAM_SYNC)
                .extracting(FaultTruth::sizeNanos)
                .isSubsetOf(with.faults().stream().map(FaultTruth::sizeNanos).toList());
        // Up to the first fault the two runs are one.
        assertThat(without.tokens().subList(0, 50)).isEqualTo(with.tokens().subList(0, 50));
    }
}
