package io.tokenstair.job.statistics;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Which durations lie in a pane together.
 *
 * @param metric what they are
 * @param model served model; absent when not known
 * @param engineId the engine; absent when no engine reported
 * @param priority scheduling priority; absent when not known
 * @param paneStartMillis start of the pane, event time; {@link Panes#UNDATED} for input without wall time
 */
public record PaneKey(
        Metric metric,
        @Nullable String model,
        @Nullable String engineId,
        @Nullable Integer priority,
        long paneStartMillis) {
    /** Written out: keys are looked up for every step, and what records bring of their own is several times slower. */
    @Override
    public int hashCode() {
        int hash = 31 * metric.ordinal() + Long.hashCode(paneStartMillis);
        hash = 31 * hash + (engineId == null ? 0 : engineId.hashCode());
        hash = 31 * hash + (model == null ? 0 : model.hashCode());
        return 31 * hash + (priority == null ? 0 : priority);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof PaneKey that
                && metric == that.metric
                && paneStartMillis == that.paneStartMillis
                && Objects.equals(engineId, that.engineId)
                && Objects.equals(model, that.model)
                && Objects.equals(priority, that.priority);
    }
}
