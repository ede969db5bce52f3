package io.tokenstair.job.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.PriorityDisplacement;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.EventRoutes;
import io.tokenstair.job.statistics.DurationPane;
import io.tokenstair.job.statistics.MomentPane;
import io.tokenstair.job.statistics.PaneCounter;
import io.tokenstair.job.statistics.StatisticsOutput;
import io.tokenstair.job.step.EngineOutput;
import io.tokenstair.job.step.EngineState;
import io.tokenstair.job.step.EngineTimeline;
import io.tokenstair.job.step.SequenceFact;
import io.tokenstair.job.step.TokenBatch;
import io.tokenstair.log.FolderLogReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The recorded run with priorities: 6 seats, 4 low (10) first, then 4 high (0), later 2 low and 1 mid (5). */
class PriorityDisplacementCaptureTest {
    @TempDir
    Path folder;

    private static final class Rows implements StatisticsOutput, EngineOutput {
        private final List<PriorityDisplacement> displacement = new ArrayList<>();

        @Override
        public void durations(DurationPane pane) {
            // Not asked for.
        }

        @Override
        public void moments(MomentPane pane) {
            // Not asked for.
        }

        @Override
        public void displacement(PriorityDisplacement row) {
            displacement.add(row);
        }

        @Override
        public void tokens(TokenBatch batch) {
            // Not asked for.
        }

        @Override
        public void fact(SequenceFact fact) {
            // Not asked for.
        }

        @Override
        public void step(StepAnalysis step) {
            // Not asked for.
        }

        @Override
        public void finding(Finding finding) {
            // Not asked for.
        }

        long nanos(int winner, int loser) {
            return displacement.stream()
                    .filter(row -> row.winnerPriority() == winner && row.loserPriority() == loser)
                    .mapToLong(PriorityDisplacement::displacedNanos)
                    .sum();
        }
    }

    private Rows rows(String capture) throws Exception {
        Rows rows = new Rows();
        EngineState state = new EngineState();
        EngineTimeline timeline = new EngineTimeline(state, rows, rows, new PaneCounter(rows::durations));
        Path log = Captures.log(capture, folder.resolve(capture));
        try (FolderLogReader reader = new FolderLogReader(log.resolve("partition-0000"), 0)) {
            for (byte[] bytes = reader.next(); bytes != null; bytes = reader.next()) {
                LoggedEvent logged = EventCodec.decode(bytes);
                String engineId = EventRoutes.engineOf(logged.event());
                if (engineId != null) {
                    state.engineId = engineId;
                    timeline.accept(logged, bytes);
                }
            }
        }
        timeline.finish();
        return rows;
    }

    @Test
    void theUrgentOnesWaitForSeatsOfTheOthersAndTakeTheirBlocks() throws Exception {
        Rows rows = rows("priority");

        // high-2 and high-3 wait 2.2 and 2.6 s though they are the most urgent: a waiting request takes nobody's seat.
        assertThat(rows.displacement)
                .filteredOn(row -> row.winnerPriority() == 10 && row.loserPriority() == 0)
                .singleElement()
                .satisfies(row -> {
                    assertThat(row.displacedNanos()).isBetween(4_600_000_000L, 5_000_000_000L);
                    assertThat(row.loserCount()).isEqualTo(2);
                    assertThat(row.worstRequestId()).isEqualTo("high-3");
                    assertThat(row.worstNanos()).isBetween(2_500_000_000L, 2_700_000_000L);
                });
        // The low ones lose their blocks to them and come back late, the late ones wait for their seats: 4.3 s at most.
        assertThat(rows.displacement)
                .filteredOn(row -> row.winnerPriority() == 0 && row.loserPriority() == 10)
                .singleElement()
                .satisfies(row -> {
                    assertThat(row.displacedNanos()).isPositive();
                    assertThat(row.worstRequestId()).startsWith("latelow-");
                    assertThat(row.worstNanos()).isLessThan(4_400_000_000L);
                });
        assertThat(rows.nanos(0, 5) + rows.nanos(10, 5)).isPositive();
        assertThat(rows.displacement).noneMatch(row -> row.winnerPriority() == row.loserPriority());
    }

    @Test
    void runsWithOnePriorityPushNobodyBack() throws Exception {
        assertThat(rows("kv_pressure_preemption").displacement).isEmpty();
    }
}
