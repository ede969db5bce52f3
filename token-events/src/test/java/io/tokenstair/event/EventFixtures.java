package io.tokenstair.event;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Made-up events: one of each kind with every field, one of each with as few fields as it can have, and random ones by seed. */
public final class EventFixtures {
    private static final long MONOTONIC = 5_000_000_000_123L;
    private static final long EPOCH = 1_790_000_000_000_000_456L;

    private EventFixtures() {}

    /** A header with every field. */
    public static EventHeader header(long sequence) {
        return new EventHeader(
                "engine-0",
                1_790_000_000_000L,
                sequence,
                "host-a/monotonic",
                MONOTONIC + sequence,
                EPOCH / 1_000_000 + sequence);
    }

    /** A header without the fields that can be absent. */
    public static EventHeader sparseHeader(long sequence) {
        return new EventHeader("import", 1, sequence, "none", null, null);
    }

    /** An event of the kind with every field present. */
    public static Event full(EventKind kind) {
        return switch (kind) {
            case REQUEST_RECEIVED ->
                new RequestReceived(
                        "client",
                        "req-7",
                        "4bf92f3577b34da6a3ce929d0e0e4736",
                        "00f067aa0ba902b7",
                        "llama-3-8b",
                        "/v1/completions",
                        -2,
                        1_024L,
                        256L,
                        2,
                        true);
            case REQUEST_COMPLETED ->
                new RequestCompleted(
                        "gateway",
                        "req-7",
                        "client-closed",
                        200,
                        "Überlast",
                        97L,
                        96L,
                        MONOTONIC + 1_000,
                        MONOTONIC + 900_000_000,
                        1_024L,
                        512L,
                        MONOTONIC + 40_000_000,
                        9_500_000L);
            case CHUNK_DELIVERED ->
                new ChunkDelivered(
                        "client",
                        "req-7",
                        List.of(
                                new Chunk(0, 0, null, 0, 180, MONOTONIC, Finish.NONE),
                                new Chunk(0, 1, 0, 1, 212, MONOTONIC + 11_000_000, Finish.NONE),
                                new Chunk(
                                        1,
                                        2,
                                        1,
                                        3,
                                        240,
                                        MONOTONIC + 22_500_000,
                                        Finish.LENGTH,
                                        MONOTONIC + 22_600_000,
                                        MONOTONIC + 22_700_000)));
            case REQUEST_QUEUED -> new RequestQueued("engine-0", 1, 41, "cmpl-req-7-0-ab12", EPOCH, 1_024L, 256L, 5);
            case REQUEST_PREEMPTED ->
                new RequestPreempted(
                        "engine-0",
                        1,
                        "cmpl-req-7-0-ab12",
                        812,
                        "kv-capacity",
                        "cmpl-req-9-0-cd34",
                        1_088L,
                        64L,
                        1,
                        3L);
            case STEP_COMPLETED ->
                new StepCompleted(
                        "engine-0",
                        1,
                        813,
                        MONOTONIC,
                        MONOTONIC + 200_000,
                        MONOTONIC + 11_000_000,
                        MONOTONIC + 11_300_000,
                        "mixed",
                        "piecewise",
                        8,
                        2L,
                        512L,
                        1_088L,
                        4,
                        2,
                        2_890L,
                        2_893L,
                        77L,
                        41_000L,
                        List.of(
                                new HandleAnnounced(41, "cmpl-req-7-0-ab12"),
                                new HandleAnnounced(300, "cmpl-req-9-0-cd34")),
                        SequenceRows.of(List.of(
                                new SequenceRow(41, 64, 1, 1_089, 1, Phase.DECODE, null, null, 12_000L),
                                new SequenceRow(42, 10, 3, 400, 3, Phase.DECODE, null, 2, 0L),
                                new SequenceRow(300, null, 0, 512, 512, Phase.PREFILL, 128, 0, null),
                                new SequenceRow(43, null, 0, 1_088, 1_088, Phase.RESUMED, 0, 1, null),
                                new SequenceRow(44, 0, 1, 16, 16, Phase.RECOMPUTE, null, 1, 5L))));
            case REQUEST_FINISHED -> new RequestFinished("engine-0", 1, "cmpl-req-7-0-ab12", "length", 256L, 1_100L);
            case KV_BLOCKS_STORED ->
                new KvBlocksStored(
                        "engine-0", 1, 77L, EPOCH, 2, "GPU", List.of(1L, -1L, Long.MIN_VALUE), 9_876_543_210L, 16, 48L);
            case KV_BLOCKS_EVICTED ->
                new KvBlocksEvicted(
                        "engine-0",
                        1,
                        78L,
                        EPOCH,
                        3,
                        "GPU",
                        List.of(42L, Long.MAX_VALUE),
                        true,
                        "capacity",
                        "cmpl-req-2-0-1a2b3c4d",
                        List.of(0L, 7L),
                        List.of(-1L, 900_000L));
            case KV_LOOKUP -> new KvLookup("engine-0", 1, 4_096L, 1_024L, 1_088L, 0L);
            case ENGINE_CONFIGURED ->
                new EngineConfigured(
                        "engine-0",
                        1,
                        "vllm",
                        "0.14.0",
                        8_192L,
                        256,
                        2_893L,
                        16,
                        "priority",
                        true,
                        false,
                        "llama-3-8b",
                        4,
                        512,
                        2,
                        8);
            case METRIC_SAMPLED ->
                new MetricSampled("http://engine-0/metrics", "kv_cache_usage_perc", "engine=\"0\",model=\"m\"", 0.9375);
            case SPAN_RECORDED ->
                new SpanRecorded(
                        "4bf92f3577b34da6a3ce929d0e0e4736",
                        "00f067aa0ba902b8",
                        "00f067aa0ba902b7",
                        "llm_request",
                        "SERVER",
                        EPOCH,
                        EPOCH + 3_000_000_000L,
                        "engine",
                        List.of("gen_ai.request.id", "cmpl-req-7", "gen_ai.usage.output_tokens", "256"));
            case ID_ALIASED -> new IdAliased("req-7", "cmpl-req-7-0-ab12", "engine-0");
            case HOST_SAMPLED ->
                new HostSampled(
                        "host-a",
                        "engine",
                        "scheduler",
                        88_000_000_000L,
                        1_500_000L,
                        0L,
                        "engine-0",
                        20_000_000L,
                        3L,
                        90_000L);
            case CLOCK_SAMPLED ->
                new ClockSampled(
                        "host-a/monotonic", "host-a/wall", MONOTONIC, EPOCH, MONOTONIC + 80, 1_000L, "engine-0");
            case KV_TRANSFERRED ->
                new KvTransferred(
                        "engine-0",
                        1,
                        "cmpl-req-7-0-ab12",
                        "remote",
                        "load",
                        MONOTONIC,
                        MONOTONIC + 1_500,
                        4_096L,
                        4_096L,
                        "prefill-1");
            case SHAPE_COMPILED ->
                new ShapeCompiled(
                        "engine-0", 1, "gpu-0", "[7,4096]", "flash_fwd_splitkv", MONOTONIC, MONOTONIC + 1_500);
            case ALLOCATOR_SAMPLED -> new AllocatorSampled("engine-0", "gpu-0", 4_096L, 4_096L, 4_096L, 4_096L, 0L);
            case KERNEL_RAN ->
                new KernelRan(
                        "engine-0",
                        "gpu-0",
                        "7",
                        4_096L,
                        "flash_fwd_splitkv",
                        "attention",
                        MONOTONIC,
                        4_096L,
                        4_096L,
                        4_096L,
                        "g32",
                        3,
                        MONOTONIC - 1_500,
                        4_096L);
            case STREAM_STALLED ->
                new StreamStalled("engine-0", "gpu-0", "7", 4_096L, "stream-sync", MONOTONIC, MONOTONIC + 1_500, 0, 3);
            case MEMORY_CHANGED ->
                new MemoryChanged("engine-0", "gpu-0", 4_096L, "fail", 4_096L, 4_096L, MONOTONIC, MONOTONIC + 1_500, 0);
            case HOST_PAUSED -> new HostPaused("engine-0", "host-a", "engine", "gc", MONOTONIC, MONOTONIC + 1_500);
            case SHARD_LOADED ->
                new ShardLoaded(
                        "engine-0", 1, "gpu-0", "model-00001-of-00004", 4_096L, MONOTONIC, MONOTONIC + 1_500, "pinned");
            case DEVICE_SAMPLED -> new DeviceSampled("engine-0", "gpu-0", 4_096L, 4_096L, 4_096L, 4_096L, "hw-thermal");
            case CLOCK_FITTED ->
                new ClockFitted(
                        "host-a/monotonic",
                        "host-a/wall",
                        4_096L,
                        MONOTONIC,
                        MONOTONIC + 300_000_000_000L,
                        EPOCH - MONOTONIC,
                        -10_995_116L,
                        12_000L,
                        21_990L,
                        40L,
                        300,
                        true,
                        2L,
                        MONOTONIC - 1_000_000_000L);
            case RULE_REVISED ->
                new RuleRevised(
                        "slow-return",
                        3,
                        RuleRevised.SET,
                        "id: slow-return\nversion: 3\n",
                        EPOCH / 1_000_000,
                        EPOCH / 1_000_000 + 7,
                        12L,
                        "slow-return.yaml");
            case COLLECTOR_GAP -> new CollectorGap("kv-events", 100, 104);
            case REJECTED -> new Rejected("client.jsonl", 17L, 4_096L, "not an object", "[1, 2");
        };
    }

