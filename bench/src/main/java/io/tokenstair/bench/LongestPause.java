package io.tokenstair.bench;

import org.apache.flink.api.common.accumulators.LongMaximum;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * The longest time in which event time did not go on behind the operators before it, in ms. It goes on when every subtask of
 * every one of them lets it, and sources let it some five times a second; so it is above 200 ms, and above what any of them paused.
 *
 * @param <T> rows, which are let through
 */
final class LongestPause<T> extends AbstractStreamOperator<T> implements OneInputStreamOperator<T, T> {
    private static final long serialVersionUID = 1L;

    private final String name;
    private final LongMaximum longestMillis = new LongMaximum();
    private long lastNanos = Long.MIN_VALUE;

    /** Keeps the longest pause in the accumulator of this name. */
    LongestPause(String name) {
        this.name = name;
    }

    @Override
    public void open() throws Exception {
        super.open();
        getRuntimeContext().addAccumulator(name, longestMillis);
    }

    @Override
    public void processElement(StreamRecord<T> row) {
        output.collect(row);
    }

    @Override
    public void processWatermark(Watermark watermark) throws Exception {
        long now = System.nanoTime();
        if (lastNanos != Long.MIN_VALUE) {
            longestMillis.add((now - lastNanos) / 1_000_000);
        }
        lastNanos = now;
        super.processWatermark(watermark);
    }
}
