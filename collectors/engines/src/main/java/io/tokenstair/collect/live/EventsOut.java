package io.tokenstair.collect.live;

import io.tokenstair.event.Event;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Where decoders put what they read: a spool that sorts, for files; the log, live. */
public interface EventsOut {
    /**
     * Takes an event.
     *
     * @param clockId the clock of the stamp
     * @param orderNanos its place in the source's own order; events with the same place keep the order they came in
     * @param clockNanos the stamp; absent when there is none
     * @param wallMillis wall reading in ms; absent when there is none
     * @param event what happened
     */
    void add(String clockId, long orderNanos, @Nullable Long clockNanos, @Nullable Long wallMillis, Event event)
            throws IOException;

    /** The log of a live collector, whose order is that of arrival and whose wall reading is taken there. */
    static EventsOut live(String collectorId, EventOut out) {
        return (clockId, orderNanos, clockNanos, wallMillis, event) ->
                out.accept(collectorId, clockId, clockNanos, event);
    }
}
