package io.tokenstair.job.statistics;

import io.tokenstair.archive.result.Covariance;

/** Slides the {@link MomentWindow} of each engine. */
public final class SlideCovariance extends SlideWindows<MomentPane, MomentWindow, Covariance> {
    private static final long serialVersionUID = 1L;

    /**
     * Slides covariances.
     *
     * @param holdMillis how far behind the watermark windows are told
     */
    public SlideCovariance(long holdMillis) {
        super(holdMillis, MomentWindow.class);
    }

    @Override
    MomentWindow newWindow() {
        return new MomentWindow();
    }
}
