package io.tokenstair.job.statistics;

import io.tokenstair.archive.result.Quantile;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Slides the {@link DurationWindow} of each key. A timer says only when a window is told: what is in it was decided by event time, and
 * the hold is longer than any operator before this one speaks late. State: one window per key, cleared when it is empty.
 */
public final class SlideQuantiles extends KeyedProcessFunction<String, DurationPane, Quantile> {
    private static final long serialVersionUID = 1L;

    private final long holdMillis;
    private transient ValueState<DurationWindow> windowState;
    private transient Counter tooLate;

    /**
     * Slides quantiles.
     *
     * @param holdMillis how far behind the watermark windows are told
     */
    public SlideQuantiles(long holdMillis) {
        this.holdMillis = holdMillis;
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

    @Override
    public void open(OpenContext context) {
        windowState = getRuntimeContext()
                .getState(new ValueStateDescriptor<>("window", TypeInformation.of(DurationWindow.class)));
        tooLate = getRuntimeContext().getMetricGroup().counter("panesTooLate");
    }

    @Override
    public void processElement(DurationPane part, Context context, Collector<Quantile> out) throws Exception {
        DurationWindow window = windowState.value();
        if (window == null) {
            window = new DurationWindow();
        }
        if (window.add(part)) {
            arm(window, context);
        } else {
            tooLate.inc();
        }
        windowState.update(window);
    }

    private void arm(DurationWindow window, KeyedProcessFunction<?, ?, ?>.Context context) {
        long end = window.nextEndMillis();
        long timer = end == Long.MAX_VALUE ? Long.MAX_VALUE : end + holdMillis;
        if (window.timerMillis == timer) {
            return;
        }
        if (window.timerMillis != Long.MIN_VALUE) {
            context.timerService().deleteEventTimeTimer(window.timerMillis);
        }
        window.timerMillis = timer;
        context.timerService().registerEventTimeTimer(timer);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Quantile> out) throws Exception {
        DurationWindow window = windowState.value();
        if (window == null) {
            return;
        }
        window.timerMillis = Long.MIN_VALUE;
        long watermark = context.timerService().currentWatermark();
        window.tell(watermark == Long.MAX_VALUE ? Long.MAX_VALUE : watermark - holdMillis, out::collect);
        if (window.panes.isEmpty()) {
            windowState.clear();
        } else {
            arm(window, context);
            windowState.update(window);
        }
    }
}
