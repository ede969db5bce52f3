package io.tokenstair.job.evidence;

import org.jspecify.annotations.Nullable;

/** How long a request waited for its KV blocks, since its last token. */
public class TransferWait {
    /** For blocks of another node. */
    public long remoteNanos;
    /** For blocks of a slower tier of this one. */
    public long offloadNanos;
    /** Of both: what lies before its first schedule. */
    public long queuedNanos;

    public String eventId = "";
    public @Nullable String peer;
    public long longestNanos;

    /** For Flink's serializer. */
    public TransferWait() {}

    void add(long remote, long offload, String ofEvent, @Nullable String from) {
        remoteNanos += remote;
        offloadNanos += offload;
        if (remote + offload > longestNanos) {
            longestNanos = remote + offload;
            eventId = ofEvent;
            peer = from;
        }
    }

    /** Adds a further wait. */
    public void add(TransferWait other) {
        queuedNanos += other.queuedNanos;
        add(other.remoteNanos, other.offloadNanos, other.eventId, other.peer);
    }

    /** All of it. */
    public long nanos() {
        return remoteNanos + offloadNanos;
    }
}
