package io.tokenstair.job.step;

import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Confidence;
import io.tokenstair.cause.Part;
import io.tokenstair.event.Phase;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.job.evidence.TransferWait;
import io.tokenstair.job.window.SortedWindow;
import io.tokenstair.narrative.Phrase;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Judges steps and tokens by docs/causes/README.md: expected and reference time, the parts of a gap in their order of assignment, whether
 * the token is slow, and the cause that owns its largest part. One model snapshot serves prediction and counterfactual alike, so
 * the parts add up exactly; the Shapley values of a step's factors are those of {@link StepTimeSnapshot#expect}.
 */
final class TokenJudge {
    /** A token is slow beyond this share of the reference. */
    private static final double SLOW_SHARE = 0.15;

    /** A token is slow beyond this many standard deviations of what the model misses. */
    private static final double SLOW_DEVIATIONS = 4 * 1.4826;

    /** Residuals that make a spread. */
    private static final int SPREAD_STEPS = 8;

    /** Share of what is to be explained that a pause must cover. */
    private static final double PAUSE_SHARE = 0.8;

    /** A pause must cover at least this many sample intervals: one alone may be a sleep between two steps. */
    private static final int PAUSE_PERIODS = 3;

    /** The kernel counts waits for block I/O in ticks of 10 ms: one of them may be the sum of many shorter ones long before. */
    private static final long LEAST_BLOCK_IO_NANOS = 20_000_000;

    /** Steps with prompts before the first decode step that are learnt from after it. */
    private static final int FIRST_PROMPTS = 32;

    /** Steps after which an engine none of whose steps decodes is one that only computes prompts. */
    private static final int PROMPTS_ONLY_STEPS = 16;

    /** A thread that usually stalls for more than this share of a step sleeps by design: its stall says nothing. */
    private static final double SLEEPER_SHARE = 0.1;

    private final EngineState state;
    private final RecordedEvidence records;
    private final long[] parts = new long[Part.COUNT];
    private int mask;
    private boolean promptsKnown;
    /** Which process stalled by its core records; null when none did. */
    private @Nullable String pausedRole;
    /** Of that pause: how long it waited for block I/O. */
    private long pausedForBlockIoNanos;

    TokenJudge(EngineState state) {
        this.state = state;
        this.records = new RecordedEvidence(state);
    }

    // ---- the step

    JudgedStep begin(
            StepCompleted step,
            @Nullable SequenceState[] sequenceOfRow,
            String eventId,
            long begin,
            long end,
            long previous,
            long interval,
            long stepNanos,
            long idle) {
        SequenceRows rows = step.rows();
        long resident = 0;
        long prompt = 0;
        long prefill = 0;
        long prefillPairs = 0;
        long pairs = 0;
        int decodes = 0;
        boolean schedules = false;
        if (rows.onlyDecodes()) {
            decodes = rows.count();
            for (int i = 0; i < decodes; i++) {
                resident += rows.contextTokens(i);
            }
        }
        for (int i = decodes; i < rows.count(); i++) {
            schedules |= rows.cachedTokens(i) != SequenceRows.ABSENT;
            int phase = rows.phaseCode(i);
            if (phase == Phase.DECODE.code()) {
                decodes++;
                resident += rows.contextTokens(i);
            } else {
                long rowPairs = StepLoad.pairs(rows.scheduledTokens(i), rows.contextTokens(i));
                prompt += rows.scheduledTokens(i);
                pairs += rowPairs;
                if (phase == Phase.PREFILL.code()) {
                    prefill += rows.scheduledTokens(i);
                    prefillPairs += rowPairs;
                }
            }
        }
        int sequences = rows.count();
        if (sequences == 0) {
            // A step of which only sums are recorded: a decode token is a sequence, prompt tokens are of one.
            decodes = tokens(step.decodeTokens());
            prefill = tokens(step.prefillTokens());
            prompt = prefill + tokens(step.recomputeTokens());
            sequences = decodes + (prompt > 0 ? 1 : 0);
        }
        GraphMode graphMode = GraphMode.of(step.graphMode());
        int reported = step.paddedBatchCount() == null ? 0 : step.paddedBatchCount();
        StepLoad load = new StepLoad(
                sequences,
                BatchBucket.paddedCount(sequences, decodes, prompt, reported, graphMode),
                graphMode,
                resident,
                prefill,
                prompt - prefill,
                prefillPairs,
                pairs - prefillPairs);
        StepTimeSnapshot snapshot = state.snapshot;
        boolean warm = snapshot.known();
        JudgedStep judged = new JudgedStep(
                rows,
                sequenceOfRow,
                eventId,
                step.stepId(),
                begin,
                end,
                interval,
                stepNanos,
                idle,
                load,
                decodes,
                prefill,
                prompt - prefill,
                warm);
        if (warm) {
            StepExpectation expectation = snapshot.expect(load);
            judged.expectation = expectation;
            judged.expectedNanos = expectation.expectedNanos();
            judged.referenceBatch = snapshot.usualSequences;
            judged.referenceResident = snapshot.usualResidentTokens;
            judged.referenceNanos = expectation.referenceNanos();
            judged.referenceKnown = true;
            judged.batchNanos = expectation.batchNanos();
            judged.contextNanos = expectation.contextNanos();
            judged.prefillNanos = expectation.prefillNanos();
            judged.recomputeNanos = expectation.recomputeNanos();
            judged.graphNanos = expectation.graphNanos();
            judged.graphFellBack = load.promptTokens() == 0 || graphMode == GraphMode.EAGER
                    ? graphMode.fallsBackFrom(GraphMode.ofOrdinal(snapshot.usualGraphMode))
                    : false;
            judged.graphCold = judged.graphFellBack
                    && load.promptTokens() == 0
                    && !StepTimeModel.isWarmFor(state.model, graphMode);
            if (state.residualWindow.size() >= SPREAD_STEPS) {
                judged.spreadNanos = SLOW_DEVIATIONS * state.residualWindow.medianAbsoluteDeviation();
            }
        } else if (state.gapWindow.size() > 0) {
            judged.referenceNanos = state.gapWindow.median();
            judged.referenceKnown = true;
            if (state.gapWindow.size() >= SPREAD_STEPS) {
                judged.spreadNanos = SLOW_DEVIATIONS * state.gapWindow.medianAbsoluteDeviation();
            }
        } else if (!state.decodes && decodes == 0 && state.promptStepWindow.size() >= PROMPTS_ONLY_STEPS) {
            // It hands its requests over after the prompt: there will be no decode step to compare with.
            judged.referenceNanos = state.promptStepWindow.median();
            judged.referenceKnown = true;
        }
        judged.schedules = schedules;
        judged.hostPhaseNanos = hostPhases(step, begin, end);
        cores(judged, step);
        records.step(judged);
        return judged;
    }

