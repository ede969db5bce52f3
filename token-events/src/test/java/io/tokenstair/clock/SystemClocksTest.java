package io.tokenstair.clock;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.ClockSampled;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

class SystemClocksTest {
    @Test
    void theElapsedClockNeverGoesBack() {
        ElapsedClock clock = ElapsedClock.system();
        long before = clock.elapsedNanos();

        assertThat(clock.elapsedNanos()).isGreaterThanOrEqualTo(before);
    }

    @Test
    void theEpochClockAgreesWithTheMachine() {
        long before = System.currentTimeMillis();
        long read = EpochClock.system().epochMillis();

        assertThat(read).isBetween(before - 1, System.currentTimeMillis() + 1);
    }

    @Test
    void millisecondsRoundDownBefore1970Too() {
        EpochClock clock = () -> -1;

        assertThat(clock.epochMillis()).isEqualTo(-1);
    }

    @Test
    void aNeverDecreasingClockStandsStillWhereItsSourceStepsBack() {
        Deque<Long> readings = new ArrayDeque<>(List.of(10L, 30L, 20L, 29L, 31L));
        EpochClock clock = EpochClock.neverDecreasing(readings::remove);

        assertThat(List.of(
                        clock.epochNanos(),
                        clock.epochNanos(),
                        clock.epochNanos(),
                        clock.epochNanos(),
                        clock.epochNanos()))
                .containsExactly(10L, 30L, 30L, 30L, 31L);
    }

    @Test
    void aSamplerKeepsTheNarrowestBracket() {
        long[] widths = {900, 400, 70, 800, 60, 500, 90, 61};
        int[] reads = {0};
        long[] now = {0};
        ElapsedClock elapsed = () -> {
            now[0] += reads[0] % 2 == 1 ? widths[reads[0] / 2] : 1_000;
            reads[0]++;
            return now[0];
        };
        ClockSampled sample = new ClockSampler("mono", elapsed, "wall", () -> 1_000_000 + now[0]).sample();

        assertThat(sample.localClockId()).isEqualTo("mono");
        assertThat(sample.remoteClockId()).isEqualTo("wall");
        assertThat(sample.afterNanos() - sample.beforeNanos()).isEqualTo(60);
        assertThat(sample.remoteNanos()).isEqualTo(1_000_000 + sample.beforeNanos());
        assertThat(sample.statedBoundNanos()).isNull();
    }
}
