package io.tokenstair.collect.live;

import io.tokenstair.event.Event;
import org.jspecify.annotations.Nullable;

/** Where events go: a log in the collector, a list in tests. Never waits. */
public interface EventOut {
    /**
     * Takes an event.
     *
     * @param collectorId who recorded it
     * @param clockId the clock of the stamp
     * @param clockNanos the stamp; absent when there is none
     * @param event what happened
     */
    void accept(String collectorId, String clockId, @Nullable Long clockNanos, Event event);
}
