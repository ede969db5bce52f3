package io.tokenstair.job.step;

import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Part;
import io.tokenstair.job.evidence.Evidence;
import io.tokenstair.job.evidence.EvidenceKind;
import io.tokenstair.job.evidence.TransferWait;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Tells a slow token as a chain of plain sentences, each ending in the ids of the events it rests on. Deterministic. */
final class Narrative {
    /** Below it, a number of nanoseconds divided by a million has its exact decimal digits in a double. */
    private static final long EXACT_NANOS = 1_000_000_000_000_000L;

    private final SlowToken slow;
    private final long[] parts;
    private final int mask;

    Narrative(SlowToken slow, long[] parts, int mask) {
        this.slow = slow;
        this.parts = parts;
        this.mask = mask;
    }

    /** Nanoseconds as people read them. */
    static String millis(long nanos) {
        if (nanos < 0 || nanos >= EXACT_NANOS) {
            return String.format(Locale.ROOT, "%.1f ms", nanos / 1e6);
        }
        // The same text as above, at a twentieth of its cost: every slow token has several.
        long tenths = (nanos + 50_000) / 100_000;
        return tenths / 10 + "." + tenths % 10 + " ms";
    }

    private long part(Part part) {
        return (mask & 1 << part.ordinal()) == 0 ? 0 : parts[part.ordinal()];
    }

    private void say(String sentence, @Nullable String... eventIds) {
        StringBuilder text = new StringBuilder(sentence);
        String separator = " [";
        for (String id : eventIds) {
            if (id != null && !id.isEmpty()) {
                text.append(separator).append(id);
                separator = ", ";
            }
        }
        if (separator.equals(", ")) {
            text.append(']');
        }
        slow.chain.add(text.toString());
    }

    void tell(
            Cause cause,
            JudgedStep judged,
            SequenceState sequence,
            long gap,
            long expected,
            int tokenIndex,
            EngineState state) {
        say(
                "Token " + tokenIndex + " came " + millis(gap)
                        + (tokenIndex == 0 ? " after queueing" : " after the one before") + ", in step " + judged.stepId
                        + "; a usual step takes " + millis(judged.referenceNanos) + ".",
                judged.eventId);
        String culprit = slow.culpritRequestId == null ? "another request" : slow.culpritRequestId;
        switch (cause) {
            case PREEMPTION -> preemption(sequence, judged);
            case RECOMPUTE ->
                say(
                        "The step computed " + sequence.otherRecomputeTokens + " tokens of " + culprit
                                + " again, which had lost its blocks: " + millis(part(Part.RECOMPUTE_OTHER)) + ".",
                        sequence.recomputeEventId);
            case PREFILL_INTERFERENCE ->
                say(
                        "The step also computed " + sequence.otherPrefillTokens + " new prompt tokens, most of them of "
                                + culprit + ": " + millis(part(Part.PREFILL)) + ".",
                        sequence.prefillEventId);
            case DECODE_STARVED_BY_PREFILL ->
                say(
                        "It was left out for " + millis(part(Part.SKIPPED_WAIT))
                                + " while steps ran prompt tokens only, last of " + culprit + ".",
                        starving(state, sequence, judged));
            case TOKEN_BUDGET_STARVATION ->
                say(
                        "It was left out for " + millis(part(Part.SKIPPED_WAIT))
                                + " in steps whose token budget was used up.",
                        judged.eventId);
            case KV_PRESSURE ->
                say(
                        "It waited " + millis(part(Part.QUEUE_WAIT)) + " for KV blocks while seats were free.",
                        sequence.queuedEventId);
            case SEAT_LIMIT ->
                say(
                        "It waited " + millis(part(Part.QUEUE_WAIT)) + " for a seat: " + state.maxSequencesCount
                                + " sequences may run at once.",
                        sequence.queuedEventId);
            case QUEUE_WAIT ->
                say("It waited " + millis(part(Part.QUEUE_WAIT)) + " in the queue.", sequence.queuedEventId);
            case BATCH_GROWTH ->
                say(
                        "The step ran " + judged.load.sequences() + " sequences; usual are " + judged.referenceBatch
                                + ": " + millis(part(Part.BATCH)) + ".",
                        judged.eventId);
            case CONTEXT_GROWTH ->
                say(
                        "The step read " + judged.load.residentTokens() + " tokens of context; usual are "
                                + judged.referenceResident + ": " + millis(part(Part.CONTEXT)) + ".",
                        judged.eventId);
            case KERNEL_FALLBACK ->
                say(
                        "The step ran in graph mode " + sequence.graphMode + "; usual is "
                                + GraphMode.ofOrdinal(state.snapshot.usualGraphMode)
                                        .modeName()
                                + ": " + millis(part(Part.GRAPH)) + ".",
                        sequence.graphEventId);
            case HOST_CONTENTION ->
                say(
                        "The engine's threads stood ready without a core for " + millis(part(Part.HOST_CONTENTION))
                                + " more than usual.",
                        state.threads.lastEventId);
            case HOST_PAUSE -> pause(sequence, state);
            case REMOTE_KV_ADMISSION, KV_OFFLOAD -> transfer(cause, sequence);
            case JIT_COMPILE, ALLOC_STALL, STREAM_SYNC, DRIVER_ERROR, THERMAL_CLOCK, COLLECTIVE_WAIT, KERNEL_SLOW ->
                recorded(cause, sequence);
            case HOST_GAP -> say("No step was in flight for " + millis(part(Part.HOST_GAP)) + ".", judged.eventId);
            default ->
                say(
                        millis(part(Part.UNEXPLAINED)) + " remain beyond what the model expects (" + millis(expected)
                                + "), and no record names their cause.",
                        judged.eventId);
        }
        long explained = gap - expected;
        if (cause != Cause.UNRESOLVED_STALL
                && part(Part.UNEXPLAINED) > explained / 4
                && part(Part.UNEXPLAINED) > 1_000_000) {
            say(millis(part(Part.UNEXPLAINED)) + " more remain unexplained.", judged.eventId);
        }
    }

