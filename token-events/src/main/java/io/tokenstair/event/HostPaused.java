package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * A process did not run, by its own record. Header stamp: the end.
 *
 * @param engineId the engine, one scheduler; absent when it serves no engine, or several
 * @param hostId the machine; absent when not known
 * @param processRole api, engine or worker
 * @param pauseCause gc, stop, or as the runtime names it; absent when not recorded
 * @param startNanos start, in ns
 * @param endNanos end, in ns
 */
public record HostPaused(
        @Field(1) @Nullable String engineId,
        @Field(2) @Nullable String hostId,
        @Field(3) String processRole,
        @Field(4) @Nullable String pauseCause,
        @Field(5) long startNanos,
        @Field(6) long endNanos)
        implements Event {

    @Override
    public EventKind kind() {
        return EventKind.HOST_PAUSED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
