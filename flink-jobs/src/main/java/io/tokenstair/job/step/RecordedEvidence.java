package io.tokenstair.job.step;

import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Confidence;
import io.tokenstair.cause.Part;
import io.tokenstair.clock.AlignedStamp;
import io.tokenstair.job.evidence.ClockShift;
import io.tokenstair.job.evidence.Evidence;
import io.tokenstair.job.evidence.EvidenceKind;
import io.tokenstair.job.evidence.StepWork;
import io.tokenstair.job.evidence.TransferWait;
import io.tokenstair.narrative.Phrase;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Lays records of stalls beside steps and gaps: what they say of a step, what a sequence gathers of it, what of a gap's remaining time
 * is charged to them, and which cause that makes. Nothing is charged beyond what remains.
 */
final class RecordedEvidence {
    /** Records that say how long something took, in the order in which they are charged. */
    private static final EvidenceKind[] MEASURED = {
        EvidenceKind.COMPILE,
        EvidenceKind.ALLOCATION,
        EvidenceKind.PAUSE,
        EvidenceKind.COLLECTIVE,
        EvidenceKind.VARIANT,
        EvidenceKind.THERMAL,
        EvidenceKind.KERNEL,
        EvidenceKind.SYNC
    };

    private final EngineState state;
    private final ClockShift.Ways ways = this::toEngine;
    private final long[] charged = new long[EvidenceKind.COUNT];
    /** True when the length of a driver's error is not recorded, only that it happened. */
    private boolean errorWithoutLength;

    RecordedEvidence(EngineState state) {
        this.state = state;
    }

    private @Nullable ClockShift toEngine(String clockId, long aroundNanos) {
        if (clockId.equals(state.clockId)) {
            return ClockShift.NONE;
        }
        AlignedStamp aligned = state.clocks.align(state.clockId, clockId, aroundNanos, state.stepMillis);
        return aligned == null ? null : new ClockShift(aroundNanos - aligned.epochNanos(), aligned.boundNanos());
    }

    // ---- the step

    void step(JudgedStep judged) {
        state.evidence.stepped(judged.beginNanos, judged.endNanos, ways);
        long expected = judged.warm
                ? StrictMath.round(judged.expectedNanos)
                : judged.referenceKnown ? judged.referenceNanos : 0;
        judged.evidence = state.evidence.ofStep(
                judged.stepId,
                judged.endNanos - judged.intervalNanos,
                judged.endNanos,
                new StepWork(judged.load.residentTokens(), judged.load.paddedCount(), judged.load.promptTokens()),
                expected,
                StrictMath.round(judged.spreadNanos),
                ways);
    }

    /** Whether KV blocks of a sequence were on their way at a reading of the engine's clock. */
    boolean isLoading(SequenceState sequence, long atNanos) {
        return state.evidence.isLoading(sequence.name.engineRequestId, atNanos, ways);
    }

    void done(JudgedStep judged) {
        state.evidence.stepDone(judged.endNanos, ways);
    }

    /** Adds what the records say of a step to what a sequence of it has gathered since its last token. */
    void gather(JudgedStep judged, SequenceState sequence, long previousNanos, boolean first) {
        long since = sequence.lastKnown ? sequence.lastNanos : judged.beginNanos;
        long waitedFrom = first ? since : sequence.ownUntilNanos;
        long waitedTo = first ? judged.beginNanos : previousNanos;
        if (waitedTo > waitedFrom) {
            TransferWait wait =
                    state.evidence.transfers.during(sequence.name.engineRequestId, waitedFrom, waitedTo, ways);
            if (wait != null) {
                wait.queuedNanos = first ? wait.nanos() : 0;
                if (sequence.transferWait == null) {
                    sequence.transferWait = wait;
                } else {
                    sequence.transferWait.add(wait);
                }
            }
        }
        sequence.ownUntilNanos = judged.endNanos;
        Evidence evidence = judged.evidence;
        if (evidence == null) {
            return;
        }
        long from = first ? Math.max(judged.beginNanos, since) : Math.max(previousNanos, since);
        Evidence own =
                from <= previousNanos ? evidence : state.evidence.ofInterval(from, judged.endNanos, evidence, ways);
        if (sequence.evidence == null) {
            // Shared with the others of the step: nobody changes it.
            sequence.evidence = own;
            return;
        }
        Evidence sum = new Evidence();
        sum.add(sequence.evidence);
        sum.add(own);
        sequence.evidence = sum;
    }

    static void reset(SequenceState sequence) {
        sequence.evidence = null;
        sequence.transferWait = null;
    }

    // ---- the gap

    static Part partOf(EvidenceKind kind) {
        return switch (kind) {
            case COMPILE, THERMAL, KERNEL -> Part.KERNEL;
            case ALLOCATION, ALLOCATION_COUNTED -> Part.ALLOC;
            case PAUSE -> Part.HOST_PAUSE;
            case COLLECTIVE -> Part.COLLECTIVE;
            case SYNC -> Part.SYNC;
            case DEVICE_IDLE -> Part.HOST_GAP;
            case VARIANT -> Part.GRAPH;
        };
    }

