package io.tokenstair.job.statistics;

import io.tokenstair.archive.result.PriorityDisplacement;

/** Where the statistics of an engine go. */
public interface StatisticsOutput {
    /** Takes nothing. */
    StatisticsOutput NOWHERE = new StatisticsOutput() {
        @Override
        public void durations(DurationPane pane) {
            // Nobody wants it.
        }

        @Override
        public void moments(MomentPane pane) {
            // Nobody wants it.
        }

        @Override
        public void displacement(PriorityDisplacement row) {
            // Nobody wants it.
        }
    };

    /** Durations of a pane, or some of them. */
    void durations(DurationPane pane);

    /** Moments of a pane. */
    void moments(MomentPane pane);

    /** What one priority cost another one in a pane. */
    void displacement(PriorityDisplacement row);
}
