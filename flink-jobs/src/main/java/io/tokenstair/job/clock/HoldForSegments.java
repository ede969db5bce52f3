package io.tokenstair.job.clock;

import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;

/**
 * Passes segments and watermarks on, but not that there is nothing to wait for. While a job starts, sources are idle until they have their
 * partitions. Whoever aligns stamps would take records as complete then without the segments of their event time, since those come by a longer
 * way: one operator more. Where all sources are idle event time stands still anyway. No state.
 */
public final class HoldForSegments extends AbstractStreamOperator<PublishedSegment>
        implements OneInputStreamOperator<PublishedSegment, PublishedSegment> {
    private static final long serialVersionUID = 1L;

    @Override
    public void processElement(StreamRecord<PublishedSegment> segment) {
        output.collect(segment);
    }

    @Override
    public void processWatermarkStatus(WatermarkStatus status) throws Exception {
        if (status.isActive()) {
            super.processWatermarkStatus(status);
        }
    }
}
