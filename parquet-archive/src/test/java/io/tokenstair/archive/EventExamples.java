package io.tokenstair.archive;

import io.tokenstair.event.AllocatorSampled;
import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.ClockFitted;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.DeviceSampled;
import io.tokenstair.event.EngineConfigured;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.Finish;
import io.tokenstair.event.HandleAnnounced;
import io.tokenstair.event.HostPaused;
import io.tokenstair.event.HostSampled;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.KernelRan;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.KvBlocksStored;
import io.tokenstair.event.KvLookup;
import io.tokenstair.event.KvTransferred;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.MemoryChanged;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Phase;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.event.SequenceRow;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.ShapeCompiled;
import io.tokenstair.event.ShardLoaded;
import io.tokenstair.event.SpanRecorded;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.StreamStalled;
import java.util.ArrayList;
import java.util.List;

/** Events of every kind: one with every field, one with every field that may be absent absent. */
final class EventExamples {
    static final long EPOCH_MILLIS = 1_790_000_000_123L;

    private EventExamples() {}

    /** One event of every kind with every field known, some of them 0. */
    static List<Event> full() {
        return List.of(
                new RequestReceived(
                        "client",
                        "req-1",
                        "0af7651916cd43dd8448eb211c80319c",
                        "b7ad6b7169203331",
                        "tiny",
                        "/v1/completions",
                        0,
                        0L,
                        128L,
                        1,
                        true),
                new RequestCompleted(
                        "client", "req-1", "complete", 200, "none", 12L, 0L, 5_000L, 9_000L, 128L, 64L, 7_000L, 0L),
                new ChunkDelivered(
                        "client",
                        "req-1",
                        List.of(
                                new Chunk(0, 0, null, 0, 180, 1_000L, Finish.NONE),
                                new Chunk(0, 1, 0, 1, 210, 2_000L, Finish.NONE, 2_100L, 2_200L),
                                new Chunk(1, 2, 1, 3, 0, -5L, Finish.LENGTH))),
                new RequestQueued("engine-0", 1, 7, "cmpl-req-1-0", 1_790_000_000_000_000_000L, 33L, 128L, -2),
                new RequestPreempted("engine-0", 0, "cmpl-req-1-0", 41L, "no-blocks", "cmpl-req-2-0", 512L, 0L, 1, 0L),
                step(3),
                new RequestFinished("engine-0", 0, "cmpl-req-1-0", "length", 128L, 99L),
                new KvBlocksStored(
                        "engine-0",
                        0,
                        5L,
                        1_790_000_000_000_000_001L,
                        2,
                        "GPU",
                        List.of(1L, -1L, Long.MIN_VALUE),
                        0L,
                        16,
                        48L),
                new KvBlocksEvicted(
                        "engine-0",
                        0,
                        6L,
                        1_790_000_000_000_000_002L,
                        0,
                        "GPU",
                        List.of(-1L),
                        false,
                        "capacity",
                        "cmpl-req-2-0-1a2b3c4d",
                        List.of(3L),
                        List.of(900_000L)),
                new KvLookup("engine-0", 0, 1_000L, 0L, 20L, 10L),
                new EngineConfigured(
                        "engine-0",
                        0,
                        "vllm",
                        "0.11.0",
                        2048L,
                        64,
                        1_000L,
                        16,
                        "fcfs",
                        true,
                        false,
                        "tiny",
                        2,
                        32,
                        1,
                        4),
                new MetricSampled("http://host/metrics", "vllm:num_requests_running", "engine=\"0\"", 2.5),
                new SpanRecorded(
                        "0af7651916cd43dd8448eb211c80319c",
                        "b7ad6b7169203331",
                        "00f067aa0ba902b7",
                        "llm_request",
                        "server",
                        1_790_000_000_000_000_003L,
                        1_790_000_000_000_000_004L,
                        "gateway",
                        List.of("k", "v")),
                new IdAliased("req-1", "cmpl-req-1", "engine"),
                new HostSampled("host-1", "engine", "core", 1_000L, 0L, 3L, "engine-0", 20_000_000L, 2L, 90_000L),
                new ClockSampled("client-mono", "host-wall", -1L, 1_790_000_000_000_000_005L, 3L, 50L, "engine-0"),
                new KvTransferred(
                        "engine-0",
                        1,
                        "cmpl-req-7-0-ab12",
                        "remote",
                        "load",
                        -5L,
                        -5L + 1_500,
                        4_096L,
                        4_096L,
                        "prefill-1"),
                new ShapeCompiled("engine-0", 1, "gpu-0", "[7,4096]", "flash_fwd_splitkv", -5L, -5L + 1_500),
                new AllocatorSampled("engine-0", "gpu-0", 4_096L, 4_096L, 4_096L, 4_096L, 0L),
                new KernelRan(
                        "engine-0",
                        "gpu-0",
                        "7",
                        4_096L,
                        "flash_fwd_splitkv",
                        "attention",
                        -5L,
                        4_096L,
                        4_096L,
                        4_096L,
                        "g32",
                        3,
                        -7L,
                        4_096L),
                new StreamStalled("engine-0", "gpu-0", "7", 4_096L, "stream-sync", -5L, -5L + 1_500, 0, 3),
                new MemoryChanged("engine-0", "gpu-0", 4_096L, "fail", 4_096L, 4_096L, -5L, -5L + 1_500, 0),
                new HostPaused("engine-0", "host-a", "engine", "gc", -5L, -5L + 1_500),
                new ShardLoaded("engine-0", 1, "gpu-0", "model-00001-of-00004", 4_096L, -5L, -5L + 1_500, "pinned"),
                new DeviceSampled("engine-0", "gpu-0", 4_096L, 4_096L, 4_096L, 4_096L, "hw-thermal"),
                new ClockFitted(
                        "client-mono",
                        "host-wall",
                        7L,
                        -5L,
                        300_000_000_000L,
                        1_790_000_000_000_000_005L,
                        -10_995_116L,
                        12_000L,
                        21_990L,
                        40L,
                        300,
                        true,
                        2L,
                        -1_000_000_005L),
                new RuleRevised(
                        "slow-return",
                        3,
                        RuleRevised.SET,
                        "id: slow-return\nversion: 3\n",
                        1_790_000_000_000L,
                        1_790_000_000_007L,
                        12L,
                        "slow-return.yaml"),
                new CollectorGap("topic/0", 5L, 9L),
                new Rejected("steps.jsonl", 12L, 0L, "no step id", "{\"broken\": "));
    }