    private void pause(SequenceState sequence, EngineState state) {
        Evidence evidence = sequence.evidence;
        if (evidence != null && evidence.nanos(EvidenceKind.PAUSE) > 0) {
            String why = evidence.detail(EvidenceKind.PAUSE);
            say(
                    "The process " + evidence.culprit(EvidenceKind.PAUSE) + " stood still"
                            + (why.isEmpty() ? "" : " (" + why + ")") + " for " + millis(part(Part.HOST_PAUSE)) + ".",
                    evidence.eventId(EvidenceKind.PAUSE));
            return;
        }
        say(
                "The engine's process neither ran nor was ready for " + millis(part(Part.HOST_PAUSE)) + ".",
                state.threads.lastEventId);
    }

    private void transfer(Cause cause, SequenceState sequence) {
        TransferWait wait = sequence.transferWait;
        if (wait == null) {
            return;
        }
        String from = wait.peer == null ? "" : " from " + wait.peer;
        say(
                cause == Cause.REMOTE_KV_ADMISSION
                        ? "It waited " + millis(wait.remoteNanos) + " for its KV blocks" + from + "."
                        : "It waited " + millis(wait.offloadNanos) + " for its KV blocks to be loaded" + from + ".",
                wait.eventId);
    }

    private void recorded(Cause cause, SequenceState sequence) {
        Evidence evidence = sequence.evidence;
        if (evidence == null) {
            return;
        }
        EvidenceKind kind = RecordedEvidence.kindOf(cause, evidence);
        String what = kind == null ? "" : evidence.detail(kind);
        String by = kind == null || evidence.culprit(kind) == null ? "" : " on " + evidence.culprit(kind);
        String id = kind == null ? "" : evidence.eventId(kind);
        switch (cause) {
            case JIT_COMPILE -> say("A kernel was compiled: " + what + ", " + millis(part(Part.KERNEL)) + ".", id);
            case ALLOC_STALL ->
                say(
                        kind == EvidenceKind.ALLOCATION
                                ? "Device memory was looked for (" + what + ")" + by + ": " + millis(part(Part.ALLOC))
                                        + "."
                                : "The allocator's count of retries or failures rose" + by + ", and "
                                        + millis(part(Part.ALLOC)) + " remain.",
                        id);
            case STREAM_SYNC ->
                say("A call waited for the device (" + what + "): " + millis(part(Part.SYNC)) + ".", id);
            case DRIVER_ERROR ->
                say(
                        "The driver returned error " + evidence.driverCode + ", and "
                                + millis(part(Part.SYNC) + part(Part.ALLOC) + part(Part.COLLECTIVE))
                                + " went by around it.",
                        evidence.driverEventId);
            case THERMAL_CLOCK ->
                say(
                        "The clock was lower than usual" + by + ", and the step longer " + what + ": "
                                + millis(part(Part.KERNEL)) + ".",
                        id);
            case COLLECTIVE_WAIT ->
                say(
                        "It waited in a collective (" + what + ")"
                                + (evidence.culprit(EvidenceKind.COLLECTIVE) == null
                                        ? ""
                                        : " for " + evidence.culprit(EvidenceKind.COLLECTIVE))
                                + ": " + millis(part(Part.COLLECTIVE)) + ".",
                        id);
            default ->
                say(
                        "Kernels took longer than they usually do" + by + ", most of all " + what + ": "
                                + millis(part(Part.KERNEL)) + ".",
                        id);
        }
    }

    private static String starving(EngineState state, SequenceState sequence, JudgedStep judged) {
        PrefillStep prefill = state.prefillBeside(sequence);
        return prefill == null ? judged.eventId : prefill.eventId;
    }

    private void preemption(SequenceState sequence, JudgedStep judged) {
        if (!sequence.preemptedEventId.isEmpty()) {
            String discarded =
                    sequence.discardedTokens == null ? "" : " and " + sequence.discardedTokens + " computed tokens";
            String taker = sequence.preemptedByItself
                    ? "it needed a block itself and none was free"
                    : sequence.preemptedFor == null
                            ? "no block was free"
                            : sequence.preemptedFor + " needed a block and none was free";
            say(
                    "In step " + sequence.preemptedStepId + " it lost its KV blocks" + discarded + ": " + taker + ".",
                    sequence.preemptedEventId);
        }
        say("It waited " + millis(part(Part.PREEMPTED_WAIT)) + " to be scheduled again.", sequence.preemptedEventId);
        if (sequence.ownRecomputeTokens > 0) {
            say(
                    "It came back"
                            + (sequence.resumedStepId == null ? "" : " in step " + sequence.resumedStepId)
                            + " and computed " + sequence.ownRecomputeTokens + " tokens again: "
                            + millis(part(Part.RECOMPUTE_OWN)) + ".",
                    sequence.resumedEventId,
                    sequence.resumedEventId.equals(judged.eventId) ? null : judged.eventId);
        }
    }
}
