package io.tokenstair.bench.accuracy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The goals of clock alignment, on the links of the design, with seeds that no figure was set with. */
class ClockAccuracyTest {
    private static final int FIRST_SEED = 1_001;
    private static final int RUNS = 4;

    static List<ClockLink> links() {
        return ClockAccuracy.LINKS;
    }

    @ParameterizedTest
    @MethodSource("links")
    void aLinkOfTheDesignReachesItsGoalAndTheTruthIsAlwaysWithinTheBound(ClockLink link) {
        ClockAccuracy.Result result = new ClockAccuracy.Result();
        for (int run = 0; run < RUNS; run++) {
            ClockAccuracy.run(link, FIRST_SEED + run, result);
        }
        assertThat(result.coveredPercent()).isEqualTo(100.0);
        if (link.goalNanos() != ClockLink.NO_GOAL) {
            assertThat(result.errorNanos(95)).as("p95 of %s", link).isLessThanOrEqualTo(link.goalNanos());
        }
    }
}
