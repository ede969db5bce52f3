package io.tokenstair.job.rule;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Adds up what rules did beside the operator that counts it, so that few records are exchanged. It sends before a checkpoint passes, so
 * it has no state; when it sends changes nothing, for parts add up in any order. Holds at most {@link #MAX_PARTS}.
 */
public final class BundleActivity extends AbstractStreamOperator<ActivityPart>
        implements OneInputStreamOperator<ActivityPart, ActivityPart>, BoundedOneInput {
    private static final long serialVersionUID = 1L;

    /** How much event time passes between two sendings. */
    public static final long GRID_MILLIS = 1_000;

    private static final int MAX_PARTS = 4_096;

    @SuppressWarnings("NullAway.Init") // made in open
    private transient Map<String, ActivityPart> parts;

    private transient long sentMillis;

    @Override
    public void open() throws Exception {
        super.open();
        parts = new HashMap<>();
        sentMillis = Long.MIN_VALUE;
    }

    @Override
    public void processElement(StreamRecord<ActivityPart> element) {
        ActivityPart part = element.getValue();
        String key = part.version + "\n" + part.minuteMillis + "\n" + part.ruleId;
        ActivityPart sum = parts.get(key);
        if (sum == null) {
            if (parts.size() == MAX_PARTS) {
                send();
            }
            parts.put(key, part);
        } else {
            sum.add(part);
        }
    }

    private void send() {
        parts.values().forEach(part -> output.collect(new StreamRecord<>(part)));
        parts.clear();
    }

    @Override
    public void processWatermark(Watermark watermark) throws Exception {
        if (watermark.getTimestamp() == Long.MAX_VALUE || watermark.getTimestamp() >= sentMillis + GRID_MILLIS) {
            sentMillis = watermark.getTimestamp();
            send();
        }
        super.processWatermark(watermark);
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) {
        send();
    }

    @Override
    public void endInput() {
        send();
    }
}