    /** Time of a step before its model ran and after; 0 where its stamps do not say, or contradict each other. */
    private static long hostPhases(StepCompleted step, long begin, long end) {
        Long scheduled = step.scheduleEndNanos();
        Long ran = step.updateStartNanos();
        return scheduled == null || ran == null || scheduled > ran || ran > end || ran < begin
                ? 0
                : Math.max(0, scheduled - begin) + end - ran;
    }

    /** A sum of a step record; absent, negative or impossible ones count as none. */
    private static int tokens(@Nullable Long sum) {
        return sum == null || sum < 0 || sum > Integer.MAX_VALUE / 4 ? 0 : sum.intValue();
    }

    /** Reads from the core records how long the engine's threads waited for a core, or stalled, during the step. */
    private void cores(JudgedStep judged, StepCompleted step) {
        HostThreads threads = state.threads;
        if (!threads.reported() || !state.lastEndKnown) {
            return;
        }
        long previous = judged.endNanos - judged.intervalNanos;
        judged.coreWaitNanos = threads.coreWaitNanos(judged.endNanos) - threads.coreWaitNanos(previous);
        judged.criticalWaitNanos = judged.coreWaitNanos;
        judged.engineStallNanos = threads.engine.during(previous, judged.endNanos, true);
        if (judged.idleNanos > 0) {
            judged.idleCoreWaitNanos = threads.coreWaitNanos(judged.beginNanos) - threads.coreWaitNanos(previous);
            judged.idleEngineStallNanos = threads.engine.during(previous, judged.beginNanos, true);
        }
        if (step.scheduleEndNanos() == null || step.updateStartNanos() == null) {
            return;
        }
        long modelStart = Math.max(previous, step.scheduleEndNanos());
        long modelEnd = Math.min(judged.endNanos, step.updateStartNanos());
        if (modelEnd <= modelStart) {
            return;
        }
        judged.workerStallNanos = threads.worker.during(modelStart, modelEnd, true);
        if (threads.engine.count > 0 && threads.worker.count > 0) {
            // The worker is on the critical path while the model runs, the engine core is outside.
            judged.criticalWaitNanos = threads.worker.during(modelStart, modelEnd, false)
                    + threads.engine.during(previous, judged.endNanos, false)
                    - threads.engine.during(modelStart, modelEnd, false);
        }
    }

    /**
     * Adds the step to what its sequences have gathered since their last token, but for those of {@link JudgedStep#follows}; rows without
     * a name are only part of its load. Contexts of the sequences stay those of the step before.
     */
    void rows(JudgedStep judged, SequenceRows rows, @Nullable SequenceState[] sequenceOfRow) {
        boolean onlyDecodes = rows.onlyDecodes();
        BitSet held = judged.held;
        for (int i = held.nextClearBit(0); i < rows.count(); i = held.nextClearBit(i + 1)) {
            SequenceState sequence = sequenceOfRow[i];
            if (sequence == null) {
                continue;
            }
            sequence.running = true;
            int phase = onlyDecodes ? Phase.DECODE.code() : rows.phaseCode(i);
            if (phase != Phase.DECODE.code()) {
                int tokens = rows.scheduledTokens(i);
                long pairs = StepLoad.pairs(tokens, rows.contextTokens(i));
                judged.promptRows.add(new JudgedStep.PromptRow(
                        sequence, tokens, state.snapshot.promptNanos(tokens, pairs), phase != Phase.PREFILL.code()));
            }
        }
        JudgedStep.PromptRow largest = largestPrompt(judged);
        if (largest != null) {
            state.prefilled(largest.sequence(), judged.eventId, largest.tokens());
        }
        for (int i = held.nextClearBit(0); i < rows.count(); i = held.nextClearBit(i + 1)) {
            SequenceState sequence = sequenceOfRow[i];
            if (sequence != null && !judged.follows(i)) {
                gather(judged, sequence);
            }
        }
    }

    private static JudgedStep.@Nullable PromptRow largestPrompt(JudgedStep judged) {
        JudgedStep.PromptRow most = null;
        for (JudgedStep.PromptRow row : judged.promptRows) {
            if (most == null || row.tokens() > most.tokens()) {
                most = row;
            }
        }
        return most;
    }

