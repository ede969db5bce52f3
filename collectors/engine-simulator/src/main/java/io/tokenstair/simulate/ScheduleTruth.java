package io.tokenstair.simulate;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Keeps what one engine's scheduler and cache did to each sequence, and what each step did. */
final class ScheduleTruth {
    private final String engineId;
    private final List<StepTruth> steps = new ArrayList<>();
    private final Map<Sequence, Kept> sequences = new LinkedHashMap<>();
    /** Those that wait: for their first schedule, or after a preemption. */
    private final Set<Sequence> waiting = new HashSet<>();
    /** Hashes of all blocks that ever were in the cache. */
    private final Set<Long> stored = new HashSet<>();

    private final Map<Long, Integer> preemptionsOfStep = new HashMap<>();
    private int started;

    /** What is kept of a sequence. */
    private static final class Kept {
        /** Its place among all starts; absent before its first schedule. */
        @Nullable
        Integer startOrder;

        int preemptions;
        int firstMadeTokens;
        long recomputedTokens;
        long loopRecomputedTokens;
        long loopGainedTokens;
        int overtakenCount;
        int passedOverCount;
        int foundTokens;
        int lostTokens;
    }

    ScheduleTruth(String engineId) {
        this.engineId = engineId;
    }

    void queued(Sequence sequence) {
        sequences.put(sequence, new Kept());
        waiting.add(sequence);
    }

    void aborted(Sequence sequence) {
        waiting.remove(sequence);
    }

    void preempted(Sequence sequence, long stepId) {
        preemptionsOfStep.merge(stepId, 1, Integer::sum);
        waiting.add(sequence);
        Kept kept = kept(sequence);
        if (kept.preemptions++ == 0) {
            kept.firstMadeTokens = sequence.madeTokens;
            kept.recomputedTokens = 0;
            return;
        }
        long gained = sequence.madeTokens - kept.firstMadeTokens;
        if (kept.preemptions >= 3
                && (kept.loopRecomputedTokens == 0
                        || kept.recomputedTokens - gained > kept.loopRecomputedTokens - kept.loopGainedTokens)) {
            kept.loopRecomputedTokens = kept.recomputedTokens;
            kept.loopGainedTokens = gained;
        }
    }

    void stepped(StepRun step) {
        Set<Sequence> scheduled = new HashSet<>();
        step.stepRows.forEach(row -> scheduled.add(row.sequence()));
        for (StepRow row : step.stepRows) {
            Kept kept = kept(row.sequence());
            if (row.recomputes()) {
                kept.recomputedTokens += row.scheduledTokens();
            }
            if (row.cachedTokens() != null) {
                anew(row, kept, scheduled, step.scheduleStartNanos);
            }
        }
        waiting.removeAll(scheduled);
        step.stored.forEach(blocks -> stored.addAll(blocks.hashes()));
        steps.add(new StepTruth(
                engineId,
                step.stepId,
                step.stepRows.size(),
                step.tokens(true, false) + step.tokens(false, false) + step.tokens(false, true),
                step.tokens(false, true),
                preemptionsOfStep.getOrDefault(step.stepId, 0),
                StepLaw.decodeOnlyNanos(step.stepRows.size(), 0, false)));
    }

    /** A sequence is scheduled that was not in the step before: those that wait on may have been before it. */
    private void anew(StepRow row, Kept kept, Set<Sequence> scheduled, long atNanos) {
        Sequence runs = row.sequence();
        Integer order = kept.startOrder;
        for (Sequence waits : waiting) {
            Kept other = kept(waits);
            if (scheduled.contains(waits)) {
                continue;
            }
            // Who waits for the first blocks, which are on their way, could not have run before.
            boolean loads = other.startOrder == null && waits.transferEndNanos > atNanos;
            int urgency = Integer.compare(runs.plan.priority(), waits.plan.priority());
            boolean later = other.startOrder != null && (order == null || order > other.startOrder);
            other.overtakenCount += later && urgency >= 0 ? 1 : 0;
            other.passedOverCount += urgency > 0 && !loads ? 1 : 0;
        }
        if (order == null) {
            kept.startOrder = started++;
            kept.foundTokens = Math.min(row.cachedTokens() == null ? 0 : row.cachedTokens(), runs.plan.promptTokens());
            int blocks = Math.min(runs.plan.promptTokens() / KvCache.BLOCK_TOKENS, runs.chain.length);
            for (int block = kept.foundTokens / KvCache.BLOCK_TOKENS; block < blocks; block++) {
                kept.lostTokens += stored.contains(runs.chain[block]) ? KvCache.BLOCK_TOKENS : 0;
            }
        }
    }

    private Kept kept(Sequence sequence) {
        return sequences.computeIfAbsent(sequence, absent -> new Kept());
    }

    List<StepTruth> steps() {
        return steps;
    }

    /**
     * What became of the sequences, as they were queued.
     *
     * @param ttftNanos by request and sequence, as in {@code sim-000001#0}
     */
    List<RequestTruth> requests(Map<String, Long> ttftNanos) {
        List<RequestTruth> truth = new ArrayList<>();
        sequences.forEach((sequence, kept) -> truth.add(new RequestTruth(
                sequence.plan.requestId(),
                sequence.choice,
                ttftNanos.get(sequence.plan.requestId() + '#' + sequence.choice),
                kept.preemptions,
                kept.loopRecomputedTokens,
                kept.loopGainedTokens,
                kept.overtakenCount,
                kept.passedOverCount,
                sequence.plan.promptTokens(),
                kept.foundTokens,
                kept.lostTokens)));
        return truth;
    }
}
