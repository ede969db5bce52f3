package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * Two clocks read at once.
 *
 * @param localClockId the clock read before and after
 * @param remoteClockId the clock read in between
 * @param beforeNanos local stamp before, in ns
 * @param remoteNanos remote stamp, in ns
 * @param afterNanos local stamp after, in ns
 * @param statedBoundNanos half-width that the source states where its stamps bracket nothing, in ns; absent when before and after bracket the remote stamp
 * @param engineId the engine whose collector read the clocks; absent when no engine's collector did
 */
public record ClockSampled(
        @Field(1) String localClockId,
        @Field(2) String remoteClockId,
        @Field(3) long beforeNanos,
        @Field(4) long remoteNanos,
        @Field(5) long afterNanos,
        @Field(6) @Nullable Long statedBoundNanos,
        @Field(7) @Nullable String engineId)
        implements Event {

    /** A sample that no engine's collector took. */
    public ClockSampled(
            String localClockId,
            String remoteClockId,
            long beforeNanos,
            long remoteNanos,
            long afterNanos,
            @Nullable Long statedBoundNanos) {
        this(localClockId, remoteClockId, beforeNanos, remoteNanos, afterNanos, statedBoundNanos, null);
    }

    @Override
    public EventKind kind() {
        return EventKind.CLOCK_SAMPLED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
