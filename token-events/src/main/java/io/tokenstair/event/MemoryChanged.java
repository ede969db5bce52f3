package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * Device memory was taken, given back or refused. Header stamp: the end of the call, or the report.
 *
 * @param engineId the engine, one scheduler
 * @param deviceId the device; absent when not known
 * @param stepId the step it belongs to; absent when the source does not tie it to a step
 * @param change alloc, free, trim or fail
 * @param sizeBytes bytes asked for, in bytes; absent when not reported
 * @param freeBytes bytes free on the device afterwards, in bytes; absent when not reported
 * @param startNanos start of the call, in ns; absent when not stamped
 * @param endNanos end of the call, in ns; absent when not stamped
 * @param driverCode code that the driver returned; 0 is success; absent when not reported
 */
public record MemoryChanged(
        @Field(1) String engineId,
        @Field(2) @Nullable String deviceId,
        @Field(3) @Nullable Long stepId,
        @Field(4) String change,
        @Field(5) @Nullable Long sizeBytes,
        @Field(6) @Nullable Long freeBytes,
        @Field(7) @Nullable Long startNanos,
        @Field(8) @Nullable Long endNanos,
        @Field(9) @Nullable Integer driverCode)
        implements Event {

    @Override
    public EventKind kind() {
        return EventKind.MEMORY_CHANGED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