    /** One event of every kind with nothing known that may be absent. */
    static List<Event> sparse() {
        return List.of(
                new RequestReceived("client", "req-1", null, null, null, null, null, null, null, null, false),
                new RequestCompleted("client", "req-1", "failed", null, null, null, null, null, null),
                new ChunkDelivered("client", "req-1", List.of(new Chunk(0, 0, null, 0, 0, 0L, Finish.NONE))),
                new RequestQueued("engine-0", 0, 0, "x", null, null, null, null),
                new RequestPreempted("engine-0", 0, "x", 0L, null, null, null, null, null, null),
                new StepCompleted(
                        "",
                        0,
                        0L,
                        null,
                        null,
                        null,
                        0L,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        List.of(),
                        SequenceRows.of(List.of())),
                new RequestFinished("engine-0", 0, "x", "unknown", null, null),
                new KvBlocksStored("engine-0", 0, null, null, 0, null, List.of(), null, null, null),
                new KvBlocksEvicted("engine-0", 0, null, null, 0, null, List.of(), true, null),
                new KvLookup("engine-0", 0, null, null, null, null),
                new EngineConfigured("engine-0", 0, null, null, null, null, null, null, null, null, null, null),
                new MetricSampled("s", "n", "", 0.0),
                new SpanRecorded("t", "s", null, "n", null, null, null, null, List.of()),
                new IdAliased("req-1", "a", "o"),
                new HostSampled("h", "p", "t", null, null, null, null),
                new ClockSampled("a", "b", 0L, 0L, 0L, null),
                new KvTransferred("engine-0", 1, null, "remote", "load", 0L, null, null, null, null),
                new ShapeCompiled("engine-0", 1, null, "[7,4096]", null, 0L, 0L + 1_500),
                new AllocatorSampled("engine-0", null, null, null, null, null, null),
                new KernelRan(
                        "engine-0", null, null, null, "flash_fwd_splitkv", null, 0L, 4_096L, null, null, null, null),
                new StreamStalled("engine-0", null, null, null, "stream-sync", 0L, 0L + 1_500, null, null),
                new MemoryChanged("engine-0", null, null, "fail", null, null, null, null, null),
                new HostPaused(null, null, "engine", null, 0L, 0L + 1_500),
                new ShardLoaded("engine-0", 1, null, "model-00001-of-00004", null, 0L, 0L + 1_500, null),
                new DeviceSampled(null, "gpu-0", null, null, null, null, null),
                new ClockFitted("a", "b", 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0, false, null),
                new RuleRevised("r", null, RuleRevised.RETIRE, null, null, null, null, "s"),
                new CollectorGap("s", 0L, 0L),
                new Rejected("s", null, null, "r", null));
    }

    /** A step with this many sequences, whose optional values come and go, and two announced handles. */
    static StepCompleted step(int sequences) {
        List<SequenceRow> rows = new ArrayList<>();
        for (int i = 0; i < sequences; i++) {
            rows.add(new SequenceRow(
                    i,
                    i % 2 == 0 ? i : null,
                    i % 2 == 0 ? 1 : 0,
                    1_000 + i,
                    i % 5 + 1,
                    Phase.values()[i % Phase.values().length],
                    i % 3 == 0 ? 0 : null,
                    i % 3 == 1 ? 2 : null,
                    i % 4 < 2 ? Long.valueOf(i % 4) : null));
        }
        return new StepCompleted(
                "engine-0",
                1,
                42L,
                10L,
                20L,
                30L,
                40L,
                "mixed",
                "full",
                8,
                2L,
                0L,
                5L,
                3,
                0,
                100L,
                1_000L,
                17L,
                900L,
                List.of(new HandleAnnounced(0, "cmpl-req-1-0"), new HandleAnnounced(1, "cmpl-req-2-0")),
                SequenceRows.of(rows));
    }

    static LoggedEvent logged(Event event, long sequence) {
        return new LoggedEvent(
                new EventHeader("collector-a", 1_790_000_000L, sequence, "clock-a", 123_456_789L, EPOCH_MILLIS), event);
    }

    static LoggedEvent undated(Event event, long sequence) {
        return new LoggedEvent(new EventHeader("collector-b", 0L, sequence, "clock-b", null, null), event);
    }
}
