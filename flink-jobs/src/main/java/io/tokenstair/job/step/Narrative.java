package io.tokenstair.job.step;

import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Part;
import io.tokenstair.job.evidence.Evidence;
import io.tokenstair.job.evidence.EvidenceKind;
import io.tokenstair.job.evidence.TransferWait;
import io.tokenstair.job.history.Note;
import io.tokenstair.narrative.Milliseconds;
import io.tokenstair.narrative.Phrase;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Tells a slow token as a chain of plain sentences, each ending in the ids of the events it rests on. Deterministic. */
final class Narrative {
    /** Causes that lie in how the step ran, not in what it had to wait for or to compute. */
    private static final Set<Cause> IN_THE_STEP = Set.of(
            Cause.KERNEL_FALLBACK,
            Cause.JIT_COMPILE,
            Cause.ALLOC_STALL,
            Cause.STREAM_SYNC,
            Cause.DRIVER_ERROR,
            Cause.THERMAL_CLOCK,
            Cause.COLLECTIVE_WAIT,
            Cause.KERNEL_SLOW,
            Cause.HOST_CONTENTION,
            Cause.HOST_PAUSE,
            Cause.HOST_GAP,
            Cause.UNRESOLVED_STALL);

    private final SlowToken slow;
    private final long[] parts;
    private final int mask;
    private final long pausedForBlockIoNanos;

    /**
     * Tells of a slow token.
     *
     * @param pausedForBlockIoNanos how long of a pause by core records its process waited for block I/O; 0 where no record says so
     */
    Narrative(SlowToken slow, long[] parts, int mask, long pausedForBlockIoNanos) {
        this.slow = slow;
        this.parts = parts;
        this.mask = mask;
        this.pausedForBlockIoNanos = pausedForBlockIoNanos;
    }

    /** Nanoseconds as people read them. */
    static String millis(long nanos) {
        return Milliseconds.text(nanos);
    }

    private long part(Part part) {
        return (mask & 1 << part.ordinal()) == 0 ? 0 : parts[part.ordinal()];
    }

    private void say(String sentence, @Nullable String... eventIds) {
        slow.chain.add(cited(sentence, eventIds));
    }

    /** The first sentence: of the token itself. */
    static String after(int tokenIndex, long gapNanos, JudgedStep judged) {
        Phrase first = tokenIndex == 0 ? Phrase.TOKEN_AFTER_QUEUEING : Phrase.TOKEN_AFTER_TOKEN;
        return cited(
                first.say(tokenIndex, millis(gapNanos), judged.stepId, millis(judged.referenceNanos)), judged.eventId);
    }

    private static String cited(String sentence, @Nullable String... eventIds) {
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
        return text.toString();
    }