    /** The event of the kind with every field absent that can be. */
    public static Event sparse(EventKind kind) {
        return switch (kind) {
            case CHUNK_DELIVERED -> new ChunkDelivered("", "", List.of(new Chunk(0, 0, null, 0, 0, 0, Finish.NONE)));
            default ->
                build(full(kind).getClass(), new Values() {
                    @Override
                    public @Nullable Object of(RecordComponent component) {
                        return isNullable(component) ? null : smallest(component.getType());
                    }
                });
        };
    }

    private static Object smallest(Class<?> type) {
        if (type == String.class) {
            return "";
        } else if (type == int.class) {
            return 0;
        } else if (type == long.class) {
            return 0L;
        } else if (type == double.class) {
            return 0.0;
        } else if (type == boolean.class) {
            return false;
        } else if (type == List.class) {
            return List.of();
        } else if (type == SequenceRows.class) {
            return SequenceRows.of(List.of(new SequenceRow(0, null, 0, 0, 0, Phase.PREFILL, null, null, null)));
        }
        throw new IllegalArgumentException("Cannot make up a value of " + type);
    }

    /** A random event of the kind; the same seed gives the same event. */
    public static Event random(EventKind kind, long seed) {
        Random random = new Random(seed * 31 + kind.tag());
        if (kind == EventKind.CHUNK_DELIVERED) {
            List<Chunk> chunks = new ArrayList<>();
            for (int i = 0; i <= random.nextInt(ChunkDelivered.MAX_CHUNKS); i++) {
                int tokens = random.nextInt(4);
                chunks.add(new Chunk(
                        random.nextInt(3),
                        i,
                        tokens == 0 ? null : Integer.valueOf(random.nextInt(5_000)),
                        tokens,
                        random.nextInt(),
                        random.nextLong(),
                        Finish.ofCode(random.nextInt(6))));
            }
            return new ChunkDelivered(text(random), text(random), chunks);
        }
        int blocks = random.nextInt(40);
        return build(full(kind).getClass(), new Values() {
            @Override
            public @Nullable Object of(RecordComponent component) {
                return isNullable(component) && random.nextInt(3) == 0 ? null : random(component, random, blocks);
            }
        });
    }

