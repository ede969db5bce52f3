package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * A kernel ran on a device, or several of one name in one step. Header stamp: the start.
 *
 * @param engineId the engine, one scheduler
 * @param deviceId the device; absent when not known
 * @param streamId the stream; absent when not reported
 * @param stepId the step it belongs to; absent when the source does not tie it to a step
 * @param kernelName the kernel
 * @param kernelClass gemm, attention, collective, copy or other; absent when the name says nothing
 * @param startNanos start, in ns
 * @param durationNanos time on the device, of all launches together, in ns
 * @param gridCount blocks launched; absent when not reported
 * @param sharedMemoryBytes shared memory of a block, in bytes; absent when not reported
 * @param graphId the graph that launched it; absent when not launched by a graph, or not reported
 * @param launchCount launches this record sums; absent when it is one launch
 * @param launchNanos start of the call that launched it, in ns; absent when it was not recorded, or more than one call could be meant
 * @param correlationId number that the profiler gave to the call and to what it launched; absent when not reported
 */
public record KernelRan(
        @Field(1) String engineId,
        @Field(2) @Nullable String deviceId,
        @Field(3) @Nullable String streamId,
        @Field(4) @Nullable Long stepId,
        @Field(5) String kernelName,
        @Field(6) @Nullable String kernelClass,
        @Field(7) long startNanos,
        @Field(8) long durationNanos,
        @Field(9) @Nullable Long gridCount,
        @Field(10) @Nullable Long sharedMemoryBytes,
        @Field(11) @Nullable String graphId,
        @Field(12) @Nullable Integer launchCount,
        @Field(13) @Nullable Long launchNanos,
        @Field(14) @Nullable Long correlationId)
        implements Event {

    /** A record that does not say when it was launched. */
    public KernelRan(
            String engineId,
            @Nullable String deviceId,
            @Nullable String streamId,
            @Nullable Long stepId,
            String kernelName,
            @Nullable String kernelClass,
            long startNanos,
            long durationNanos,
            @Nullable Long gridCount,
            @Nullable Long sharedMemoryBytes,
            @Nullable String graphId,
            @Nullable Integer launchCount) {
        this(
                engineId,
                deviceId,
                streamId,
                stepId,
                kernelName,
                kernelClass,
                startNanos,
                durationNanos,
                gridCount,
                sharedMemoryBytes,
                graphId,
                launchCount,
                null,
                null);
    }

    @Override
    public EventKind kind() {
        return EventKind.KERNEL_RAN;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
