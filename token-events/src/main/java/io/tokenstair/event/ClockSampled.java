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
 */
public record ClockSampled(
        @Field(1) String localClockId,
        @Field(2) String remoteClockId,
        @Field(3) long beforeNanos,
        @Field(4) long remoteNanos,
        @Field(5) long afterNanos,
        @Field(6) @Nullable Long statedBoundNanos)
        implements Event {

    @Override
    public EventKind kind() {
        return EventKind.CLOCK_SAMPLED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
