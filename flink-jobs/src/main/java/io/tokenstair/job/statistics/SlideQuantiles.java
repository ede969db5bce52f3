package io.tokenstair.job.statistics;

import io.tokenstair.archive.result.Quantile;

/** Slides the {@link DurationWindow} of each key. */
public final class SlideQuantiles extends SlideWindows<DurationPane, DurationWindow, Quantile> {
    private static final long serialVersionUID = 1L;

    /**
     * Slides quantiles.
     *
     * @param holdMillis how far behind the watermark windows are told
     */
    public SlideQuantiles(long holdMillis) {
        super(holdMillis, DurationWindow.class);
    }

    @Override
    DurationWindow newWindow() {
        return new DurationWindow();
    }

    /** The text that panes of the same metric, scope, model, engine and priority share. */
    public static String key(DurationPane pane) {
        // A separator that no id contains unescaped; absent is not the same as empty.
        return pane.metric.name()
                + '\n'
                + pane.scope.name()
                + '\n'
                + pane.priority
                + '\n'
                + (pane.model == null ? "" : '=' + pane.model)
                + '\n'
                + (pane.engineId == null ? "" : '=' + pane.engineId);
    }
}
