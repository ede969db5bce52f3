package io.tokenstair.job.evidence;

import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.HostPaused;
import io.tokenstair.event.MemoryChanged;
import io.tokenstair.event.ShapeCompiled;
import io.tokenstair.event.StreamStalled;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Recorded intervals of an engine that have not ended before the step at hand. Bounded by {@value #KEPT}: beyond it the oldest is
 * dropped.
 */
public class StallRecords {
    /** Most records that are kept. */
    public static final int KEPT = 8_192;

    /** Processes whose pause does not hold up a step: they stand before or behind the engine. */
    private static final Set<String> BESIDE =
            Set.of("api", "gateway", "client", "frontend", "tokenizer", "detokenizer", "router");

    /** The driver's code for memory that is not there: an allocator handles it, it is no error of its own. */
    private static final int OUT_OF_MEMORY = 2;

    /** An allocation that follows a failed one within this time is the same one, tried again. */
    static final long RETRY_NANOS = 250_000_000L;

    /** What follows within this follows at once. */
    static final long AT_ONCE_NANOS = 1_000_000L;

    public List<Stall> stalls = new ArrayList<>();

    /** For Flink's serializer. */
    public StallRecords() {}

    /** The interval that an event records; null for an event that records none. */
    static @Nullable Stall of(EventHeader header, Event event) {
        Stall stall = new Stall();
        stall.clockId = header.clockId();
        stall.eventId = header.eventId();
        if (event instanceof ShapeCompiled compiled) {
            stall.kind = EvidenceKind.COMPILE.ordinal();
            stall.startNanos = compiled.startNanos();
            stall.endNanos = compiled.endNanos();
            stall.detail = compiled.kernelName() == null
                    ? compiled.shape()
                    : compiled.kernelName() + " for shape " + compiled.shape();
            stall.deviceId = compiled.deviceId() == null ? "" : compiled.deviceId();
        } else if (event instanceof StreamStalled waited) {
            boolean collective = waited.stallKind().equals("collective");
            stall.kind = (collective ? EvidenceKind.COLLECTIVE : EvidenceKind.SYNC).ordinal();
            stall.startNanos = waited.startNanos();
            stall.endNanos = waited.endNanos();
            stall.detail = waited.stallKind();
            stall.deviceId = waited.deviceId() == null ? "" : waited.deviceId();
            stall.culprit = waited.lateRank() == null ? null : "rank " + waited.lateRank();
            stall.driverCode = waited.driverCode() == null ? 0 : waited.driverCode();
        } else if (event instanceof MemoryChanged changed) {
            memory(stall, header, changed);
        } else if (event instanceof HostPaused paused) {
            if (BESIDE.contains(paused.processRole())) {
                return null;
            }
            stall.kind = EvidenceKind.PAUSE.ordinal();
            stall.startNanos = paused.startNanos();
            stall.endNanos = paused.endNanos();
            stall.culprit = paused.processRole();
            stall.detail = paused.pauseCause() == null ? "" : paused.pauseCause();
        } else {
            return null;
        }
        return stall;
    }

    private static void memory(Stall stall, EventHeader header, MemoryChanged changed) {
        stall.kind = EvidenceKind.ALLOCATION.ordinal();
        long stamp = header.clockNanos() == null ? 0 : header.clockNanos();
        stall.endNanos = changed.endNanos() != null
                ? changed.endNanos()
                : changed.startNanos() != null ? changed.startNanos() : stamp;
        stall.startNanos = changed.startNanos() != null ? changed.startNanos() : stall.endNanos;
        stall.deviceId = changed.deviceId() == null ? "" : changed.deviceId();
        stall.culprit = changed.deviceId();
        int code = changed.driverCode() == null ? 0 : changed.driverCode();
        stall.driverCode = code == OUT_OF_MEMORY ? 0 : code;
        stall.open = changed.change().equals("fail");
        stall.detail = changed.change()
                + (changed.sizeBytes() == null ? "" : " of " + changed.sizeBytes() + " bytes")
                + (code == 0 ? "" : ", driver code " + code);
    }

    /** Takes an interval. An allocation that ends a failed one of its device makes one interval with it: it was tried all along. */
    void accept(Stall stall) {
        if (stall.kind == EvidenceKind.ALLOCATION.ordinal()) {
            for (int i = stalls.size() - 1; i >= 0; i--) {
                Stall earlier = stalls.get(i);
                if (earlier.open
                        && earlier.kind == stall.kind
                        && earlier.deviceId.equals(stall.deviceId)
                        && earlier.clockId.equals(stall.clockId)
                        && earlier.startNanos <= stall.startNanos
                        && stall.startNanos - earlier.endNanos <= RETRY_NANOS) {
                    earlier.endNanos = Math.max(earlier.endNanos, stall.endNanos);
                    earlier.open = stall.open || !stall.detail.startsWith("alloc");
                    return;
                }
            }
        }
        if (stall.kind == EvidenceKind.SYNC.ordinal()) {
            ofFailedAllocation(stall);
        }
        if (stalls.size() == KEPT) {
            stalls.remove(0);
        }
        stalls.add(stall);
    }

    /** A wait for the device that begins as an allocation of its fails is what the allocator does to find memory: both are one interval. */
    private void ofFailedAllocation(Stall sync) {
        for (int i = stalls.size() - 1; i >= 0; i--) {
            Stall failed = stalls.get(i);
            if (failed.open
                    && failed.kind == EvidenceKind.ALLOCATION.ordinal()
                    && failed.deviceId.equals(sync.deviceId)
                    && failed.clockId.equals(sync.clockId)
                    && failed.startNanos <= sync.startNanos
                    && sync.startNanos - failed.endNanos <= AT_ONCE_NANOS) {
                failed.endNanos = Math.max(failed.endNanos, sync.endNanos);
                return;
            }
        }
    }

    /**
     * Adds to the evidence what the intervals cover of {@code [from, to)}, each instant once, to the kind that comes first.
     *
     * @param ways the ways from other clocks; an overlap that is no longer than the bound of its way is not used
     */
    void during(long from, long to, ClockShift.Ways ways, Evidence evidence) {
        IntervalSet covered = new IntervalSet();
        for (int kind = 0; kind < EvidenceKind.INTERVALS; kind++) {
            for (Stall stall : stalls) {
                if (stall.kind != kind) {
                    continue;
                }
                ClockShift shift = ways.toEngine(stall.clockId, to);
                if (shift == null) {
                    continue;
                }
                long start = Math.max(from, stall.startNanos + shift.addNanos());
                long end = Math.min(to, stall.endNanos + shift.addNanos());
                if (end >= start && stall.driverCode != 0) {
                    evidence.driverCode = stall.driverCode;
                    evidence.driverEventId = stall.eventId;
                }
                if (end - start > shift.boundNanos()) {
                    evidence.add(
                            EvidenceKind.ofOrdinal(kind),
                            covered.add(start, end),
                            stall.eventId,
                            stall.culprit,
                            stall.detail);
                }
            }
        }
    }

    /** Forgets what ended before a reading of the engine's clock, and what no way joins to it. */
    void forgetBefore(long nanos, ClockShift.Ways ways) {
        stalls.removeIf(stall -> {
            ClockShift shift = ways.toEngine(stall.clockId, nanos);
            return shift == null || stall.endNanos + shift.addNanos() < nanos - shift.boundNanos();
        });
    }
}