    /** Begins a gap: nothing is charged yet. */
    void begin() {
        Arrays.fill(charged, 0);
        errorWithoutLength = false;
    }

    /** Charges what measured records explain of the remaining time; returns what is left. */
    long measured(SequenceState sequence, long remaining, Charge charge) {
        long left = remaining;
        for (EvidenceKind kind : MEASURED) {
            left = one(kind, sequence, left, charge);
        }
        return left;
    }

    /** Charges what records explain that say that something happened, and not how long it took; returns what is left. */
    long counted(SequenceState sequence, long remaining, long spreadNanos, Charge charge) {
        long left = one(EvidenceKind.ALLOCATION_COUNTED, sequence, remaining, charge);
        Evidence evidence = sequence.evidence;
        if (evidence != null && evidence.driverCode != 0 && left > spreadNanos && left > 0) {
            charge.to(Part.SYNC, left);
            charged[EvidenceKind.SYNC.ordinal()] += left;
            errorWithoutLength = true;
            return 0;
        }
        return left;
    }

    /** Charges what the device stood idle for beyond the usual; returns what is left. */
    long deviceIdle(SequenceState sequence, long remaining, Charge charge) {
        return one(EvidenceKind.DEVICE_IDLE, sequence, remaining, charge);
    }

    private long one(EvidenceKind kind, SequenceState sequence, long left, Charge charge) {
        Evidence evidence = sequence.evidence;
        if (left <= 0 || evidence == null) {
            return left;
        }
        long part = Math.min(left, evidence.nanos(kind));
        if (part > 0) {
            charge.to(partOf(kind), part);
            charged[kind.ordinal()] += part;
        }
        return left - Math.max(0, part);
    }

    /** Takes charged time into the parts of a gap. */
    interface Charge {
        void to(Part part, long nanos);
    }

    // ---- the cause

    private long charged(EvidenceKind kind) {
        return charged[kind.ordinal()];
    }

    void offer(SequenceState sequence, CauseChoice choice) {
        TransferWait wait = sequence.transferWait;
        if (wait != null) {
            choice.offer(Cause.REMOTE_KV_ADMISSION, wait.remoteNanos);
            choice.offer(Cause.KV_OFFLOAD, wait.offloadNanos);
        }
        Evidence evidence = sequence.evidence;
        if (evidence == null) {
            return;
        }
        long error = 0;
        long allocation = charged(EvidenceKind.ALLOCATION) + charged(EvidenceKind.ALLOCATION_COUNTED);
        long collective = charged(EvidenceKind.COLLECTIVE);
        long sync = charged(EvidenceKind.SYNC);
        if (evidence.driverCode != 0) {
            boolean ofAllocation = evidence.driverEventId.equals(evidence.eventId(EvidenceKind.ALLOCATION));
            boolean ofCollective = evidence.driverEventId.equals(evidence.eventId(EvidenceKind.COLLECTIVE));
            error = sync + (ofAllocation ? allocation : 0) + (ofCollective ? collective : 0);
            sync = 0;
            allocation = ofAllocation ? 0 : allocation;
            collective = ofCollective ? 0 : collective;
        }
        choice.offer(Cause.JIT_COMPILE, charged(EvidenceKind.COMPILE));
        choice.offer(Cause.ALLOC_STALL, allocation);
        choice.offer(Cause.STREAM_SYNC, sync);
        choice.offer(Cause.DRIVER_ERROR, error);
        choice.offer(Cause.THERMAL_CLOCK, charged(EvidenceKind.THERMAL));
        choice.offer(Cause.COLLECTIVE_WAIT, collective);
        choice.offer(Cause.KERNEL_SLOW, charged(EvidenceKind.KERNEL));
        if (!sequence.graphFellBack) {
            choice.offer(Cause.KERNEL_FALLBACK, charged(EvidenceKind.VARIANT));
        }
    }

    /** The kind of record that a cause rests on; null for a cause that rests on others. */
    static @Nullable EvidenceKind kindOf(Cause cause, Evidence evidence) {
        return switch (cause) {
            case JIT_COMPILE -> EvidenceKind.COMPILE;
            case ALLOC_STALL ->
                evidence.nanos(EvidenceKind.ALLOCATION) > 0 ? EvidenceKind.ALLOCATION : EvidenceKind.ALLOCATION_COUNTED;
            case STREAM_SYNC -> EvidenceKind.SYNC;
            case THERMAL_CLOCK -> EvidenceKind.THERMAL;
            case COLLECTIVE_WAIT -> EvidenceKind.COLLECTIVE;
            case KERNEL_SLOW -> EvidenceKind.KERNEL;
            case HOST_PAUSE -> evidence.nanos(EvidenceKind.PAUSE) > 0 ? EvidenceKind.PAUSE : null;
            case KERNEL_FALLBACK -> evidence.nanos(EvidenceKind.VARIANT) > 0 ? EvidenceKind.VARIANT : null;
            default -> null;
        };
    }

