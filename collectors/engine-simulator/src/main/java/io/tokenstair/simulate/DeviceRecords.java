package io.tokenstair.simulate;

import io.tokenstair.event.AllocatorSampled;
import io.tokenstair.event.DeviceSampled;
import io.tokenstair.event.KernelRan;
import io.tokenstair.event.MemoryChanged;
import io.tokenstair.event.ShapeCompiled;
import io.tokenstair.event.StreamStalled;
import org.jspecify.annotations.Nullable;

/** What is written down beside the engine about its device: kernels summed per class and step, stalls, memory, clock and heat. */
final class DeviceRecords {
    private static final String DEVICE_COLLECTOR = "sim-device";
    private static final String RUNTIME_COLLECTOR = "sim-runtime";
    private static final String STREAM = "7";
    private static final int LAYERS = 32;
    private static final long KV_HEADS = 8;
    private static final long GEMM_TILE_TOKENS = 64;
    private static final long GEMM_TILE_COLUMNS = 32;
    private static final long GEMM_SHARED_BYTES = 213_000;
    private static final long ATTENTION_SHARED_BYTES = 82_000;
    private static final long SM_CLOCK_HERTZ = 1_980_000_000L;
    private static final long MEMORY_CLOCK_HERTZ = 2_619_000_000L;
    private static final long DEVICE_EVERY_NANOS = 100_000_000L;
    private static final long ALLOCATOR_EVERY_NANOS = 1_000_000_000L;
    private static final long RESERVED_BYTES = 71L << 30;
    private static final long TRIMMED_BYTES = 512L << 20;
    private static final int OUT_OF_MEMORY = 2;
    private static final int LAUNCH_TIMEOUT = 702;

    private final Settings settings;
    private final EngineName name;
    private final Hosts hosts;
    private final EventLog log;
    private final RandomStream stream;
    private long retries;
    private long lastAllocatorNanos = -ALLOCATOR_EVERY_NANOS;

    DeviceRecords(EngineName name, Settings settings, Hosts hosts, EventLog log, RandomStream stream) {
        this.settings = settings;
        this.name = name;
        this.hosts = hosts;
        this.log = log;
        this.stream = stream;
    }

    void stepped(StepRun step) {
        if (step.updateEndNanos - lastAllocatorNanos >= ALLOCATOR_EVERY_NANOS) {
            lastAllocatorNanos = step.updateEndNanos;
            allocator(step.updateEndNanos);
        }
        long collectiveWait = 0;
        for (StepRun.Stall stall : step.stalls) {
            stalled(step, stall);
            collectiveWait += stall.kind() == FaultKind.COLLECTIVE ? stall.nanos() : 0;
        }
        kernels(step, collectiveWait);
    }

    private void kernels(StepRun step, long collectiveWait) {
        long at = step.modelStartNanos;
        String graph = step.graphMode == StepCost.GraphMode.FULL ? "graph-" + StepLaw.padded(step.work.rows()) : null;
        long tokens = StepLaw.padded(step.work.rows()) + step.tokens(false, false) + step.tokens(false, true);
        long tiles = (tokens + GEMM_TILE_TOKENS - 1) / GEMM_TILE_TOKENS * GEMM_TILE_COLUMNS;
        at = kernel(
                step,
                graph,
                at,
                "sm90_xmma_gemm_bf16",
                "gemm",
                step.cost.gemmNanos(),
                4 * LAYERS + 1,
                tiles,
                GEMM_SHARED_BYTES);
        at = kernel(
                step,
                graph,
                at,
                "flash_fwd_splitkv_kernel",
                "attention",
                step.cost.attentionNanos(),
                LAYERS,
                KV_HEADS * tokens,
                ATTENTION_SHARED_BYTES);
        at = kernel(
                step,
                graph,
                at,
                "fused_add_rms_norm_kernel",
                "other",
                step.cost.otherNanos(),
                4 * LAYERS,
                tokens,
                null);
        if (settings.tensorParallelCount > 1) {
            kernel(
                    step,
                    graph,
                    at,
                    "ncclDevKernel_AllReduce",
                    "collective",
                    120_000 + collectiveWait,
                    2 * LAYERS,
                    null,
                    null);
        }
    }

