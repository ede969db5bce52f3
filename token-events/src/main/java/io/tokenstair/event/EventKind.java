package io.tokenstair.event;

/** The kinds of events. The tag is the permanent field number of the wire form and is never reused. */
public enum EventKind {
    REQUEST_RECEIVED(10, "RequestReceived", "request_received"),
    REQUEST_COMPLETED(11, "RequestCompleted", "request_completed"),
    CHUNK_DELIVERED(12, "ChunkDelivered", "chunk_delivered"),
    REQUEST_QUEUED(13, "RequestQueued", "request_queued"),
    REQUEST_PREEMPTED(15, "RequestPreempted", "request_preempted"),
    STEP_COMPLETED(16, "StepCompleted", "step_completed"),
    REQUEST_FINISHED(17, "RequestFinished", "request_finished"),
    KV_BLOCKS_STORED(18, "KvBlocksStored", "kv_blocks_stored"),
    KV_BLOCKS_EVICTED(19, "KvBlocksEvicted", "kv_blocks_evicted"),
    KV_LOOKUP(20, "KvLookup", "kv_lookup"),
    KV_TRANSFERRED(21, "KvTransferred", "kv_transferred"),
    ENGINE_CONFIGURED(22, "EngineConfigured", "engine_configured"),
    SHAPE_COMPILED(23, "ShapeCompiled", "shape_compiled"),
    ALLOCATOR_SAMPLED(24, "AllocatorSampled", "allocator_sampled"),
    METRIC_SAMPLED(25, "MetricSampled", "metric_sampled"),
    SPAN_RECORDED(26, "SpanRecorded", "span_recorded"),
    ID_ALIASED(27, "IdAliased", "id_aliased"),
    KERNEL_RAN(28, "KernelRan", "kernel_ran"),
    STREAM_STALLED(30, "StreamStalled", "stream_stalled"),
    MEMORY_CHANGED(31, "MemoryChanged", "memory_changed"),
    HOST_PAUSED(32, "HostPaused", "host_paused"),
    HOST_SAMPLED(33, "HostSampled", "host_sampled"),
    SHARD_LOADED(34, "ShardLoaded", "shard_loaded"),
    CLOCK_SAMPLED(35, "ClockSampled", "clock_sampled"),
    COLLECTOR_GAP(36, "CollectorGap", "collector_gap"),
    REJECTED(37, "Rejected", "rejected"),
    DEVICE_SAMPLED(38, "DeviceSampled", "device_sampled"),
    CLOCK_FITTED(39, "ClockFitted", "clock_fitted"),
    RULE_REVISED(40, "RuleRevised", "rule_revised");

    private final int tag;
    private final String catalogName;
    private final String wireName;

    EventKind(int tag, String catalogName, String wireName) {
        this.tag = tag;
        this.catalogName = catalogName;
        this.wireName = wireName;
    }

    /** The permanent number of the kind in the wire form. */
    public int tag() {
        return tag;
    }

    /** The name in docs/event-catalog.md, which is the name of the record class too. */
    public String catalogName() {
        return catalogName;
    }

    /** The name in the wire form and of the archive table. */
    public String wireName() {
        return wireName;
    }
}