    /** Adds the step to what a sequence has gathered since its last token. */
    void gather(JudgedStep judged, SequenceState sequence) {
        long last = sequence.lastKnown ? sequence.lastNanos : judged.beginNanos;
        long previous = judged.endNanos - judged.intervalNanos;
        boolean first = !sequence.scheduled;
        if (sequence.scheduled) {
            sequence.idleNanos += Math.max(0, judged.beginNanos - Math.max(previous, last));
        } else {
            sequence.scheduled = true;
            sequence.queueWaitNanos = Math.max(0, judged.beginNanos - last);
            sequence.queuedAtSeatLimitNanos = state.seatLimitNanos - sequence.seatLimitAtLast;
            sequence.queuedShortOfBlocksNanos = state.blocksShortNanos - sequence.blocksShortAtLast;
            if (sequence.queuedShortOfBlocksNanos > 0) {
                sequence.queuedBlockHolder =
                        state.blockHolderSince(sequence.blocksShortAtLast, sequence.name.requestId);
            }
        }
        records.gather(judged, sequence, previous, first);
        sequence.ownSteps++;
        // An engine that had nothing to do before a request came was no pause of that request.
        sequence.coreWaitNanos += judged.coreWaitNanos - (first ? judged.idleCoreWaitNanos : 0);
        sequence.criticalWaitNanos += judged.criticalWaitNanos - (first ? judged.idleCoreWaitNanos : 0);
        sequence.engineStallNanos += judged.engineStallNanos - (first ? judged.idleEngineStallNanos : 0);
        sequence.workerStallNanos += judged.workerStallNanos;
        sequence.hostPhaseNanos += judged.hostPhaseNanos;
        sequence.ownStepNanos += Math.max(0, judged.endNanos - Math.max(judged.beginNanos, last));
        if (judged.warm) {
            sequence.expectedNanos += judged.expectedNanos;
            sequence.batchNanos += judged.batchNanos;
            sequence.contextNanos += judged.contextNanos;
            sequence.graphNanos += judged.graphNanos;
            if (judged.graphFellBack) {
                sequence.graphFellBack = true;
                sequence.graphCold |= judged.graphCold;
                sequence.graphMode = String.valueOf(judged.load.graphMode().modeName());
                sequence.graphEventId = judged.eventId;
            }
        } else {
            sequence.expectedKnown = false;
        }
        if (judged.promptRows.isEmpty()) {
            return;
        }
        long ownPrefill = 0;
        long ownRecompute = 0;
        for (JudgedStep.PromptRow row : judged.promptRows) {
            if (row.sequence() == sequence) {
                if (row.recompute()) {
                    ownRecompute += row.nanos();
                    sequence.ownRecomputeTokens += row.tokens();
                } else {
                    ownPrefill += row.nanos();
                    sequence.ownPrefillTokens += row.tokens();
                }
            } else if (row.recompute()) {
                sequence.otherRecomputeTokens += row.tokens();
                if (row.tokens() > sequence.recomputeCulpritTokens) {
                    sequence.recomputeCulpritTokens = row.tokens();
                    sequence.recomputeCulprit = row.sequence().name.requestId;
                    sequence.recomputeEventId = judged.eventId;
                }
            } else {
                sequence.otherPrefillTokens += row.tokens();
                if (row.tokens() > sequence.prefillCulpritTokens) {
                    sequence.prefillCulpritTokens = row.tokens();
                    sequence.prefillCulprit = row.sequence().name.requestId;
                    sequence.prefillEventId = judged.eventId;
                }
            }
        }
        if (judged.warm) {
            sequence.ownPrefillNanos += ownPrefill;
            sequence.ownRecomputeNanos += ownRecompute;
            sequence.otherPrefillNanos += judged.prefillNanos - ownPrefill;
            sequence.otherRecomputeNanos += judged.recomputeNanos - ownRecompute;
        }
    }

    /** Whether KV blocks of a sequence were on their way at a reading of the engine's clock. */
    boolean isLoading(SequenceState sequence, long atNanos) {
        return records.isLoading(sequence, atNanos);
    }

    /** Learns from the step after everything in it has been judged. */
    void learn(JudgedStep judged) {
        records.done(judged);
        if (judged.load.sequences() == 0) {
            return;
        }
        state.decodes |= judged.decodeSequences > 0;
        if (!state.decodes) {
            state.promptStepWindow.add(judged.stepNanos);
        }
        if (judged.load.promptTokens() > 0 && state.gapWindow.size() == 0) {
            // Errors are weighed by length: whether this one is far shorter than usual is known after a decode step.
            if (state.firstPrompts.size() < FIRST_PROMPTS) {
                state.firstPrompts.add(judged.load.packed(judged.stepNanos));
            }
            return;
        }
        if (judged.load.promptTokens() == 0) {
            state.sequencesWindow.add(judged.load.sequences());
            state.residentWindow.add(judged.load.residentTokens());
            state.paddedWindow.add(judged.load.paddedCount());
            state.usualGraphMode.add(judged.load.graphMode());
            state.gapWindow.add(judged.intervalNanos);
            state.idleWindow.add(judged.idleNanos);
            state.hostPhaseWindow.add(judged.hostPhaseNanos);
            if (judged.warm) {
                state.residualWindow.add(judged.intervalNanos - judged.expectedNanos);
            }
            if (!Double.isNaN(judged.coreWaitNanos)) {
                state.coreWaitWindow.add(StrictMath.round(judged.coreWaitNanos));
                state.engineStallWindow.add(StrictMath.round(judged.engineStallNanos));
                state.workerStallWindow.add(StrictMath.round(judged.workerStallNanos));
            }
        }
        long usual = state.gapWindow.size() == 0 ? 0 : state.gapWindow.median();
        for (long[] first : state.firstPrompts) {
            StepTimeModel.learn(state.model, StepLoad.unpacked(first), StepLoad.packedNanos(first), usual / 2);
        }
        state.firstPrompts.clear();
        StepTimeModel.learn(state.model, judged.load, judged.stepNanos, usual / 2);
        if (state.sequencesWindow.size() > 0) {
            state.snapshot = StepTimeModel.publish(
                    state.model, state.snapshot, judged.load, state.usualLoad(), judged.stepId + 1);
        }
    }

