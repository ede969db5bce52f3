package io.tokenstair.collect.device;

import org.jspecify.annotations.Nullable;

/**
 * Something that ran on a device, as a profiler recorded it.
 *
 * @param kind what it is
 * @param name its name
 * @param process where its correlation id is numbered
 * @param deviceId the device; absent when not reported
 * @param streamId the stream; absent when not reported
 * @param startNanos start, in ns
 * @param durationNanos time on the device, in ns
 * @param gridCount blocks launched; absent when not reported
 * @param sharedMemoryBytes shared memory of a block, in bytes; absent when not reported
 * @param graphId the graph that launched it; absent when none did, or not reported
 * @param correlationId its correlation id; absent when not reported
 */
public record DeviceWork(
        Kind kind,
        String name,
        int process,
        @Nullable String deviceId,
        @Nullable String streamId,
        long startNanos,
        long durationNanos,
        @Nullable Long gridCount,
        @Nullable Long sharedMemoryBytes,
        @Nullable String graphId,
        @Nullable Long correlationId) {

    /** What ran. */
    public enum Kind {
        KERNEL,
        COLLECTIVE,
        COPY,
        /** All of a graph in one record. */
        GRAPH
    }
}