    /** True when other kernels than usual ran, and the graph mode does not say it already. */
    static boolean isVariant(SequenceState sequence) {
        return !sequence.graphFellBack
                && sequence.evidence != null
                && sequence.evidence.nanos(EvidenceKind.VARIANT) > 0;
    }

    static @Nullable String culprit(Cause cause, SequenceState sequence) {
        TransferWait wait = sequence.transferWait;
        if (wait != null && (cause == Cause.REMOTE_KV_ADMISSION || cause == Cause.KV_OFFLOAD)) {
            return wait.peer;
        }
        Evidence evidence = sequence.evidence;
        EvidenceKind kind = evidence == null ? null : kindOf(cause, evidence);
        return evidence == null
                        || kind == null
                        || cause == Cause.JIT_COMPILE
                        || cause == Cause.STREAM_SYNC
                        || cause == Cause.KERNEL_FALLBACK
                ? null
                : evidence.culprit(kind);
    }

    /** How far the records carry; null for a cause that does not rest on them. */
    @Nullable
    Confidence confidence(Cause cause, SequenceState sequence) {
        Evidence evidence = sequence.evidence;
        if (evidence == null) {
            return null;
        }
        return switch (cause) {
            case ALLOC_STALL ->
                2 * charged(EvidenceKind.ALLOCATION) >= charged(EvidenceKind.ALLOCATION_COUNTED)
                        ? Confidence.ESTABLISHED
                        : Confidence.CONSISTENT_WITH;
            case DRIVER_ERROR -> errorWithoutLength ? Confidence.CONSISTENT_WITH : Confidence.ESTABLISHED;
            case THERMAL_CLOCK ->
                evidence.detail(EvidenceKind.THERMAL).equals("by its kernels")
                        ? Confidence.ESTABLISHED
                        : Confidence.CONSISTENT_WITH;
            case KERNEL_SLOW -> evidence.clockKnown ? Confidence.ESTABLISHED : Confidence.CONSISTENT_WITH;
            default -> null;
        };
    }

    /** Why, in a few words; null for a cause that does not rest on records of stalls. */
    static @Nullable String why(Cause cause, Confidence confidence, SequenceState sequence) {
        boolean established = confidence == Confidence.ESTABLISHED;
        return switch (cause) {
            case REMOTE_KV_ADMISSION -> Phrase.WHY_TRANSFER_RECORD.say();
            case KV_OFFLOAD -> Phrase.WHY_LOAD_RECORD.say();
            case JIT_COMPILE -> Phrase.WHY_COMPILE_RECORD.say();
            case ALLOC_STALL -> established ? Phrase.WHY_ALLOCATOR_RECORD.say() : Phrase.WHY_ALLOCATOR_COUNTED.say();
            case STREAM_SYNC -> Phrase.WHY_CALL_WAITED.say();
            case DRIVER_ERROR -> established ? Phrase.WHY_DRIVER_CODE.say() : Phrase.WHY_DRIVER_CODE_ONLY.say();
            case THERMAL_CLOCK ->
                established ? Phrase.WHY_ALL_KERNELS_LONGER.say() : Phrase.WHY_STEP_LONGER_BY_CLOCK.say();
            case COLLECTIVE_WAIT -> Phrase.WHY_COLLECTIVE_RECORDS.say();
            case KERNEL_SLOW ->
                established ? Phrase.WHY_KERNELS_AT_THE_CLOCK.say() : Phrase.WHY_KERNELS_CLOCK_UNKNOWN.say();
            case HOST_PAUSE ->
                sequence.evidence != null && sequence.evidence.nanos(EvidenceKind.PAUSE) > 0
                        ? Phrase.WHY_PAUSE_RECORD.say()
                        : null;
            case KERNEL_FALLBACK -> isVariant(sequence) ? Phrase.WHY_OTHER_KERNEL.say() : null;
            default -> null;
        };
    }

    /** The record that a cause rests on; empty when it does not rest on one. */
    static String recordId(Cause cause, SequenceState sequence) {
        Evidence evidence = sequence.evidence;
        if (evidence == null) {
            return "";
        }
        if (cause == Cause.DRIVER_ERROR) {
            return evidence.driverEventId;
        }
        EvidenceKind kind = kindOf(cause, evidence);
        return kind == null ? "" : evidence.eventId(kind);
    }

    /** The record that a part rests on; empty when the part does not rest on one. */
    static String eventId(Part part, SequenceState sequence) {
        if (part == Part.TRANSFER_WAIT) {
            return sequence.transferWait == null ? "" : sequence.transferWait.eventId;
        }
        Evidence evidence = sequence.evidence;
        if (evidence == null) {
            return "";
        }
        String id = "";
        long most = 0;
        for (EvidenceKind kind : EvidenceKind.values()) {
            if (partOf(kind) == part && evidence.nanos(kind) > most) {
                most = evidence.nanos(kind);
                id = evidence.eventId(kind);
            }
        }
        return id.isEmpty() && part == Part.SYNC ? evidence.driverEventId : id;
    }
}