    /** Spread of gap less expected over the last decode-only steps, ns; null before there are enough. */
    @Nullable
    Long spreadNanos() {
        return state.residualWindow.size() < SPREAD_STEPS
                ? null
                : StrictMath.round(SLOW_DEVIATIONS * state.residualWindow.medianAbsoluteDeviation());
    }

    /** Forgets what a sequence gathered: its next gap begins. */
    void reset(JudgedStep judged, SequenceState sequence) {
        sequence.ownSteps = 0;
        sequence.ownStepNanos = 0;
        sequence.idleNanos = 0;
        sequence.hostPhaseNanos = 0;
        sequence.queueWaitNanos = 0;
        sequence.expectedNanos = 0;
        sequence.expectedKnown = true;
        sequence.batchNanos = 0;
        sequence.contextNanos = 0;
        sequence.graphNanos = 0;
        sequence.graphFellBack = false;
        sequence.graphCold = false;
        sequence.ownPrefillNanos = 0;
        sequence.otherPrefillNanos = 0;
        sequence.ownRecomputeNanos = 0;
        sequence.otherRecomputeNanos = 0;
        sequence.ownPrefillTokens = 0;
        sequence.ownRecomputeTokens = 0;
        sequence.otherPrefillTokens = 0;
        sequence.otherRecomputeTokens = 0;
        sequence.prefillCulprit = null;
        sequence.prefillCulpritTokens = 0;
        sequence.prefillEventId = "";
        sequence.recomputeCulprit = null;
        sequence.recomputeCulpritTokens = 0;
        sequence.recomputeEventId = "";
        if (lostItsBlocks(judged, sequence)) {
            sequence.preempted = false;
        }
        sequence.coreWaitNanos = 0;
        sequence.criticalWaitNanos = 0;
        sequence.engineStallNanos = 0;
        sequence.workerStallNanos = 0;
        RecordedEvidence.reset(sequence);
    }

    /**
     * What {@link #gather} and then {@link #reset} leave behind, for a sequence whose token followed that of another
     * ({@link FollowingRows}): it gathered nothing and has nothing to forget.
     */
    static void followed(JudgedStep judged, SequenceState sequence) {
        sequence.ownUntilNanos = judged.endNanos;
    }

    /** True when it had lost its blocks before this step scheduled it: a step in flight at the loss is not delayed by it. */
    private static boolean lostItsBlocks(JudgedStep judged, SequenceState sequence) {
        return sequence.preempted && judged.stepId >= sequence.preemptedStepId;
    }

    // ---- the token

    private void assign(Part part, long nanos) {
        parts[part.ordinal()] += nanos;
        mask |= 1 << part.ordinal();
    }

    private long assigned(Part part) {
        return (mask & 1 << part.ordinal()) == 0 ? 0 : parts[part.ordinal()];
    }

    /** A later token of the same step: it cost nothing more. */
    void furtherToken(TokenRow row) {
        row.clearParts();
        row.gapNanos = 0;
        row.expectedNanos = TokenBatch.ABSENT;
        row.referenceNanos = TokenBatch.ABSENT;
        row.flags = TokenBatch.SEVERAL;
        row.part(Part.UNEXPLAINED, 0);
    }

