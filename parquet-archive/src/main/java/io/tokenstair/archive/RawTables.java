package io.tokenstair.archive;

import io.tokenstair.event.AllocatorSampled;
import io.tokenstair.event.ClockFitted;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.DeviceSampled;
import io.tokenstair.event.EngineConfigured;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.HostPaused;
import io.tokenstair.event.HostSampled;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.KernelRan;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.KvBlocksStored;
import io.tokenstair.event.KvLookup;
import io.tokenstair.event.KvTransferred;
import io.tokenstair.event.MemoryChanged;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.ShapeCompiled;
import io.tokenstair.event.ShardLoaded;
import io.tokenstair.event.SpanRecorded;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.StreamStalled;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The tables of raw events: one per kind, named as the kind is on the wire. Steps fill three: {@code step_completed} with a row per
 * step, {@code step_sequence} with a row per scheduled sequence, {@code handle_announced} with a row per announced handle.
 * {@code chunk_delivered} has a row per chunk.
 */
public final class RawTables {
    /** A row per scheduled sequence of a step. */
    public static final String STEP_SEQUENCE = "step_sequence";

    /** A row per handle that a step announced. */
    public static final String HANDLE_ANNOUNCED = "handle_announced";

    private static final Map<String, RawForm> FORMS = forms();

    private RawTables() {}

    private static Map<String, RawForm> forms() {
        Map<String, RawForm> forms = new LinkedHashMap<>();
        for (EventKind kind : EventKind.values()) {
            forms.put(kind.wireName(), form(kind));
            if (kind == EventKind.STEP_COMPLETED) {
                forms.put(STEP_SEQUENCE, new StepSequenceForm());
                forms.put(HANDLE_ANNOUNCED, new HandleAnnouncedForm());
            }
        }
        return Collections.unmodifiableMap(forms);
    }

    private static RawForm form(EventKind kind) {
        return switch (kind) {
            case REQUEST_RECEIVED -> plain(RequestReceived.class);
            case REQUEST_COMPLETED -> plain(RequestCompleted.class);
            case CHUNK_DELIVERED -> new ChunkForm();
            case REQUEST_QUEUED -> plain(RequestQueued.class);
            case REQUEST_PREEMPTED -> plain(RequestPreempted.class);
            case STEP_COMPLETED ->
                RecordForm.of(
                        StepCompleted.class, Map.of("announcements", List.of(), "rows", SequenceRows.of(List.of())));
            case REQUEST_FINISHED -> plain(RequestFinished.class);
            case KV_BLOCKS_STORED -> plain(KvBlocksStored.class);
            case KV_BLOCKS_EVICTED -> plain(KvBlocksEvicted.class);
            case KV_LOOKUP -> plain(KvLookup.class);
            case ENGINE_CONFIGURED -> plain(EngineConfigured.class);
            case METRIC_SAMPLED -> plain(MetricSampled.class);
            case SPAN_RECORDED -> plain(SpanRecorded.class);
            case ID_ALIASED -> plain(IdAliased.class);
            case HOST_SAMPLED -> plain(HostSampled.class);
            case CLOCK_SAMPLED -> plain(ClockSampled.class);
            case KV_TRANSFERRED -> plain(KvTransferred.class);
            case SHAPE_COMPILED -> plain(ShapeCompiled.class);
            case ALLOCATOR_SAMPLED -> plain(AllocatorSampled.class);
            case KERNEL_RAN -> plain(KernelRan.class);
            case STREAM_STALLED -> plain(StreamStalled.class);
            case MEMORY_CHANGED -> plain(MemoryChanged.class);
            case HOST_PAUSED -> plain(HostPaused.class);
            case SHARD_LOADED -> plain(ShardLoaded.class);
            case DEVICE_SAMPLED -> plain(DeviceSampled.class);
            case CLOCK_FITTED -> plain(ClockFitted.class);
            case RULE_REVISED -> plain(RuleRevised.class);
            case COLLECTOR_GAP -> plain(CollectorGap.class);
            case REJECTED -> plain(Rejected.class);
        };
    }

    private static <E extends Event> RawForm plain(Class<E> type) {
        return RecordForm.of(type, Map.of());
    }

    /** The tables that hold events of a kind: one, or three for steps. */
    public static List<String> tablesOf(EventKind kind) {
        return kind == EventKind.STEP_COMPLETED
                ? List.of(kind.wireName(), STEP_SEQUENCE, HANDLE_ANNOUNCED)
                : List.of(kind.wireName());
    }

    /** The names of all raw tables. */
    public static List<String> all() {
        return new ArrayList<>(FORMS.keySet());
    }

    /** The kind whose events a table holds. */
    public static EventKind kindOf(String table) {
        for (EventKind kind : EventKind.values()) {
            if (tablesOf(kind).contains(table)) {
                return kind;
            }
        }
        throw unknown(table);
    }

    /** The columns of a table, in order. */
    public static List<Column> columnsOf(String table) {
        return form(table).columns();
    }

    static RawForm form(String table) {
        RawForm form = FORMS.get(table);
        if (form == null) {
            throw unknown(table);
        }
        return form;
    }

    private static IllegalArgumentException unknown(String table) {
        return new IllegalArgumentException(
                "Cannot find raw table: " + table + ". Raw tables are " + String.join(", ", FORMS.keySet()) + ".");
    }
}
