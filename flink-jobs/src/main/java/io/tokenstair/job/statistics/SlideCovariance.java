package io.tokenstair.job.statistics;

import io.tokenstair.archive.result.Covariance;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Slides the {@link MomentWindow} of each engine, as {@link SlideQuantiles} does. State: one window per engine, cleared when empty. */
public final class SlideCovariance extends KeyedProcessFunction<String, MomentPane, Covariance> {
    private static final long serialVersionUID = 1L;

    private final long holdMillis;
    private transient ValueState<MomentWindow> windowState;
    private transient Counter tooLate;

    /**
     * Slides covariances.
     *
     * @param holdMillis how far behind the watermark windows are told
     */
    public SlideCovariance(long holdMillis) {
        this.holdMillis = holdMillis;
    }

    @Override
    public void open(OpenContext context) {
        windowState = getRuntimeContext()
                .getState(new ValueStateDescriptor<>("window", TypeInformation.of(MomentWindow.class)));
        tooLate = getRuntimeContext().getMetricGroup().counter("panesTooLate");
    }

    @Override
    public void processElement(MomentPane part, Context context, Collector<Covariance> out) throws Exception {
        MomentWindow window = windowState.value();
        if (window == null) {
            window = new MomentWindow();
        }
        if (window.add(part)) {
            arm(window, context);
        } else {
            tooLate.inc();
        }
        windowState.update(window);
    }

    private void arm(MomentWindow window, KeyedProcessFunction<?, ?, ?>.Context context) {
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
    public void onTimer(long timestamp, OnTimerContext context, Collector<Covariance> out) throws Exception {
        MomentWindow window = windowState.value();
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