    /** Judges the first token that a step gave a sequence and fills in its row. Returns why it is slow; null when it is not. */
    @Nullable
    SlowToken token(JudgedStep judged, SequenceState sequence, TokenRow row, int tokenIndex, int tokens) {
        row.clearParts();
        int flags = tokens > 1 ? TokenBatch.SEVERAL : 0;
        if (state.kvEvents > sequence.kvEventsAtLast) {
            flags |= TokenBatch.KV_EVENT;
        }
        if (sequence.ownRecomputeTokens > 0) {
            flags |= TokenBatch.RECOMPUTED;
        }
        if (state.kvReported) {
            flags |= TokenBatch.KV_REPORTED;
        }
        if (state.evidence.gpuReported) {
            flags |= TokenBatch.GPU_REPORTED;
        }
        if (!sequence.lastKnown) {
            row.gapNanos = TokenBatch.ABSENT;
            row.expectedNanos = TokenBatch.ABSENT;
            row.referenceNanos = TokenBatch.ABSENT;
            row.flags = flags;
            return null;
        }
        java.util.Arrays.fill(parts, 0);
        mask = 0;
        long gap = judged.endNanos - sequence.lastNanos;
        boolean warm = judged.warm && sequence.expectedKnown;
        long expected = warm ? sequence.expectedNanos : judged.referenceKnown ? judged.referenceNanos : 0;
        promptsKnown = warm && state.snapshot.promptsKnown;
        boolean hostCovered = !Double.isNaN(sequence.coreWaitNanos);
        long remaining = gap;
        if (judged.referenceKnown) {
            assign(Part.REFERENCE, judged.referenceNanos);
            remaining -= judged.referenceNanos;
        }
        long waited = waits(judged, sequence, gap);
        remaining -= waited;
        if (warm) {
            remaining -= load(judged, sequence, expected);
        }
        long beyond = gap - expected;
        remaining = evidence(judged, sequence, remaining, beyond, hostCovered);
        if (!promptsKnown && (sequence.otherPrefillTokens + sequence.ownPrefillTokens > 0)) {
            assign(Part.PREFILL, remaining);
            remaining = 0;
        } else if (!promptsKnown && sequence.ownRecomputeTokens > 0) {
            assign(Part.RECOMPUTE_OWN, remaining);
            remaining = 0;
        } else if (!promptsKnown && sequence.otherRecomputeTokens > 0) {
            assign(Part.RECOMPUTE_OTHER, remaining);
            remaining = 0;
        }
        if (sequence.graphCold && remaining > 0) {
            // The mode is in the step record; what it costs cannot be known before some steps ran in it.
            assign(Part.GRAPH, remaining);
            remaining = 0;
        }
        assign(Part.UNEXPLAINED, remaining);

        if (hostCovered) {
            flags |= TokenBatch.HOST_COVERED;
        }
        row.gapNanos = gap;
        row.expectedNanos = judged.referenceKnown ? expected : TokenBatch.ABSENT;
        row.referenceNanos = judged.referenceKnown ? judged.referenceNanos : TokenBatch.ABSENT;
        for (int ordinal = 0; ordinal < Part.COUNT; ordinal++) {
            if ((mask & 1 << ordinal) != 0) {
                row.part(Part.ofOrdinal(ordinal), parts[ordinal]);
            }
        }
        SlowToken slow = null;
        if (judged.referenceKnown && isSlow(judged, sequence, gap, tokenIndex, tokens)) {
            flags |= TokenBatch.SLOW | slowKind(judged, sequence, gap, expected, tokenIndex, tokens, warm);
            slow = explain(judged, sequence, gap, expected, tokenIndex);
            slow.lostNanos = gap - judged.referenceNanos - (tokenIndex == 0 ? ownPromptNanos(sequence) : 0);
        }
        row.flags = flags;
        return slow;
    }

    private boolean isSlow(JudgedStep judged, SequenceState sequence, long gap, int tokenIndex, int tokens) {
        long work = work(judged, sequence, tokenIndex);
        return (double) gap / tokens - work > limit(judged, work);
    }

    /** What a usual token takes. Its own prompt is the first token's work, not a slowness. */
    private long work(JudgedStep judged, SequenceState sequence, int tokenIndex) {
        return judged.referenceNanos + (tokenIndex == 0 ? ownPromptNanos(sequence) : 0);
    }

    private static double limit(JudgedStep judged, long work) {
        return StrictMath.max(SLOW_SHARE * work, judged.spreadNanos);
    }

    /** Whether a slow token is slow beyond what its load explains; neither while the model cannot say. */
    private int slowKind(
            JudgedStep judged,
            SequenceState sequence,
            long gap,
            long expected,
            int tokenIndex,
            int tokens,
            boolean warm) {
        boolean prompts = sequence.ownPrefillTokens
                        + sequence.otherPrefillTokens
                        + sequence.ownRecomputeTokens
                        + sequence.otherRecomputeTokens
                > 0;
        if (!warm || sequence.graphCold || (prompts && !promptsKnown)) {
            return 0;
        }
        boolean anomaly = (double) (gap - expected) / tokens > limit(judged, work(judged, sequence, tokenIndex));
        return anomaly ? TokenBatch.ANOMALY : TokenBatch.LOAD;
    }

    /** Whether a step is slow, and then whether its load explains it: "load" or "anomaly"; null where it is not, or is not known. */
    static @Nullable String slowKind(JudgedStep judged) {
        StepExpectation expectation = judged.expectation;
        if (expectation == null || expectation.basis() == StepExpectation.Basis.PROMPTS_UNKNOWN) {
            return null;
        }
        double limit = limit(judged, judged.referenceNanos);
        if (judged.stepNanos - judged.referenceNanos <= limit) {
            return null;
        }
        return judged.stepNanos - judged.expectedNanos > limit ? "anomaly" : "load";
    }

    /** The share of the prefill part that the sequence's own prompt took. */
    private long ownPromptNanos(SequenceState sequence) {
        long prefill = assigned(Part.PREFILL);
        long tokens = sequence.ownPrefillTokens + sequence.otherPrefillTokens;
        if (tokens == 0) {
            return 0;
        }
        return prefill - otherPromptNanos(sequence);
    }

    private long otherPromptNanos(SequenceState sequence) {
        long prefill = assigned(Part.PREFILL);
        if (sequence.ownPrefillTokens == 0) {
            return sequence.otherPrefillTokens == 0 ? 0 : prefill;
        }
        long other = sequence.otherPrefillNanos;
        if (promptsKnown && sequence.ownPrefillNanos + other > 0) {
            return Math.min(prefill, other);
        }
        return prefill * sequence.otherPrefillTokens / (sequence.ownPrefillTokens + sequence.otherPrefillTokens);
    }

