package io.tokenstair.job.request;

import io.tokenstair.event.Chunk;
import io.tokenstair.event.EventHeader;
import io.tokenstair.job.statistics.Metric;
import io.tokenstair.job.statistics.PaneCounter;
import io.tokenstair.job.statistics.Panes;
import org.jspecify.annotations.Nullable;

/**
 * Counts times to first token and gaps between chunks where the delivering observer saw them, by what is known of the request by
 * then.
 */
final class Arrivals {
    private final String requestId;
    private final PaneCounter counter;

    Arrivals(String requestId, PaneCounter counter) {
        this.requestId = requestId;
        this.counter = counter;
    }

    /** A chunk with tokens arrived. */
    void arrived(
            EventHeader header, LifetimeState lifetime, ObserverStream stream, SequenceLife sequence, Chunk chunk) {
        if (lifetime.warmup || stream != lifetime.deliverer()) {
            return;
        }
        Long before = sequence.chunkArrivedNanos;
        boolean comparable =
                sequence.chunkObserver.equals(stream.observer) && sequence.chunkClockId.equals(stream.clockId);
        sequence.chunkArrivedNanos = chunk.arrivedNanos();
        sequence.chunkObserver = stream.observer;
        sequence.chunkClockId = stream.clockId;
        int tokenIndex = chunk.firstTokenIndex() == null ? -1 : chunk.firstTokenIndex();
        if (before == null && stream.sentKnown) {
            slot(Metric.TTFT, lifetime, sequence, header)
                    .record(chunk.arrivedNanos() - stream.sentNanos, requestId, tokenIndex);
        } else if (before != null && comparable) {
            slot(Metric.DELIVERED_GAP, lifetime, sequence, header)
                    .record(chunk.arrivedNanos() - before, requestId, tokenIndex);
        }
    }

    private PaneCounter.Slot slot(Metric metric, LifetimeState lifetime, SequenceLife sequence, EventHeader header) {
        @Nullable Integer priority = sequence.priority != null ? sequence.priority : lifetime.priority;
        @Nullable String engineId = sequence.engineId(metric == Metric.TTFT ? 0 : sequence.makingEngine);
        Long millis = header.coarseEpochMillis();
        return counter.slot(metric, lifetime.model, engineId, priority, millis == null ? Panes.UNDATED : millis);
    }
}
