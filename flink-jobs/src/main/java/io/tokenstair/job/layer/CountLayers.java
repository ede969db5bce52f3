package io.tokenstair.job.layer;

import io.tokenstair.event.EventKind;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.job.source.RawRecord;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.jspecify.annotations.Nullable;

/**
 * Counts events per layer beside the source, a few nanoseconds a record, and says the counts at the last watermark of a bounded
 * input, zeros included. Unbounded input has no end, and no such report. It has no state: at a checkpoint the counts since the one before go on to
 * {@link ReportLayers}, whose sums are kept; a subtask may be idle after a restore and never speak.
 */
public final class CountLayers extends AbstractStreamOperator<LayerCount>
        implements OneInputStreamOperator<RawRecord, LayerCount> {
    private static final long serialVersionUID = 1L;
    private static final @Nullable Layer[] BY_TAG = byTag();

    private final long[] events = new long[Layer.values().length];
    private final long[] rejected = new long[Layer.values().length];

    private static @Nullable Layer[] byTag() {
        @Nullable Layer[] layers = new @Nullable Layer[64];
        for (EventKind kind : EventKind.values()) {
            layers[kind.tag()] = Layer.of(kind);
        }
        return layers;
    }

    /** Hands on what was counted since the last one, so that a restore, whatever its parallelism, goes on from there. */
    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) {
        for (Layer layer : Layer.values()) {
            LayerCount count = take(layer);
            if (count.events > 0 || count.rejected > 0) {
                output.collect(new StreamRecord<>(count));
            }
        }
    }

    @Override
    public void processElement(StreamRecord<RawRecord> element) {
        RawRecord record = element.getValue();
        if (record.late) {
            return;
        }
        if (record.kindTag == EventKind.REJECTED.tag()) {
            Layer layer = ofRejected(record);
            if (layer != null) {
                rejected[layer.ordinal()]++;
            }
            return;
        }
        Layer layer = record.kindTag > 0 && record.kindTag < BY_TAG.length ? BY_TAG[record.kindTag] : null;
        if (layer != null) {
            events[layer.ordinal()]++;
        }
    }

    private static @Nullable Layer ofRejected(RawRecord record) {
        try {
            return EventCodec.decode(record.bytes).event() instanceof Rejected refused
                    ? Layer.ofSource(refused.source())
                    : null;
        } catch (WireException e) {
            return null;
        }
    }

    @Override
    public void processWatermark(Watermark watermark) throws Exception {
        if (watermark.equals(Watermark.MAX_WATERMARK)) {
            report();
        }
        super.processWatermark(watermark);
    }

    private void report() {
        for (Layer layer : Layer.values()) {
            output.collect(new StreamRecord<>(take(layer)));
        }
    }

    /** What was counted since it was last taken: at the end there is another checkpoint behind the last watermark. */
    private LayerCount take(Layer layer) {
        LayerCount count = new LayerCount();
        count.layer = layer;
        count.events = events[layer.ordinal()];
        count.rejected = rejected[layer.ordinal()];
        events[layer.ordinal()] = 0;
        rejected[layer.ordinal()] = 0;
        return count;
    }
}