    void tell(
            Cause cause,
            JudgedStep judged,
            SequenceState sequence,
            long gap,
            long expected,
            int tokenIndex,
            EngineState state) {
        slow.chain.add(after(tokenIndex, gap, judged));
        String culprit = slow.culpritRequestId == null ? "another request" : slow.culpritRequestId;
        switch (cause) {
            case PREEMPTION -> preemption(sequence, judged);
            case RECOMPUTE ->
                say(
                        Phrase.RECOMPUTED_OTHERS.say(
                                sequence.otherRecomputeTokens, culprit, millis(part(Part.RECOMPUTE_OTHER))),
                        sequence.recomputeEventId);
            case PREFILL_INTERFERENCE ->
                say(
                        Phrase.PREFILLED_OTHERS.say(sequence.otherPrefillTokens, culprit, millis(part(Part.PREFILL))),
                        sequence.prefillEventId);
            case DECODE_STARVED_BY_PREFILL ->
                say(
                        Phrase.STARVED_BY_PREFILL.say(millis(part(Part.SKIPPED_WAIT)), culprit),
                        starving(state, sequence, judged));
            case TOKEN_BUDGET_STARVATION ->
                say(Phrase.STARVED_BY_BUDGET.say(millis(part(Part.SKIPPED_WAIT))), judged.eventId);
            case KV_PRESSURE ->
                say(Phrase.WAITED_FOR_BLOCKS.say(millis(part(Part.QUEUE_WAIT))), sequence.queuedEventId);
            case SEAT_LIMIT ->
                say(
                        Phrase.WAITED_FOR_A_SEAT.say(
                                millis(part(Part.QUEUE_WAIT)), String.valueOf(state.maxSequencesCount)),
                        sequence.queuedEventId);
            case QUEUE_WAIT -> {
                say(Phrase.WAITED_IN_THE_QUEUE.say(millis(part(Part.QUEUE_WAIT))), sequence.queuedEventId);
                PrefillStep urgent = state.moreUrgentBeside(sequence);
                if (urgent != null) {
                    say(Phrase.MORE_URGENT_RAN.say(urgent.requestId), urgent.eventId);
                }
            }
            case BATCH_GROWTH ->
                say(
                        Phrase.MORE_SEQUENCES.say(
                                judged.load.sequences(), judged.referenceBatch, millis(part(Part.BATCH))),
                        judged.eventId);
            case CONTEXT_GROWTH ->
                say(
                        Phrase.MORE_CONTEXT.say(
                                judged.load.residentTokens(), judged.referenceResident, millis(part(Part.CONTEXT))),
                        judged.eventId);
            case KERNEL_FALLBACK -> fallback(sequence, state);
            case HOST_CONTENTION ->
                say(Phrase.THREADS_WITHOUT_A_CORE.say(millis(part(Part.HOST_CONTENTION))), state.threads.lastEventId);
            case HOST_PAUSE -> pause(sequence, state);
            case REMOTE_KV_ADMISSION, KV_OFFLOAD -> transfer(cause, sequence);
            case JIT_COMPILE, ALLOC_STALL, STREAM_SYNC, DRIVER_ERROR, THERMAL_CLOCK, COLLECTIVE_WAIT, KERNEL_SLOW ->
                recorded(cause, sequence);
            case HOST_GAP -> hostGap(sequence, judged);
            default -> {
                if (part(Part.SKIPPED_WAIT) > part(Part.UNEXPLAINED)) {
                    say(Phrase.LEFT_OUT.say(millis(part(Part.SKIPPED_WAIT))), judged.eventId);
                } else {
                    say(Phrase.UNRESOLVED.say(millis(part(Part.UNEXPLAINED)), millis(expected)), judged.eventId);
                }
            }
        }
        long explained = gap - expected;
        if (cause != Cause.UNRESOLVED_STALL
                && part(Part.UNEXPLAINED) > explained / 4
                && part(Part.UNEXPLAINED) > 1_000_000) {
            say(Phrase.MORE_UNEXPLAINED.say(millis(part(Part.UNEXPLAINED))), judged.eventId);
        }
        launched(cause, sequence);
        before(cause, state);
    }

    /** How long kernels waited from launch to start, where the time was lost in the step itself: a device behind its host, or not. */
    private void launched(Cause cause, SequenceState sequence) {
        Evidence evidence = sequence.evidence;
        if (evidence == null || evidence.launchWaitNanos < 0 || !IN_THE_STEP.contains(cause)) {
            return;
        }
        String wait = millis(evidence.launchWaitNanos);
        say(
                evidence.usualLaunchWaitNanos < 0
                        ? Phrase.LAUNCHED_BEFORE.say(evidence.launchedKernel, wait)
                        : Phrase.LAUNCHED_BEFORE_AND_USUALLY.say(
                                evidence.launchedKernel, wait, millis(evidence.usualLaunchWaitNanos)),
                evidence.launchEventId);
    }

    /** Between steps, in a step while the model did not run, or in a step of which no more is known than that the device was idle. */
    private void hostGap(SequenceState sequence, JudgedStep judged) {
        long lost = part(Part.HOST_GAP);
        Evidence evidence = sequence.evidence;
        if (evidence != null
                && evidence.nanos(EvidenceKind.DEVICE_IDLE) >= lost
                && 2 * Math.max(sequence.idleNanos, sequence.hostPhaseNanos) < lost) {
            say(Phrase.DEVICE_WAS_IDLE.say(millis(lost)), judged.eventId, evidence.eventId(EvidenceKind.DEVICE_IDLE));
            return;
        }
        Phrase phrase = sequence.hostPhaseNanos > sequence.idleNanos ? Phrase.MODEL_DID_NOT_RUN : Phrase.NO_STEP;
        say(phrase.say(millis(lost)), judged.eventId);
    }

