package io.tokenstair.job.statistics;

import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Adds up parts of panes beside the operator that counts them and sends a few records on, one per {@link Scope}, key and pane, so that
 * the exchange sees panes and no tokens. It sends before a checkpoint passes, so it has no state; when it sends changes nothing, for
 * parts add up in any order. Holds at most {@link PaneCounter#SLOTS} keys.
 */
public final class BundlePanes extends AbstractStreamOperator<DurationPane>
        implements OneInputStreamOperator<DurationPane, DurationPane>, BoundedOneInput {
    private static final long serialVersionUID = 1L;

    /** How much event time passes between two sendings. */
    public static final long GRID_MILLIS = 1_000;

    @SuppressWarnings("NullAway.Init") // made in open
    private transient PaneCounter counter;

    @SuppressWarnings("NullAway.Init") // made in open
    private transient StreamRecord<DurationPane> record;

    private transient long sentMillis;

    @Override
    public void open() throws Exception {
        super.open();
        counter = new PaneCounter(this::send);
        record = new StreamRecord<>(new DurationPane());
        sentMillis = Long.MIN_VALUE;
    }

    @Override
    public void processElement(StreamRecord<DurationPane> element) {
        counter.add(element.getValue());
    }

    private void send(DurationPane pane) {
        for (Scope scope : Scope.values()) {
            output.collect(record.replace(pane.in(scope)));
        }
    }

    @Override
    public void processWatermark(Watermark watermark) throws Exception {
        if (watermark.getTimestamp() == Long.MAX_VALUE || watermark.getTimestamp() >= sentMillis + GRID_MILLIS) {
            sentMillis = watermark.getTimestamp();
            counter.ship();
        }
        super.processWatermark(watermark);
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) {
        counter.ship();
    }

    @Override
    public void endInput() {
        counter.ship();
    }
}