    private long waits(JudgedStep judged, SequenceState sequence, long gap) {
        long waited = gap - sequence.ownStepNanos - sequence.idleNanos;
        TransferWait transferred = sequence.transferWait;
        long transfer = transferred == null ? 0 : Math.min(waited, transferred.nanos());
        if (transfer > 0) {
            assign(Part.TRANSFER_WAIT, transfer);
        }
        long queue = Math.min(
                waited - transfer, sequence.queueWaitNanos - (transferred == null ? 0 : transferred.queuedNanos));
        if (queue != 0) {
            assign(Part.QUEUE_WAIT, queue);
        }
        long rest = waited - transfer - queue;
        if (rest != 0) {
            assign(
                    lostItsBlocks(judged, sequence) || sequence.ownRecomputeTokens > 0
                            ? Part.PREEMPTED_WAIT
                            : Part.SKIPPED_WAIT,
                    rest);
        }
        return waited;
    }

    /** Assigns expected - reference to its factors and returns it. */
    private long load(JudgedStep judged, SequenceState sequence, long expected) {
        long total = expected - judged.referenceNanos;
        long batch = sequence.batchNanos;
        long context = sequence.contextNanos;
        long graph = sequence.graphNanos;
        long prefill = sequence.ownPrefillNanos + sequence.otherPrefillNanos;
        long recomputeOwn = sequence.ownRecomputeNanos;
        long recomputeOther = sequence.otherRecomputeNanos;
        // Steps beyond the one that a token needs anyway exist because of the prompt or the recomputation.
        long further = total - batch - context - graph - prefill - recomputeOwn - recomputeOther;
        boolean severalSteps = sequence.ownSteps > 1;
        if (severalSteps && sequence.ownRecomputeTokens > 0) {
            recomputeOwn += further;
        } else if (severalSteps && sequence.ownPrefillTokens > 0) {
            prefill += further;
        } else {
            batch += further;
        }
        assign(Part.BATCH, batch);
        assign(Part.CONTEXT, context);
        if (prefill != 0 || sequence.ownPrefillTokens + sequence.otherPrefillTokens > 0) {
            assign(Part.PREFILL, prefill);
        }
        if (recomputeOwn != 0 || sequence.ownRecomputeTokens > 0) {
            assign(Part.RECOMPUTE_OWN, recomputeOwn);
        }
        if (recomputeOther != 0 || sequence.otherRecomputeTokens > 0) {
            assign(Part.RECOMPUTE_OTHER, recomputeOther);
        }
        if (graph != 0) {
            assign(Part.GRAPH, graph);
        }
        return total;
    }

    /** Gives of what remains to pause, contention and idle time, each by its own evidence; returns the rest. */
    private long evidence(JudgedStep judged, SequenceState sequence, long remaining, long beyond, boolean hostCovered) {
        records.begin();
        pausedRole = null;
        pausedForBlockIoNanos = 0;
        long left = records.measured(sequence, remaining, this::assign);
        if (left > 0 && hostCovered) {
            // A paused engine first: what other threads do meanwhile is not on the critical path.
            left -= pause(judged, sequence, "engine", left, beyond);
            long usual = state.coreWaitWindow.size() == 0 ? 0 : state.coreWaitWindow.median();
            // The sample period is longer than most steps, so worker and engine core count together ...
            long waited = StrictMath.round(sequence.coreWaitNanos) - usual * Math.max(1, sequence.ownSteps);
            if (left > 0 && waited > 0 && 2 * waited >= beyond) {
                boolean computed =
                        sequence.otherPrefillTokens + sequence.otherRecomputeTokens + sequence.ownRecomputeTokens > 0;
                // ... but beside work that took its own time only the wait on the critical path may be charged.
                long charged =
                        computed ? Math.min(waited, Math.max(0, StrictMath.round(sequence.criticalWaitNanos))) : waited;
                long part = Math.min(left, charged);
                if (part > 0) {
                    assign(Part.HOST_CONTENTION, part);
                    left -= part;
                }
            }
            left -= pause(judged, sequence, "worker", left, beyond);
        }
        left = records.counted(sequence, left, StrictMath.round(judged.spreadNanos), this::assign);
        if (left > 0 && sequence.idleNanos > 0) {
            long usualIdle = state.idleWindow.size() == 0 ? 0 : state.idleWindow.median();
            long part = Math.min(left, Math.max(0, sequence.idleNanos - usualIdle));
            if (part > 0) {
                assign(Part.HOST_GAP, part);
                left -= part;
            }
        }
        if (left > 0 && !hostCovered) {
            long usualPhases = state.hostPhaseWindow.size() == 0 ? 0 : state.hostPhaseWindow.median();
            long longer = sequence.hostPhaseNanos - usualPhases * Math.max(1, sequence.ownSteps);
            if (longer > 0 && 2 * longer >= beyond) {
                // The engine wrote nothing while the step was open, and the model did not run.
                long part = Math.min(left, longer);
                assign(Part.HOST_GAP, part);
                left -= part;
            }
        }
        // A step that ran another way for the first time leaves the device idle by that: launching takes longer.
        return hostCovered || sequence.graphCold ? left : records.deviceIdle(sequence, left, this::assign);
    }

