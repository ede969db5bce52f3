package io.tokenstair.collect.otlp.receive;

import io.tokenstair.event.Event;
import org.jspecify.annotations.Nullable;

/** Where received events go: a queue that never makes the receiver wait. */
public interface EventWay {
    /** How many events it has room for now. */
    int roomCount();

    /** How many events it has room for when it is empty. */
    int mostCount();

    /**
     * Offers an event.
     *
     * @param clockId the clock of the stamp; absent for this machine's own clock, read now
     * @param clockNanos the stamp; absent with its clock
     * @param event what happened
     * @return false when it is lost, which is counted behind this
     */
    boolean offer(@Nullable String clockId, @Nullable Long clockNanos, Event event);

    /** Why events cannot be written now; absent when they can. */
    @Nullable
    String trouble();
}
