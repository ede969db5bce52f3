package io.tokenstair.job.statistics;

/** Panes of event time: windows are made of whole ones. */
public final class Panes {
    /** Length of a pane of quantiles and of displacement, in ms. */
    public static final long MILLIS = 10_000;

    /** Length of a window of quantiles, in ms. */
    public static final long WINDOW_MILLIS = 60_000;

    /** Length of a pane of moments, in ms. */
    public static final long MOMENT_MILLIS = 30_000;

    /** Length of a window of moments, in ms. */
    public static final long MOMENT_WINDOW_MILLIS = 300_000;

    /** The one pane of all input that has no wall time. */
    public static final long UNDATED = Long.MAX_VALUE;

    private Panes() {}

    /** Start of the pane of this length that an event time lies in. */
    public static long startMillis(long epochMillis, long paneMillis) {
        return epochMillis == UNDATED ? UNDATED : Math.floorDiv(epochMillis, paneMillis) * paneMillis;
    }

    /** End of a pane: the first event time after it. */
    static long endMillis(long startMillis, long paneMillis) {
        return startMillis == UNDATED ? UNDATED : startMillis + paneMillis;
    }

    /**
     * End of the next window to tell.
     *
     * @param firstStartMillis start of the first pane that is left
     * @param toldEndMillis end of the last window that was told; {@link Long#MIN_VALUE} before the first
     * @param paneMillis length of a pane
     */
    static long nextEndMillis(long firstStartMillis, long toldEndMillis, long paneMillis) {
        long firstEnd = endMillis(firstStartMillis, paneMillis);
        return toldEndMillis == Long.MIN_VALUE || firstEnd > toldEndMillis ? firstEnd : toldEndMillis + paneMillis;
    }
}
