package io.tokenstair.job.statistics;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the statistics of one engine remember: its series of blocks, its open pane of displacement, its priorities. 25 KB at most. */
public class EngineStatisticsState {
    /** Most priorities that are told apart; requests of a further one count for their engine only. */
    public static final int PRIORITIES = 32;

    public @Nullable String model;
    public BlockSeries series = new BlockSeries();
    public DisplacementPane displacement = new DisplacementPane();
    /** Priorities seen so far, in the order of their first request. */
    public List<Integer> priorities = new ArrayList<>();

    /** For Flink's serializer: nothing seen. */
    public EngineStatisticsState() {}

    /** Until when the earliest open pane runs, event time; {@link Long#MAX_VALUE} when none is open or the input is undated. */
    public long openUntilMillis() {
        long until = Long.MAX_VALUE;
        if (series.pane != null) {
            until = Panes.endMillis(series.pane.paneStartMillis, Panes.MOMENT_MILLIS);
        }
        if (!displacement.pairs.isEmpty()) {
            until = Math.min(until, Panes.endMillis(displacement.startMillis, Panes.MILLIS));
        }
        return until;
    }

    /** The priority to count under: itself, or absent when there are too many. */
    public @Nullable Integer counted(@Nullable Integer priority) {
        if (priority == null || priorities.contains(priority)) {
            return priority;
        }
        if (priorities.size() == PRIORITIES) {
            return null;
        }
        priorities.add(priority);
        return priority;
    }
}