    private void fallback(SequenceState sequence, EngineState state) {
        Evidence evidence = sequence.evidence;
        String length = millis(part(Part.GRAPH));
        if (evidence != null && RecordedEvidence.isVariant(sequence)) {
            say(
                    Phrase.OTHER_KERNEL.say(
                            evidence.detail(EvidenceKind.VARIANT),
                            String.valueOf(evidence.culprit(EvidenceKind.VARIANT)),
                            length),
                    evidence.eventId(EvidenceKind.VARIANT));
            return;
        }
        say(
                Phrase.OTHER_GRAPH_MODE.say(
                        String.valueOf(sequence.graphMode),
                        String.valueOf(GraphMode.ofOrdinal(state.snapshot.usualGraphMode)
                                .modeName()),
                        length),
                sequence.graphEventId);
    }

    /** Walks back from the cause to what came before it: time order and kind, not proof; so the words say no more than "before". */
    private void before(Cause cause, EngineState state) {
        List<Note> notes = state.history.before(cause, slow.culpritRequestId, state.steps);
        for (Note note : notes) {
            long steps = state.steps - note.step;
            String at = clockSeconds(note.stampNanos);
            String sentence = switch (note.kind()) {
                case CONTEXT_JUMPED ->
                    note.waitedNanos == 0
                            ? Phrase.BEFORE_CONTEXT_JUMPED.say(steps, at, note.requestId, note.amount, note.otherAmount)
                            : Phrase.BEFORE_CONTEXT_JUMPED_LATE.say(
                                    steps, at, note.requestId, millis(note.waitedNanos), note.amount, note.otherAmount);
                case EVICTED -> Phrase.BEFORE_EVICTED.say(steps, at, note.amount);
                case PREEMPTED -> Phrase.BEFORE_PREEMPTED.say(steps, at, note.requestId);
                case FELL_BACK -> Phrase.BEFORE_FELL_BACK.say(steps, at, note.modeBefore, note.mode, note.amount);
                case KERNEL_CHANGED -> Phrase.BEFORE_KERNEL_CHANGED.say(steps, at, note.modeBefore, note.mode);
                case BATCH_SWUNG -> Phrase.BEFORE_BATCH_SWUNG.say(steps, at, note.amount, note.otherAmount);
            };
            say(sentence, note.eventId);
        }
    }

    /** A stamp of the engine's clock in seconds, exact. */
    static String clockSeconds(long nanos) {
        long seconds = Math.floorDiv(nanos, 1_000_000_000L);
        String fraction = Long.toString(1_000_000_000L + Math.floorMod(nanos, 1_000_000_000L));
        return "clock " + seconds + "." + fraction.substring(1) + " s";
    }

    private void pause(SequenceState sequence, EngineState state) {
        Evidence evidence = sequence.evidence;
        String length = millis(part(Part.HOST_PAUSE));
        if (evidence != null && evidence.nanos(EvidenceKind.PAUSE) > 0) {
            String why = evidence.detail(EvidenceKind.PAUSE);
            String process = String.valueOf(evidence.culprit(EvidenceKind.PAUSE));
            say(
                    why.isEmpty()
                            ? Phrase.PROCESS_STOOD_STILL.say(process, length)
                            : Phrase.PROCESS_STOOD_STILL_FOR.say(process, why, length),
                    evidence.eventId(EvidenceKind.PAUSE));
            return;
        }
        say(
                pausedForBlockIoNanos == 0
                        ? Phrase.PROCESS_NEITHER_RAN.say(length)
                        : Phrase.PROCESS_WAITED_FOR_BLOCK_IO.say(length, millis(pausedForBlockIoNanos)),
                state.threads.lastEventId);
    }

