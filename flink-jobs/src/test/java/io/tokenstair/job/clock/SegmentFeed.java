package io.tokenstair.job.clock;

import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.heap.HeapKeyedStateBackend;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedBroadcastOperatorTestHarness;

/** Hands segments to an operator as the job does: none later than the watermark that passes it, some earlier. */
public final class SegmentFeed {
    private final List<PublishedSegment> segments;
    private int next;

    /** A feed of segments in the order of their event time. */
    public SegmentFeed(List<PublishedSegment> segments) {
        this.segments = segments;
    }

    /** Hands over all up to an event time, and perhaps some more. */
    public void upTo(
            long millis, Random random, KeyedBroadcastOperatorTestHarness<String, ?, PublishedSegment, ?> harness)
            throws Exception {
        int ahead = random.nextInt(4);
        while (next < segments.size() && (segments.get(next).publishedMillis() <= millis || ahead-- > 0)) {
            PublishedSegment segment = segments.get(next++);
            harness.processBroadcastElement(new StreamRecord<>(segment, segment.publishedMillis()));
        }
    }

    /** Entries of keyed state that an operator holds. */
    public static int keyedStateEntries(KeyedBroadcastOperatorTestHarness<String, ?, PublishedSegment, ?> harness) {
        KeyedStateBackend<?> backend = ((AbstractStreamOperator<?>) harness.getOperator()).getKeyedStateBackend();
        return ((HeapKeyedStateBackend<?>) Objects.requireNonNull(backend)).numKeyValueStateEntries();
    }
}
