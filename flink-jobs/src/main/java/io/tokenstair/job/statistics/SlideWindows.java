package io.tokenstair.job.statistics;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Slides the window of each key. A timer says only when a window is told: what is in it was decided by event time, and
 * the hold is longer than any operator before this one speaks late. State: one window per key, cleared when it is empty.
 *
 * @param <P> a pane
 * @param <W> the panes that some window still needs
 * @param <R> what is told of a window
 */
abstract class SlideWindows<P, W extends SlidingWindow<P, R>, R> extends KeyedProcessFunction<String, P, R> {
    private static final long serialVersionUID = 1L;

    private final long holdMillis;
    private final Class<W> windowClass;
    private transient ValueState<W> windowState;
    private transient Counter tooLate;

    /**
     * Slides windows.
     *
     * @param holdMillis how far behind the watermark windows are told
     * @param windowClass class of the state
     */
    SlideWindows(long holdMillis, Class<W> windowClass) {
        this.holdMillis = holdMillis;
        this.windowClass = windowClass;
    }

    /** Makes a window of a key that has none. */
    abstract W newWindow();

    @Override
    public void open(OpenContext context) {
        windowState =
                getRuntimeContext().getState(new ValueStateDescriptor<>("window", TypeInformation.of(windowClass)));
        tooLate = getRuntimeContext().getMetricGroup().counter("panesTooLate");
    }

    @Override
    public void processElement(P part, Context context, Collector<R> out) throws Exception {
        W window = windowState.value();
        if (window == null) {
            window = newWindow();
        }
        if (window.add(part)) {
            arm(window, context);
        } else {
            tooLate.inc();
        }
        windowState.update(window);
    }

    private void arm(W window, Context context) {
        long end = window.nextEndMillis();
        long timer = end == Long.MAX_VALUE ? Long.MAX_VALUE : end + holdMillis;
        if (window.timer() == timer) {
            return;
        }
        if (window.timer() != Long.MIN_VALUE) {
            context.timerService().deleteEventTimeTimer(window.timer());
        }
        window.timer(timer);
        context.timerService().registerEventTimeTimer(timer);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<R> out) throws Exception {
        W window = windowState.value();
        if (window == null) {
            return;
        }
        window.timer(Long.MIN_VALUE);
        long watermark = context.timerService().currentWatermark();
        window.tell(watermark == Long.MAX_VALUE ? Long.MAX_VALUE : watermark - holdMillis, out::collect);
        if (window.hasNothingLeft()) {
            windowState.clear();
        } else {
            arm(window, context);
            windowState.update(window);
        }
    }
}
