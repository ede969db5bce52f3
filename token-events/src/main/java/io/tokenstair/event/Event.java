package io.tokenstair.event;

/**
 * Something that happened to a request, an engine or a machine: a closed set of kinds, each a record.
 * Field meanings, units, clocks and absence are in docs/event-catalog.md; a test keeps it true.
 */
public sealed interface Event
        permits RequestReceived,
                RequestCompleted,
                ChunkDelivered,
                RequestQueued,
                RequestPreempted,
                StepCompleted,
                RequestFinished,
                KvBlocksStored,
                KvBlocksEvicted,
                KvLookup,
                EngineConfigured,
                MetricSampled,
                SpanRecorded,
                IdAliased,
                HostSampled,
                ClockSampled,
                KvTransferred,
                ShapeCompiled,
                AllocatorSampled,
                KernelRan,
                StreamStalled,
                MemoryChanged,
                HostPaused,
                ShardLoaded,
                DeviceSampled,
                ClockFitted,
                RuleRevised,
                CollectorGap,
                Rejected {

    /** The kind of this event. */
    EventKind kind();

    /** Calls the visitor's method for this kind. */
    <R> R accept(Visitor<R> visitor);

    /** One method per kind: a new kind breaks the build wherever a decision is due. */
    interface Visitor<R> {
        R visit(RequestReceived event);

        R visit(RequestCompleted event);

        R visit(ChunkDelivered event);

        R visit(RequestQueued event);

        R visit(RequestPreempted event);

        R visit(StepCompleted event);

        R visit(RequestFinished event);

        R visit(KvBlocksStored event);

        R visit(KvBlocksEvicted event);

        R visit(KvLookup event);

        R visit(EngineConfigured event);

        R visit(MetricSampled event);

        R visit(SpanRecorded event);

        R visit(IdAliased event);

        R visit(HostSampled event);

        R visit(ClockSampled event);

        R visit(KvTransferred event);

        R visit(ShapeCompiled event);

        R visit(AllocatorSampled event);

        R visit(KernelRan event);

        R visit(StreamStalled event);

        R visit(MemoryChanged event);

        R visit(HostPaused event);

        R visit(ShardLoaded event);

        R visit(DeviceSampled event);

        R visit(ClockFitted event);

        R visit(RuleRevised event);

        R visit(CollectorGap event);

        R visit(Rejected event);
    }
}