    private long kernel(
            StepRun step,
            @Nullable String graph,
            long at,
            String kernelName,
            String kernelClass,
            long nanos,
            int launches,
            @Nullable Long grid,
            @Nullable Long sharedBytes) {
        // The device's timer ticks: so does the sum of many kernels, a little.
        long ticked = Math.max(32, nanos / 32 * 32);
        log.add(
                name.collector(DEVICE_COLLECTOR),
                hosts.device(name),
                at + nanos,
                new KernelRan(
                        name.engineId(),
                        name.deviceId(),
                        STREAM,
                        step.stepId,
                        kernelName,
                        kernelClass,
                        hosts.device(name).read(at),
                        ticked,
                        grid,
                        sharedBytes,
                        graph,
                        launches));
        return at + nanos;
    }

    private void stalled(StepRun step, StepRun.Stall stall) {
        long from = stall.fromNanos();
        long to = stall.toNanos();
        switch (stall.kind()) {
            case SYNC -> stream(step, "stream-sync", from, to, 0, null);
            case DRIVER_ERROR -> stream(step, "event-sync", from, to, LAUNCH_TIMEOUT, null);
            case COLLECTIVE -> stream(step, "collective", from, to, 0, 1);
            case JIT ->
                log.add(
                        name.collector(RUNTIME_COLLECTOR),
                        hosts.engine,
                        to,
                        new ShapeCompiled(
                                name.engineId(),
                                0,
                                name.deviceId(),
                                "tokens=" + step.work.rows() + ",variant=" + stall.ordinal(),
                                "_fwd_kernel",
                                hosts.engineNanos(from),
                                hosts.engineNanos(to)));
            case ALLOC -> {
                retries++;
                memory(step, "fail", 0L, from, from + 20_000, OUT_OF_MEMORY);
                stream(step, "device-sync", from + 30_000, to - 30_000, 0, null);
                memory(step, "trim", TRIMMED_BYTES, from + 20_000, to, 0);
                allocator(to);
            }
            default -> {}
        }
    }

    private void stream(StepRun step, String kind, long from, long to, int driverCode, @Nullable Integer lateRank) {
        log.add(
                name.collector(RUNTIME_COLLECTOR),
                hosts.engine,
                to,
                new StreamStalled(
                        name.engineId(),
                        name.deviceId(),
                        STREAM,
                        step.stepId,
                        kind,
                        hosts.engineNanos(from),
                        hosts.engineNanos(to),
                        driverCode,
                        lateRank));
    }

    private void memory(StepRun step, String change, long freeBytes, long from, long to, int driverCode) {
        log.add(
                name.collector(RUNTIME_COLLECTOR),
                hosts.engine,
                to,
                new MemoryChanged(
                        name.engineId(),
                        name.deviceId(),
                        step.stepId,
                        change,
                        TRIMMED_BYTES,
                        freeBytes,
                        hosts.engineNanos(from),
                        hosts.engineNanos(to),
                        driverCode));
    }

    private void allocator(long at) {
        long active = RESERVED_BYTES - (3L << 30);
        log.add(
                name.collector(RUNTIME_COLLECTOR),
                hosts.engine,
                at,
                new AllocatorSampled(
                        name.engineId(), name.deviceId(), RESERVED_BYTES, active, 2L << 30, retries, retries));
    }

    /** Clock, power and heat of the device, while the run lasts. */
    void sampleDevice(long endNanos) {
        for (long now = 0; now <= endNanos; now += DEVICE_EVERY_NANOS) {
            double slower = 1;
            for (Fault fault : settings.faults) {
                if (fault.kind() == FaultKind.THERMAL && fault.activeAt(now)) {
                    slower *= fault.factor();
                }
            }
            long number = now / DEVICE_EVERY_NANOS;
            boolean hot = slower > 1;
            log.add(
                    name.collector(DEVICE_COLLECTOR),
                    hosts.device(name),
                    now,
                    new DeviceSampled(
                            name.engineId(),
                            name.deviceId(),
                            StrictMath.round(SM_CLOCK_HERTZ / slower / 15e6) * 15_000_000L,
                            MEMORY_CLOCK_HERTZ,
                            610_000 + stream.between(2 * number, -15_000, 15_000),
                            (hot ? 91_000 : 64_000) + stream.between(2 * number + 1, -1, 1) * 1_000,
                            hot ? "hw-thermal" : "none"));
        }
    }
}
