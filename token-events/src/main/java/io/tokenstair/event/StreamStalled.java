package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * A call waited for a device. Header stamp: the end.
 *
 * @param engineId the engine, one scheduler
 * @param deviceId the device; absent when not known
 * @param streamId the stream; absent when not reported
 * @param stepId the step it belongs to; absent when the source does not tie it to a step
 * @param stallKind stream-sync, device-sync, event-sync, copy or collective
 * @param startNanos start, in ns
 * @param endNanos end, in ns
 * @param driverCode code that the driver returned; 0 is success; absent when not reported
 * @param lateRank the rank that was waited for; absent when no rank was waited for, or which is not known
 */
public record StreamStalled(
        @Field(1) String engineId,
        @Field(2) @Nullable String deviceId,
        @Field(3) @Nullable String streamId,
        @Field(4) @Nullable Long stepId,
        @Field(5) String stallKind,
        @Field(6) long startNanos,
        @Field(7) long endNanos,
        @Field(8) @Nullable Integer driverCode,
        @Field(9) @Nullable Integer lateRank)
        implements Event {

    @Override
    public EventKind kind() {
        return EventKind.STREAM_STALLED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
