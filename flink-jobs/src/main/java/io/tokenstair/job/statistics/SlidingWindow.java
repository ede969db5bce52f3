package io.tokenstair.job.statistics;

import java.util.function.Consumer;

/**
 * Panes of one key that some window still needs, as {@link SlideWindows} keeps them.
 *
 * @param <P> a pane
 * @param <R> what is told of a window
 */
interface SlidingWindow<P, R> {
    /** Takes a pane or a part of one. Returns false when a window with it was told already: it came too late. */
    boolean add(P part);

    /** End of the next window to tell; {@link Long#MAX_VALUE} when only undated input or nothing is left. */
    long nextEndMillis();

    /** Tells every window that ends at or before this event time, and the one of undated input when it is {@link Long#MAX_VALUE}. */
    void tell(long completeToMillis, Consumer<R> output);

    /** Whether no window will need anything of it. */
    boolean hasNothingLeft();

    /** The timer that is set, or {@link Long#MIN_VALUE}. */
    long timer();

    /** Notes the timer that is set. */
    void timer(long millis);
}