    /**
     * Assigns a pause where a process stalled, beyond what it usually does, for most of what is to be explained, or waited for block I/O
     * for half of it; returns it. A wait for block I/O is part of a stall and never of a wait for a core.
     */
    private long pause(JudgedStep judged, SequenceState sequence, String role, long left, long beyond) {
        if (left <= 0 || mask(Part.HOST_PAUSE)) {
            return 0;
        }
        boolean ofEngine = role.equals("engine");
        double allStalled = ofEngine ? sequence.engineStallNanos : sequence.workerStallNanos;
        double leastNanos = (double) PAUSE_PERIODS * state.threads.periodNanos();
        // NaN where no core record covers the gap: no comparison holds.
        if (!(allStalled >= leastNanos)) {
            return 0;
        }
        SortedWindow usual = ofEngine ? state.engineStallWindow : state.workerStallWindow;
        long usualNanos = usual.size() == 0 ? 0 : Math.max(0, usual.median());
        boolean sleeper = state.gapWindow.size() > 0 && usualNanos > SLEEPER_SHARE * state.gapWindow.median();
        double stalled = allStalled - (double) usualNanos * Math.max(1, sequence.ownSteps);
        boolean stoodStill = !sleeper && stalled >= PAUSE_SHARE * beyond && stalled >= leastNanos;
        HostThreads.Track thread = ofEngine ? state.threads.engine : state.threads.worker;
        // That a thread sleeps by design says nothing of a wait for block I/O.
        double blockIo = Math.min(
                sleeper ? allStalled : stalled, thread.blockIoWaitBeyondUsual(sequence.lastNanos, judged.endNanos));
        boolean waitedForBlockIo = 2 * blockIo >= beyond && blockIo >= Math.max(leastNanos, LEAST_BLOCK_IO_NANOS);
        if (!stoodStill && !waitedForBlockIo) {
            return 0;
        }
        long part = Math.min(left, StrictMath.round(stoodStill ? stalled : blockIo));
        assign(Part.HOST_PAUSE, part);
        pausedRole = role;
        pausedForBlockIoNanos = blockIo >= LEAST_BLOCK_IO_NANOS ? Math.min(part, StrictMath.round(blockIo)) : 0;
        return part;
    }

    private boolean mask(Part part) {
        return (mask & 1 << part.ordinal()) != 0;
    }

    // ---- the cause

    private SlowToken explain(JudgedStep judged, SequenceState sequence, long gap, long expected, int tokenIndex) {
        CauseChoice choice = new CauseChoice();
        boolean ownRecompute = lostItsBlocks(judged, sequence) || sequence.ownRecomputeTokens > 0;
        if (ownRecompute) {
            choice.offer(Cause.PREEMPTION, assigned(Part.PREEMPTED_WAIT) + assigned(Part.RECOMPUTE_OWN));
        }
        if (sequence.otherRecomputeTokens > 0) {
            choice.offer(Cause.RECOMPUTE, assigned(Part.RECOMPUTE_OTHER));
        }
        if (sequence.otherPrefillTokens > 0) {
            choice.offer(Cause.PREFILL_INTERFERENCE, otherPromptNanos(sequence));
        }
        long skipped = assigned(Part.SKIPPED_WAIT);
        long skippedPrefillOnly = Math.min(skipped, state.prefillOnlyNanos - sequence.prefillOnlyAtLast);
        long skippedBudget = Math.min(skipped - skippedPrefillOnly, state.budgetUsedNanos - sequence.budgetUsedAtLast);
        choice.offer(Cause.DECODE_STARVED_BY_PREFILL, skippedPrefillOnly);
        choice.offer(Cause.TOKEN_BUDGET_STARVATION, skippedBudget);
        long queue = assigned(Part.QUEUE_WAIT);
        long seat = Math.min(queue, sequence.queuedAtSeatLimitNanos);
        long blocks = Math.min(queue - seat, sequence.queuedShortOfBlocksNanos);
        if (queue > 0) {
            choice.offer(Cause.KV_PRESSURE, 2 * blocks >= queue && blocks >= seat ? queue : 0);
            choice.offer(Cause.SEAT_LIMIT, 2 * seat >= queue ? queue : 0);
            choice.offer(Cause.QUEUE_WAIT, 2 * seat < queue && 2 * blocks < queue ? queue : 0);
        }
        choice.offer(Cause.BATCH_GROWTH, assigned(Part.BATCH));
        choice.offer(Cause.CONTEXT_GROWTH, assigned(Part.CONTEXT));
        records.offer(sequence, choice);
        if (sequence.graphFellBack) {
            choice.offer(Cause.KERNEL_FALLBACK, assigned(Part.GRAPH));
        }
        choice.offer(Cause.HOST_PAUSE, assigned(Part.HOST_PAUSE));
        choice.offer(Cause.HOST_CONTENTION, assigned(Part.HOST_CONTENTION));
        choice.offer(Cause.HOST_GAP, assigned(Part.HOST_GAP));
        choice.offer(Cause.UNRESOLVED_STALL, assigned(Part.UNEXPLAINED) + skipped - skippedPrefillOnly - skippedBudget);

        SlowToken slow = new SlowToken();
        Cause cause = choice.best();
        slow.cause = cause.name();
        slow.culpritRequestId = culprit(cause, judged, sequence);
        Confidence byRecords = records.confidence(cause, sequence);
        Confidence confidence = byRecords != null ? byRecords : confidence(cause, promptsKnown, sequence);
        slow.confidence = confidence.levelName();
        String recorded = RecordedEvidence.why(cause, confidence, sequence);
        boolean forBlockIo = 2 * pausedForBlockIoNanos >= assigned(Part.HOST_PAUSE) && pausedForBlockIoNanos > 0;
        slow.confidenceWhy = recorded != null
                ? recorded
                : cause == Cause.HOST_PAUSE && forBlockIo
                        ? Phrase.WHY_WAITED_FOR_BLOCK_IO.say()
                        : why(cause, confidence, promptsKnown, sequence);
        slow.recordId = RecordedEvidence.recordId(cause, sequence);
        evidenceIds(slow, judged, sequence);
        new Narrative(slow, parts, mask, pausedForBlockIoNanos)
                .tell(cause, judged, sequence, gap, expected, tokenIndex, state);
        return slow;
    }

