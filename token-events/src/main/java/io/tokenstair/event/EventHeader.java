package io.tokenstair.event;

import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * Who recorded an event and when, in raw stamps.
 *
 * @param collectorId who recorded it
 * @param collectorEpoch new at each start of the collector
 * @param sequence rises by one per record of a collector and epoch: finds loss and duplicates
 * @param clockId the clock of {@code clockNanos}
 * @param clockNanos raw stamp of that clock; absent when the input has none
 * @param coarseEpochMillis the collector's wall reading, never decreasing per collector: event time. Durations never use it. Absent
 *     when the input has no wall time
 */
public record EventHeader(
        String collectorId,
        long collectorEpoch,
        long sequence,
        String clockId,
        @Nullable Long clockNanos,
        @Nullable Long coarseEpochMillis) {

    /** The total order of events: event time (undated last), then collector, epoch and sequence. */
    public static final Comparator<EventHeader> ORDER = Comparator.comparing((EventHeader header) ->
                    header.coarseEpochMillis == null ? Long.MAX_VALUE : header.coarseEpochMillis)
            .thenComparing(EventHeader::collectorId)
            .thenComparingLong(EventHeader::collectorEpoch)
            .thenComparingLong(EventHeader::sequence);

    /** The identity of the event: never an offset of the log. */
    public String eventId() {
        return collectorId + "/" + collectorEpoch + "/" + sequence;
    }
}
