package io.tokenstair.job.statistics;

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
        long paneStartMillis) {}