    private @Nullable String culprit(Cause cause, JudgedStep judged, SequenceState sequence) {
        return switch (cause) {
            case PREEMPTION ->
                sequence.preemptedByItself || sequence.preemptedFor == null
                        ? sequence.largestHolder
                        : sequence.preemptedFor;
            case RECOMPUTE -> sequence.recomputeCulprit;
            case PREFILL_INTERFERENCE -> sequence.prefillCulprit;
            case DECODE_STARVED_BY_PREFILL, TOKEN_BUDGET_STARVATION -> {
                PrefillStep prefill = state.prefillBeside(sequence);
                yield prefill == null ? null : prefill.requestId;
            }
            case QUEUE_WAIT -> {
                PrefillStep urgent = state.moreUrgentBeside(sequence);
                yield urgent == null ? null : urgent.requestId;
            }
            case KV_PRESSURE ->
                sequence.queuedBlockHolder != null ? sequence.queuedBlockHolder : other(judged, sequence);
            case CONTEXT_GROWTH -> judged.largestContext() == sequence ? null : other(judged, sequence);
            case HOST_PAUSE -> pausedRole != null ? pausedRole : RecordedEvidence.culprit(cause, sequence);
            default -> RecordedEvidence.culprit(cause, sequence);
        };
    }

    private static @Nullable String other(JudgedStep judged, SequenceState sequence) {
        SequenceState largest = judged.largestContext() == sequence ? judged.secondContext() : judged.largestContext();
        return largest == null ? null : largest.name.requestId;
    }

    private static Confidence confidence(Cause cause, boolean promptsKnown, SequenceState sequence) {
        return switch (cause) {
            case UNRESOLVED_STALL -> Confidence.UNRESOLVED;
            case HOST_GAP, BATCH_GROWTH, CONTEXT_GROWTH -> Confidence.CONSISTENT_WITH;
            case PREEMPTION ->
                sequence.preemptedEventId.isEmpty() || sequence.preemptedByItself
                        ? Confidence.CONSISTENT_WITH
                        : Confidence.ESTABLISHED;
            case KERNEL_FALLBACK -> sequence.graphCold ? Confidence.CONSISTENT_WITH : Confidence.ESTABLISHED;
            case PREFILL_INTERFERENCE, RECOMPUTE -> promptsKnown ? Confidence.ESTABLISHED : Confidence.CONSISTENT_WITH;
            default -> Confidence.ESTABLISHED;
        };
    }

    private static String why(Cause cause, Confidence confidence, boolean promptsKnown, SequenceState sequence) {
        if (confidence == Confidence.UNRESOLVED) {
            return Phrase.WHY_NO_RECORD.say();
        }
        if (confidence == Confidence.CONSISTENT_WITH) {
            return switch (cause) {
                case PREEMPTION ->
                    sequence.preemptedEventId.isEmpty()
                            ? Phrase.WHY_AGAIN_WITHOUT_RECORD.say()
                            : Phrase.WHY_RAN_OUT_BY_ITSELF.say();
                case HOST_GAP -> Phrase.WHY_STEPS_BRACKET_IT.say();
                case KERNEL_FALLBACK -> Phrase.WHY_MODE_IS_NEW.say();
                case BATCH_GROWTH, CONTEXT_GROWTH -> Phrase.WHY_MODEL_EXPLAINS.say();
                default -> promptsKnown ? Phrase.WHY_PARTS_CLOSE.say() : Phrase.WHY_MODEL_COLD.say();
            };
        }
        return switch (cause) {
            case PREEMPTION -> Phrase.WHY_PREEMPTION_RECORD.say();
            case RECOMPUTE -> Phrase.WHY_OTHERS_RECOMPUTED.say();
            case PREFILL_INTERFERENCE -> Phrase.WHY_OTHERS_PROMPT.say();
            case HOST_CONTENTION -> Phrase.WHY_READY_WITHOUT_CORE.say();
            case KERNEL_FALLBACK -> Phrase.WHY_GRAPH_MODE.say();
            case HOST_PAUSE -> Phrase.WHY_NEITHER_RAN.say();
            default -> Phrase.WHY_SCHEDULER.say();
        };
    }

    private void evidenceIds(SlowToken slow, JudgedStep judged, SequenceState sequence) {
        for (int ordinal = 0; ordinal < Part.COUNT; ordinal++) {
            Part part = Part.ofOrdinal(ordinal);
            if ((mask & 1 << ordinal) == 0 || part == Part.REFERENCE) {
                continue;
            }
            String id = switch (part) {
                case PREEMPTED_WAIT -> sequence.preemptedEventId;
                case RECOMPUTE_OWN -> sequence.resumedEventId;
                case PREFILL ->
                    sequence.prefillEventId.isEmpty() || sequence.otherPrefillTokens == 0
                            ? judged.eventId
                            : sequence.prefillEventId;
                case RECOMPUTE_OTHER -> sequence.recomputeEventId;
                case QUEUE_WAIT -> sequence.queuedEventId;
                case GRAPH -> sequence.graphFellBack ? sequence.graphEventId : RecordedEvidence.eventId(part, sequence);
                case HOST_CONTENTION -> state.threads.lastEventId;
                case HOST_PAUSE -> {
                    String pause = RecordedEvidence.eventId(part, sequence);
                    yield pause.isEmpty() ? state.threads.lastEventId : pause;
                }
                default -> RecordedEvidence.eventId(part, sequence);
            };
            slow.evidence.add(part.partName());
            slow.evidence.add(id.isEmpty() ? judged.eventId : id);
        }
    }
}
