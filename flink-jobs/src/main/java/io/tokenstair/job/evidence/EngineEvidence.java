package io.tokenstair.job.evidence;

import io.tokenstair.event.AllocatorSampled;
import io.tokenstair.event.DeviceSampled;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.HostPaused;
import io.tokenstair.event.KernelRan;
import io.tokenstair.event.KvTransferred;
import io.tokenstair.event.MemoryChanged;
import io.tokenstair.event.ShapeCompiled;
import io.tokenstair.event.StreamStalled;
import io.tokenstair.job.window.SortedWindow;
import org.jspecify.annotations.Nullable;

/**
 * What an engine's records say of its stalls. Fed with them in total order, asked once per step, it answers with what they cover of the
 * step beyond what is usual. Every overlap is taken on one clock; a record of a clock that no sample joins to the engine's is not used.
 * Bounded by its parts.
 */
public class EngineEvidence {
    /** Nothing that one record says lasts longer: a longer one is absurd, and not used. */
    public static final long ABSURD_NANOS = 3_600_000_000_000L;

    /** Stamps beyond it, either way, are absurd: differences of them would not fit. */
    public static final long ABSURD_STAMP_NANOS = 1L << 62;

    /** Records that explain less than one part in so many of a step explain no slow token. */
    private static final int NEGLIGIBLE = 50;

    /** Steps after which it is known how long an engine usually waits. */
    static final int KNOWN = 8;

    /** How long after a step, in event time, records of it may come once an engine has any. */
    public static final long RECORD_MILLIS = 1_000;

    /** How long after a step, in event time, an allocator's next sample may come. */
    public static final long SAMPLE_MILLIS = 2_000;

    private static final EvidenceKind[] USUAL = {EvidenceKind.ALLOCATION, EvidenceKind.COLLECTIVE, EvidenceKind.SYNC};

    public StallRecords stalls = new StallRecords();
    public KernelRecords kernels = new KernelRecords();
    public DeviceClocks clocks = new DeviceClocks();
    public AllocatorCounts allocators = new AllocatorCounts();
    public TransferRecords transfers = new TransferRecords();
    public SortedWindow allocationWindow = new SortedWindow(400);
    public SortedWindow collectiveWindow = new SortedWindow(400);
    public SortedWindow syncWindow = new SortedWindow(400);

    /** True once any record of kernels, stalls, memory, devices or allocators came. */
    public boolean gpuReported;
    /** True once any record came that a step is asked about. */
    public boolean reported;
    /** Records whose stamps or lengths cannot be. */
    public long absurdRecords;

    /** For Flink's serializer. */
    public EngineEvidence() {}

    /** Takes an event if it is a record of these; false for every other kind. */
    public boolean accept(EventHeader header, Event event) {
        if (event instanceof KernelRan ran) {
            gpuReported = true;
            reported = true;
            if (!isSound(ran.startNanos(), ran.durationNanos())) {
                absurdRecords++;
                return true;
            }
            kernels.accept(
                    ran, header.clockId(), header.collectorId() + '/' + header.collectorEpoch(), header.sequence());
            return true;
        }
        if (event instanceof KvTransferred transferred) {
            reported = true;
            Long end = transferred.endNanos();
            if (end != null && !isSoundInterval(transferred.startNanos(), end)) {
                absurdRecords++;
                return true;
            }
            transfers.accept(transferred, header.clockId(), header.clockNanos(), header.eventId());
            return true;
        }
        if (event instanceof DeviceSampled sampled) {
            gpuReported = true;
            if (header.clockNanos() != null) {
                clocks.accept(sampled, header.clockId(), header.clockNanos(), header.eventId());
            }
            return true;
        }
        if (event instanceof AllocatorSampled sampled) {
            gpuReported = true;
            reported = true;
            if (header.clockNanos() != null) {
                allocators.accept(sampled, header.clockId(), header.clockNanos(), header.eventId());
            }
            return true;
        }
        if (event instanceof HostPaused
                || event instanceof ShapeCompiled
                || event instanceof StreamStalled
                || event instanceof MemoryChanged) {
            reported = true;
            gpuReported |= event instanceof StreamStalled || event instanceof MemoryChanged;
            Stall stall = StallRecords.of(header, event);
            if (stall != null && isSoundInterval(stall.startNanos, stall.endNanos)) {
                stalls.accept(stall);
            } else if (stall != null) {
                absurdRecords++;
            }
            return true;
        }
        return false;
    }

    private static boolean isSoundInterval(long start, long end) {
        return isStamp(start) && isStamp(end) && isSound(start, end - start);
    }

    private static boolean isSound(long start, long length) {
        return isStamp(start) && length >= 0 && length <= ABSURD_NANOS;
    }

    /** True for a stamp that may be one. */
    public static boolean isStamp(long nanos) {
        return nanos > -ABSURD_STAMP_NANOS && nanos < ABSURD_STAMP_NANOS;
    }

    /** How long, in event time, a step that ends at this reading should wait for its records. */
    public long waitMillis(long endNanos, String engineClockId) {
        if (!reported) {
            return 0;
        }
        return allocators.covers(endNanos, engineClockId) ? RECORD_MILLIS : SAMPLE_MILLIS;
    }

