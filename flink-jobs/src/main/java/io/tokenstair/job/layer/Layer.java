package io.tokenstair.job.layer;

import io.tokenstair.event.EventKind;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The layers that can report on a request. No cause is drawn from the silence of one that did not. */
public enum Layer {
    /** What clients or a gateway saw. */
    CLIENT,
    /** What the scheduler did. */
    STEPS,
    /** Blocks stored and evicted. */
    KV_EVENTS,
    /** Core time of the engine's threads. */
    HOST_SCHEDULING,
    /** OTLP spans. */
    SPANS,
    /** Scraped metrics. */
    METRICS,
    /** Kernels, stalls, memory and readings of devices. */
    GPU,
    /** Pauses that a runtime recorded of itself. */
    RUNTIME;

    /** The name people see. */
    public String layerName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The layer of a kind; null for kinds about the collection itself. */
    static @Nullable Layer of(EventKind kind) {
        return switch (kind) {
            case REQUEST_RECEIVED, REQUEST_COMPLETED, CHUNK_DELIVERED -> CLIENT;
            case REQUEST_QUEUED, REQUEST_PREEMPTED, STEP_COMPLETED, REQUEST_FINISHED, ENGINE_CONFIGURED -> STEPS;
            case KV_BLOCKS_STORED, KV_BLOCKS_EVICTED -> KV_EVENTS;
            case KV_TRANSFERRED, SHAPE_COMPILED, SHARD_LOADED -> STEPS;
            case HOST_SAMPLED -> HOST_SCHEDULING;
            case HOST_PAUSED -> RUNTIME;
            case ALLOCATOR_SAMPLED, KERNEL_RAN, STREAM_STALLED, MEMORY_CHANGED, DEVICE_SAMPLED -> GPU;
            case SPAN_RECORDED -> SPANS;
            case METRIC_SAMPLED, KV_LOOKUP -> METRICS;
            case ID_ALIASED, CLOCK_SAMPLED, CLOCK_FITTED, RULE_REVISED, COLLECTOR_GAP, REJECTED -> null;
        };
    }

    /** The layer that a rejected input belonged to, by the name of its source; null when that does not say. */
    static @Nullable Layer ofSource(String source) {
        String name = source.toLowerCase(Locale.ROOT);
        if (name.contains("steps")) {
            return STEPS;
        }
        if (name.contains("client")) {
            return CLIENT;
        }
        if (name.contains("kv_")) {
            return KV_EVENTS;
        }
        if (name.contains("host_sched")) {
            return HOST_SCHEDULING;
        }
        if (name.contains("otlp")) {
            return SPANS;
        }
        return name.contains("metrics") || name.contains("statlog") ? METRICS : null;
    }
}