    /** A random header; the same seed gives the same header. */
    public static EventHeader randomHeader(long seed) {
        Random random = new Random(seed);
        return new EventHeader(
                text(random),
                random.nextLong(),
                random.nextLong(),
                text(random),
                random.nextBoolean() ? random.nextLong() : null,
                random.nextBoolean() ? random.nextLong() : null);
    }

    /** Columns of blocks are all of one length, or empty where nothing is known of any. */
    private static Object random(RecordComponent component, Random random, int blocks) {
        Class<?> type = component.getType();
        if (type == String.class) {
            return text(random);
        } else if (type == int.class || type == Integer.class) {
            return number(random).intValue();
        } else if (type == long.class || type == Long.class) {
            return number(random);
        } else if (type == double.class) {
            return Double.longBitsToDouble(random.nextLong());
        } else if (type == boolean.class || type == Boolean.class) {
            return random.nextBoolean();
        } else if (type == SequenceRows.class) {
            return rows(random);
        } else if (component.getName().equals("blockHashes")) {
            return random.longs(blocks).boxed().toList();
        } else if (component.getName().equals("reuseCount")
                || component.getName().equals("idleNanos")) {
            return random.longs(random.nextBoolean() ? blocks : 0).boxed().toList();
        } else if (component.getName().equals("attributes")) {
            return List.of(text(random), text(random));
        } else if (component.getName().equals("announcements")) {
            return List.of(new HandleAnnounced(random.nextInt(), text(random)));
        }
        throw new IllegalArgumentException("Cannot make up a value of " + component);
    }

