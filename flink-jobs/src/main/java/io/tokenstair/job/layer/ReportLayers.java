package io.tokenstair.job.layer;

import io.tokenstair.archive.result.LayerReport;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Adds the counts of all subtasks and reports each layer once, at the end of a bounded input. State: one count per layer. */
public final class ReportLayers extends KeyedProcessFunction<String, LayerCount, LayerReport> {
    private static final long serialVersionUID = 1L;

    private transient ValueState<LayerCount> sumState;

    @Override
    public void open(OpenContext context) {
        sumState =
                getRuntimeContext().getState(new ValueStateDescriptor<>("sum", TypeInformation.of(LayerCount.class)));
    }

    @Override
    public void processElement(LayerCount count, Context context, Collector<LayerReport> out) throws Exception {
        LayerCount sum = sumState.value();
        if (sum == null) {
            sum = new LayerCount();
            sum.layer = count.layer;
            context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
        }
        sum.events += count.events;
        sum.rejected += count.rejected;
        sumState.update(sum);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<LayerReport> out) throws Exception {
        LayerCount sum = sumState.value();
        if (sum != null) {
            out.collect(new LayerReport(null, sum.layer.layerName(), sum.events > 0, sum.events, sum.rejected));
            sumState.clear();
        }
    }
}
