package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * Running totals of a thread: time on a core and time ready without one. Header stamp: the reading.
 *
 * @param hostId the machine
 * @param processRole api, engine or worker
 * @param threadRole which thread of it
 * @param onCoreNanos running total of time on a core, in ns; absent when not read
 * @param coreWaitNanos running total of time ready without a core, in ns; absent when not read
 * @param stealNanos running total of time the hypervisor took from this host, in ns; absent when not read
 * @param engineId the engine, one scheduler; absent when the thread serves no engine, or several
 * @param blockIoWaitNanos running total of time the process waited for block I/O, in ns: the kernel counts its main thread, in ticks of 10 ms,
 *     each wait when it ends; absent when not read
 * @param tcpRetransmitCount TCP segments sent again so far on the process's open connections; absent when not read
 * @param tcpRoundTripNanos largest smoothed round trip of them, in ns; absent when not read, or without connections
 */
public record HostSampled(
        @Field(1) String hostId,
        @Field(2) String processRole,
        @Field(3) String threadRole,
        @Field(4) @Nullable Long onCoreNanos,
        @Field(5) @Nullable Long coreWaitNanos,
        @Field(6) @Nullable Long stealNanos,
        @Field(7) @Nullable String engineId,
        @Field(8) @Nullable Long blockIoWaitNanos,
        @Field(9) @Nullable Long tcpRetransmitCount,
        @Field(10) @Nullable Long tcpRoundTripNanos)
        implements Event {

    /** A sample of core times only. */
    public HostSampled(
            String hostId,
            String processRole,
            String threadRole,
            @Nullable Long onCoreNanos,
            @Nullable Long coreWaitNanos,
            @Nullable Long stealNanos,
            @Nullable String engineId) {
        this(hostId, processRole, threadRole, onCoreNanos, coreWaitNanos, stealNanos, engineId, null, null, null);
    }

    @Override
    public EventKind kind() {
        return EventKind.HOST_SAMPLED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
