package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * The state of a device allocator; retries and failures are running totals. Header stamp: the reading.
 *
 * @param engineId the engine, one scheduler
 * @param deviceId the device; absent when not known
 * @param reservedBytes memory the allocator holds, in bytes; absent when not reported
 * @param activeBytes memory in use, in bytes; absent when not reported
 * @param largestFreeBytes largest block that can be had at once, in bytes; absent when not reported
 * @param retryCount running total of allocations that had to free memory first; absent when not reported
 * @param failureCount running total of allocations that failed; absent when not reported
 */
public record AllocatorSampled(
        @Field(1) String engineId,
        @Field(2) @Nullable String deviceId,
        @Field(3) @Nullable Long reservedBytes,
        @Field(4) @Nullable Long activeBytes,
        @Field(5) @Nullable Long largestFreeBytes,
        @Field(6) @Nullable Long retryCount,
        @Field(7) @Nullable Long failureCount)
        implements Event {

    @Override
    public EventKind kind() {
        return EventKind.ALLOCATOR_SAMPLED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
