package io.tokenstair.job.request;

import org.jspecify.annotations.Nullable;

/** Where a subtask keeps one request between checkpoints: its state as objects, and where it waits for event time. */
final class RequestPlace {
    final String requestId;
    RequestBuffer buffer = new RequestBuffer();
    RequestState request = new RequestState();

    /** Number of the last checkpoint before its objects were read from keyed state or made. */
    long sinceCheckpoint;

    /** Whether keyed state holds anything of it. */
    boolean stored;

    /** Where it waits; null where it does not. */
    RequestTimers.@Nullable Slot slot;

    int placeInSlot;

    RequestPlace(String requestId) {
        this.requestId = requestId;
    }

    /** Whether a use of the id is open. */
    boolean isOpen() {
        return !request.open.isEmpty();
    }
}
