package io.tokenstair.job;

import io.tokenstair.job.request.AnalyseRequests;
import io.tokenstair.milestone.Milestone;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Gives milestones the record time {@code coarseEpochMillis + SHIFT_MILLIS}. A request's life speaks up to {@link
 * AnalyseRequests#HOLD_MILLIS} behind the watermark, where flink-cep would drop what it says as late; moved by a constant nothing
 * is late, and no distance between milestones changes.
 */
public final class ShiftEventTime extends AbstractStreamOperator<Milestone>
        implements OneInputStreamOperator<Milestone, Milestone> {
    private static final long serialVersionUID = 1L;

    /** The constant. */
    public static final long SHIFT_MILLIS = AnalyseRequests.HOLD_MILLIS + 10_000;

    @Override
    public void processElement(StreamRecord<Milestone> element) {
        long millis = element.getValue().coarseEpochMillis();
        output.collect(new StreamRecord<>(
                element.getValue(), millis == Long.MAX_VALUE ? Long.MAX_VALUE - 1 : millis + SHIFT_MILLIS));
    }
}