    /**
     * What the records say of a step; null when they say nothing. To be asked once for each step, in order: what a step shows becomes
     * what is usual.
     *
     * @param previousNanos where its interval begins: the end of the step before
     * @param endNanos where it ends
     * @param expectedNanos what it should have taken; 0 while that is not known
     * @param spreadNanos by how much steps miss that anyway
     */
    public @Nullable Evidence ofStep(
            long stepId,
            long previousNanos,
            long endNanos,
            StepWork work,
            long expectedNanos,
            long spreadNanos,
            ClockShift.Ways ways) {
        if (!gpuReported && !reported) {
            return null;
        }
        Evidence evidence = new Evidence();
        stalls.during(previousNanos, endNanos, ways, evidence);
        kernels.during(stepId, previousNanos, endNanos, work, clocks, ways, evidence);
        for (EvidenceKind kind : USUAL) {
            SortedWindow window = window(kind);
            long nanos = evidence.nanos(kind);
            evidence.lessUsual(kind, window.size() < KNOWN ? 0 : window.median());
            window.add(nanos);
        }
        long ofKernels = evidence.nanos(EvidenceKind.KERNEL)
                + evidence.nanos(EvidenceKind.THERMAL)
                + evidence.nanos(EvidenceKind.VARIANT);
        // A call that waited for slow kernels waited for them.
        evidence.lessUsual(EvidenceKind.SYNC, ofKernels);
        long beyond = endNanos - previousNanos - expectedNanos;
        if (expectedNanos > 0 && beyond > 0) {
            counted(evidence, previousNanos, endNanos, beyond, spreadNanos, ways);
            if (ofKernels == 0 && kernels.kernels.isEmpty()) {
                byClockAlone(evidence, endNanos, expectedNanos, beyond, ways);
            }
        }
        return evidence.isMoreThan((endNanos - previousNanos) / NEGLIGIBLE) ? evidence : null;
    }

    /** A step was scheduled and has run. To be asked before what its sequences waited for. */
    public void stepped(long scheduledNanos, long endNanos, ClockShift.Ways ways) {
        transfers.stepped(scheduledNanos, endNanos, ways);
    }

    /** Whether KV blocks of a request were on their way at a reading of the engine's clock. */
    public boolean isLoading(String engineRequestId, long atNanos, ClockShift.Ways ways) {
        return transfers.isUnderWay(engineRequestId, atNanos, ways);
    }

    /** Forgets what only a step that ended there, or an earlier one, could ask for. */
    public void stepDone(long endNanos, ClockShift.Ways ways) {
        if (!stalls.stalls.isEmpty()) {
            stalls.forgetBefore(endNanos, ways);
        }
    }

    /** What the intervals say of the end of a step's interval, for a request that came in the middle of it. */
    public Evidence ofInterval(long fromNanos, long toNanos, Evidence ofStep, ClockShift.Ways ways) {
        Evidence evidence = new Evidence();
        stalls.during(fromNanos, toNanos, ways, evidence);
        for (EvidenceKind kind : USUAL) {
            evidence.lessUsual(kind, evidence.nanos(kind) - ofStep.nanos(kind));
        }
        for (int i = EvidenceKind.INTERVALS; i < EvidenceKind.COUNT; i++) {
            EvidenceKind kind = EvidenceKind.ofOrdinal(i);
            evidence.add(kind, ofStep.nanos(kind), ofStep.eventId(kind), ofStep.culprit(kind), ofStep.detail(kind));
        }
        evidence.clockKnown = ofStep.clockKnown;
        evidence.launchedAs(ofStep);
        return evidence;
    }

    private SortedWindow window(EvidenceKind kind) {
        return kind == EvidenceKind.ALLOCATION
                ? allocationWindow
                : kind == EvidenceKind.COLLECTIVE ? collectiveWindow : syncWindow;
    }

    private void counted(Evidence evidence, long from, long to, long beyond, long spreadNanos, ClockShift.Ways ways) {
        long rest = beyond;
        for (long some : evidence.nanos) {
            rest -= some;
        }
        if (2 * rest < beyond || rest <= spreadNanos || rest < (to - from) / 8) {
            return;
        }
        AllocatorCounts.Rise rise = allocators.take(from, to, ways);
        if (rise != null) {
            evidence.add(
                    EvidenceKind.ALLOCATION_COUNTED,
                    rest,
                    rise.eventId,
                    rise.deviceId.isEmpty() ? null : rise.deviceId,
                    "");
        }
    }

    /** Without kernel records a step that is longer in proportion to a lower clock is consistent with it. */
    private void byClockAlone(Evidence evidence, long endNanos, long expectedNanos, long beyond, ClockShift.Ways ways) {
        double most = 1;
        String deviceId = "";
        String eventId = "";
        for (java.util.Map.Entry<String, DeviceClocks.Device> entry : clocks.devices.entrySet()) {
            double slowdown = DeviceClocks.slowdown(entry.getValue(), endNanos, ways);
            if (slowdown > most || (slowdown == most && entry.getKey().compareTo(deviceId) < 0)) {
                most = slowdown;
                deviceId = entry.getKey();
                eventId = entry.getValue().lastEventId;
            }
        }
        double slower = expectedNanos * (most - 1);
        if (most >= KernelRecords.LOWER_CLOCK && beyond >= 0.5 * slower && beyond <= 1.5 * slower) {
            evidence.add(
                    EvidenceKind.THERMAL,
                    StrictMath.round(StrictMath.min(beyond, slower)),
                    eventId,
                    deviceId,
                    "by its clock alone");
        }
    }
}
