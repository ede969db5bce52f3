package io.tokenstair.collect.otlp;

import io.tokenstair.event.Event;
import org.jspecify.annotations.Nullable;

/**
 * An event that an item of a request became.
 *
 * @param event what happened
 * @param epochNanos its own stamp of the wall clock of the host that reported it; absent when its stamp is that of the collector
 * @param lastEpochNanos the latest wall stamp the item carries, to date it where nobody stamped its arrival; absent when it carries none
 */
public record TimedEvent(
        Event event, @Nullable Long epochNanos, @Nullable Long lastEpochNanos) {}