    private void transfer(Cause cause, SequenceState sequence) {
        TransferWait wait = sequence.transferWait;
        if (wait == null) {
            return;
        }
        boolean remote = cause == Cause.REMOTE_KV_ADMISSION;
        String length = millis(remote ? wait.remoteNanos : wait.offloadNanos);
        String peer = wait.peer;
        if (peer == null) {
            say((remote ? Phrase.WAITED_FOR_REMOTE : Phrase.WAITED_FOR_LOAD).say(length), wait.eventId);
        } else {
            say((remote ? Phrase.WAITED_FOR_REMOTE_FROM : Phrase.WAITED_FOR_LOAD_FROM).say(length, peer), wait.eventId);
        }
    }

    private void recorded(Cause cause, SequenceState sequence) {
        Evidence evidence = sequence.evidence;
        if (evidence == null) {
            return;
        }
        EvidenceKind kind = RecordedEvidence.kindOf(cause, evidence);
        String what = kind == null ? "" : evidence.detail(kind);
        String on = kind == null ? null : evidence.culprit(kind);
        String id = kind == null ? "" : evidence.eventId(kind);
        String kernel = millis(part(Part.KERNEL));
        switch (cause) {
            case JIT_COMPILE -> say(Phrase.COMPILED.say(kernel, what), id);
            case ALLOC_STALL -> {
                String alloc = millis(part(Part.ALLOC));
                if (kind == EvidenceKind.ALLOCATION) {
                    say(
                            on == null
                                    ? Phrase.MEMORY_LOOKED_FOR.say(what, alloc)
                                    : Phrase.MEMORY_LOOKED_FOR_ON.say(what, on, alloc),
                            id);
                } else {
                    say(
                            on == null ? Phrase.ALLOCATOR_COUNTS.say(alloc) : Phrase.ALLOCATOR_COUNTS_ON.say(on, alloc),
                            id);
                }
            }
            case STREAM_SYNC -> say(Phrase.WAITED_FOR_THE_DEVICE.say(what, millis(part(Part.SYNC))), id);
            case DRIVER_ERROR ->
                say(
                        Phrase.DRIVER_RETURNED.say(
                                String.valueOf(evidence.driverCode),
                                millis(part(Part.SYNC) + part(Part.ALLOC) + part(Part.COLLECTIVE))),
                        evidence.driverEventId);
            case THERMAL_CLOCK ->
                say(
                        on == null ? Phrase.CLOCK_LOWER.say(what, kernel) : Phrase.CLOCK_LOWER_ON.say(on, what, kernel),
                        id);
            case COLLECTIVE_WAIT -> {
                String late = evidence.culprit(EvidenceKind.COLLECTIVE);
                String length = millis(part(Part.COLLECTIVE));
                say(
                        late == null
                                ? Phrase.COLLECTIVE.say(what, length)
                                : Phrase.COLLECTIVE_FOR.say(what, late, length),
                        id);
            }
            default ->
                say(
                        on == null
                                ? Phrase.KERNELS_LONGER.say(what, kernel)
                                : Phrase.KERNELS_LONGER_ON.say(on, what, kernel),
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
            String sentence = sequence.preemptedByItself
                    ? Phrase.LOST_BLOCKS_BY_ITSELF.say(sequence.preemptedStepId, discarded)
                    : sequence.preemptedFor == null
                            ? Phrase.LOST_BLOCKS_NONE_FREE.say(sequence.preemptedStepId, discarded)
                            : Phrase.LOST_BLOCKS_FOR.say(sequence.preemptedStepId, discarded, sequence.preemptedFor);
            say(sentence, sequence.preemptedEventId);
        }
        say(Phrase.WAITED_TO_RESUME.say(millis(part(Part.PREEMPTED_WAIT))), sequence.preemptedEventId);
        if (sequence.ownRecomputeTokens > 0) {
            String again = millis(part(Part.RECOMPUTE_OWN));
            say(
                    sequence.resumedStepId == null
                            ? Phrase.CAME_BACK.say(sequence.ownRecomputeTokens, again)
                            : Phrase.CAME_BACK_IN_STEP.say(sequence.resumedStepId, sequence.ownRecomputeTokens, again),
                    sequence.resumedEventId,
                    sequence.resumedEventId.equals(judged.eventId) ? null : judged.eventId);
        }
    }
}