    private static SequenceRows rows(Random random) {
        List<SequenceRow> rows = new ArrayList<>();
        for (int i = random.nextInt(300); i > 0; i--) {
            rows.add(new SequenceRow(
                    random.nextInt(),
                    random.nextBoolean() ? random.nextInt(Integer.MAX_VALUE) : null,
                    random.nextInt(Integer.MAX_VALUE),
                    random.nextInt(200_000),
                    random.nextInt(10_000),
                    Phase.ofCode(1 + random.nextInt(4)),
                    random.nextBoolean() ? random.nextInt(Integer.MAX_VALUE) : null,
                    random.nextBoolean() ? random.nextInt(5) : null,
                    random.nextBoolean() ? random.nextLong() >>> 2 : null));
        }
        return SequenceRows.of(rows);
    }

    private static Long number(Random random) {
        return switch (random.nextInt(5)) {
            case 0 -> 0L;
            case 1 -> random.nextBoolean() ? Long.MAX_VALUE : Long.MIN_VALUE;
            case 2 -> (long) -random.nextInt(1_000);
            default -> random.nextLong() >> random.nextInt(64);
        };
    }

    private static String text(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(40); i > 0; i--) {
            int codePoint = random.nextInt(8) > 0 ? 32 + random.nextInt(95) : random.nextInt(0x11_0000);
            text.appendCodePoint(codePoint >= 0xD800 && codePoint < 0xE000 ? '?' : codePoint);
        }
        return text.toString();
    }

    /** True for a component whose type is marked as nullable: it can be absent. */
    static boolean isNullable(RecordComponent component) {
        return component.getAnnotatedType().isAnnotationPresent(Nullable.class);
    }

    private static Event build(Class<?> type, Values values) {
        RecordComponent[] components = type.getRecordComponents();
        Class<?>[] types = new Class<?>[components.length];
        @Nullable Object[] arguments = new @Nullable Object[components.length];
        for (int i = 0; i < components.length; i++) {
            types[i] = components[i].getType();
            arguments[i] = values.of(components[i]);
        }
        try {
            return (Event) type.getDeclaredConstructor(types).newInstance(arguments);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Cannot make " + type, e);
        }
    }

    /** Where the values of a made-up event come from. */
    private interface Values {
        @Nullable
        Object of(RecordComponent component);
    }
}
