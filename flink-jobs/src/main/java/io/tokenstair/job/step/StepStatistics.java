package io.tokenstair.job.step;

import io.tokenstair.cause.Part;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.job.statistics.Displacement;
import io.tokenstair.job.statistics.Displacement.Loser;
import io.tokenstair.job.statistics.DisplacementPane;
import io.tokenstair.job.statistics.EngineStatisticsState;
import io.tokenstair.job.statistics.Metric;
import io.tokenstair.job.statistics.MomentPane;
import io.tokenstair.job.statistics.PaneCounter;
import io.tokenstair.job.statistics.PaneCounter.Slot;
import io.tokenstair.job.statistics.Panes;
import io.tokenstair.job.statistics.StatisticsOutput;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Feeds the statistics of an engine from its judged steps and tokens. */
final class StepStatistics {
    /** Most waiting requests, and most skipped or preempted ones, that are looked at in a step. */
    private static final int WAITING = 256;

    private final EngineState state;
    private final EngineStatisticsState statistics;
    private final StatisticsOutput output;
    private final PaneCounter counter;
    private final Displacement displacement = new Displacement();

    // Where the gap of the token before was counted.
    private @Nullable Slot gaps;
    private @Nullable Integer gapsPriority;
    private long gapsStartMillis;
    private int gapsShippings;

    // Where gaps of tokens that are alike are counted together, and how many have not been yet.
    private @Nullable Slot alike;
    private @Nullable Integer alikePriority;
    private int alikeCount;
    private long alikeNanos;

    StepStatistics(EngineState state, StatisticsOutput output, PaneCounter counter) {
        this.state = state;
        this.statistics = state.statistics;
        this.output = output;
        this.counter = counter;
    }

    /** Nothing at or before this event time will come any more: panes that end there are told. */
    void completeTo(long millis) {
        MomentPane pane = statistics.series.takeBefore(millis);
        if (pane != null) {
            send(pane);
        }
        statistics.displacement.tellBefore(state.engineId, millis, output::displacement);
    }

    private void send(MomentPane pane) {
        pane.engineId = state.engineId;
        pane.model = statistics.model;
        output.moments(pane);
    }

    // ---- tokens

    /** Counts the gap of a token. */
    void token(SequenceState sequence, TokenRow row, int tokenIndex) {
        long gap = row.gapNanos;
        if (gap == TokenRow.ABSENT) {
            return;
        }
        if (tokenIndex == 0) {
            first(sequence, row);
            return;
        }
        Slot slot = gaps;
        // Nearly always the priority and the pane of the token before.
        if (slot == null
                || !Objects.equals(sequence.priority, gapsPriority)
                || row.coarseEpochMillis < gapsStartMillis
                || row.coarseEpochMillis - gapsStartMillis >= Panes.MILLIS
                || counter.shippings() != gapsShippings) {
            leaveAlike();
            slot = counter.slot(
                    Metric.GAP,
                    statistics.model,
                    state.engineId,
                    statistics.counted(sequence.priority),
                    row.coarseEpochMillis);
            gaps = slot;
            gapsPriority = sequence.priority;
            gapsStartMillis = Panes.startMillis(row.coarseEpochMillis, Panes.MILLIS);
            gapsShippings = counter.shippings();
        }
        slot.record(gap, sequence.name.requestId, tokenIndex);
    }

    /** Begins to count tokens that have the gap of this row, and all but their index. */
    void beginAlike(TokenRow row) {
        Slot slot = gaps;
        alikePriority = gapsPriority;
        alikeNanos = row.gapNanos;
        alike = slot != null
                        && row.gapNanos != TokenRow.ABSENT
                        && row.coarseEpochMillis >= gapsStartMillis
                        && row.coarseEpochMillis - gapsStartMillis < Panes.MILLIS
                        && counter.shippings() == gapsShippings
                        && slot.isUsual(row.gapNanos)
                ? slot
                : null;
    }

    /** Counts the gaps of so many of them, all of one priority, none the first of its sequence. False where each must be counted by itself. */
    boolean alike(@Nullable Integer priority, int count) {
        if (alike == null || !Objects.equals(priority, alikePriority)) {
            return false;
        }
        alikeCount += count;
        return true;
    }

    /** Counts the gap of one of them, not the first of its sequence. */
    void alike(SequenceState sequence, TokenRow row, int tokenIndex) {
        if (alike(sequence.priority, 1)) {
            return;
        }
        endAlike();
        token(sequence, row, tokenIndex);
        beginAlike(row);
    }

    /** Ends to count them. */
    void endAlike() {
        if (alike != null && alikeCount > 0) {
            alike.recordUsual(alikeNanos, alikeCount);
        }
        alikeCount = 0;
    }

    /** Before a slot is asked for: all may be told then, and be of other keys afterwards. */
    private void leaveAlike() {
        endAlike();
        alike = null;
    }

    private void first(SequenceState sequence, TokenRow row) {
        leaveAlike();
        @Nullable Integer priority = statistics.counted(sequence.priority);
        String requestId = sequence.name.requestId;
        counter.slot(Metric.ENGINE_TTFT, statistics.model, state.engineId, priority, row.coarseEpochMillis)
                .record(row.gapNanos, requestId, 0);
        long wait = row.partNanos(Part.QUEUE_WAIT);
        counter.slot(Metric.QUEUE_WAIT, statistics.model, state.engineId, priority, row.coarseEpochMillis)
                .record(wait == TokenRow.ABSENT ? 0 : wait, requestId, 0);
    }

    /** A sequence was scheduled with so many tokens found cached. */
    void scheduled(SequenceState sequence, boolean resumed, int cachedTokens) {
        if (!resumed && sequence.promptTokens != null) {
            statistics.series.scheduled(sequence.promptTokens, cachedTokens);
        }
    }

    // ---- the step

    /** Takes a judged step, before what it schedules leaves the queue. */
    void step(long coarseMillis, StepCompleted step, JudgedStep judged, @Nullable SequenceState[] sequenceOfRow) {
        if (state.lastEndKnown || step.scheduleStartNanos() != null) {
            counter.slot(Metric.STEP, statistics.model, state.engineId, null, coarseMillis)
                    .record(judged.stepNanos, "", -1);
        }
        series(coarseMillis, step, judged);
        if (statistics.priorities.size() > 1) {
            displace(coarseMillis, step, judged, sequenceOfRow);
        }
    }

    private void series(long coarseMillis, StepCompleted step, JudgedStep judged) {
        if (!judged.warm || !state.lastEndKnown || judged.stepNanos < 0) {
            statistics.series.interrupt();
            return;
        }
        if (judged.decodeSequences == 0) {
            return;
        }
        MomentPane done = statistics.series.step(
                coarseMillis,
                judged.stepNanos,
                StrictMath.round(judged.expectedNanos),
                judged.decodeSequences,
                judged.load.residentTokens(),
                step.paddedBatchCount() == null ? step.rows().count() : step.paddedBatchCount(),
                judged.load.promptTokens());
        if (done != null) {
            send(done);
        }
    }

    // ---- displacement

    private void displace(
            long coarseMillis, StepCompleted step, JudgedStep judged, @Nullable SequenceState[] sequenceOfRow) {
        DisplacementPane pane = statistics.displacement;
        pane.at(state.engineId, coarseMillis, output::displacement);
        SequenceRows rows = step.rows();
        int known = 0;
        for (int i = 0; i < rows.count(); i++) {
            SequenceState sequence = sequenceOfRow[i];
            if (sequence != null) {
                sequence.rowStepNumber = state.steps;
                known++;
            }
        }
        List<SequenceState> queue = new ArrayList<>();
        List<SequenceState> skipped = new ArrayList<>();
        if (state.sequences.size() > known + state.waiting.size()) {
            for (SequenceState sequence : state.sequences.values()) {
                if (sequence.rowStepNumber != state.steps && sequence.scheduled && sequence.priority != null) {
                    boolean lost = sequence.preempted && judged.stepId >= sequence.preemptedStepId;
                    (lost ? queue : skipped).add(sequence);
                }
            }
            // The map has no order that a restart keeps.
            Comparator<SequenceState> order = Comparator.comparingLong((SequenceState sequence) -> sequence.lastNanos)
                    .thenComparingInt(sequence -> sequence.handle);
            queue.sort(order);
            skipped.sort(order);
        }
        for (int i = 0; i < state.waiting.size() && queue.size() < WAITING; i++) {
            SequenceState sequence = state.sequences.get(state.waiting.get(i));
            if (sequence != null && sequence.priority != null && sequence.rowStepNumber != state.steps) {
                queue.add(sequence);
            }
        }
        if (!queue.isEmpty()) {
            queue(step, judged, sequenceOfRow, queue, pane);
        }
        if (!skipped.isEmpty() && budgetUsed(rows)) {
            hold(rows, sequenceOfRow, 0, Resource.BUDGET);
            displacement.book(true, losers(judged, skipped, Resource.BUDGET), pane::lost);
        }
    }

    /** What a step can run out of. */
    private enum Resource {
        SEATS,
        BLOCKS,
        BUDGET
    }

    private void queue(
            StepCompleted step,
            JudgedStep judged,
            @Nullable SequenceState[] sequenceOfRow,
            List<SequenceState> queue,
            DisplacementPane pane) {
        SequenceRows rows = step.rows();
        int running = step.runningCount() == null ? rows.count() : step.runningCount();
        Resource resource = null;
        long free = 0;
        if (state.maxSequencesCount != null && running >= state.maxSequencesCount) {
            resource = Resource.SEATS;
        } else if (budgetUsed(rows)) {
            resource = Resource.BUDGET;
        } else if (step.kvUsedBlocksCount() != null && step.kvTotalBlocksCount() != null && state.blockSizeTokens > 0) {
            resource = Resource.BLOCKS;
            free = Math.max(0, step.kvTotalBlocksCount() - step.kvUsedBlocksCount()) * state.blockSizeTokens;
        }
        Resource scarce = resource == null ? Resource.SEATS : resource;
        hold(rows, sequenceOfRow, free, scarce);
        displacement.book(resource != null, losers(judged, queue, scarce), pane::lost);
    }

    private boolean budgetUsed(SequenceRows rows) {
        if (state.tokenBudgetTokens == null) {
            return false;
        }
        long scheduled = 0;
        for (int i = 0; i < rows.count(); i++) {
            scheduled += rows.scheduledTokens(i);
        }
        return scheduled >= state.tokenBudgetTokens;
    }

    private void hold(SequenceRows rows, @Nullable SequenceState[] sequenceOfRow, long free, Resource resource) {
        displacement.begin(free);
        for (int i = 0; i < rows.count(); i++) {
            SequenceState sequence = sequenceOfRow[i];
            if (sequence == null || sequence.priority == null) {
                continue;
            }
            displacement.holds(
                    sequence.priority,
                    switch (resource) {
                        case SEATS -> 1;
                        case BLOCKS -> rows.contextTokens(i);
                        case BUDGET -> rows.scheduledTokens(i);
                    });
        }
    }

    private List<Loser> losers(JudgedStep judged, List<SequenceState> waiting, Resource resource) {
        long previous = judged.endNanos - judged.intervalNanos;
        List<Loser> losers = new ArrayList<>();
        for (SequenceState sequence : waiting) {
            Integer priority = sequence.priority;
            if (priority == null || !sequence.lastKnown) {
                continue;
            }
            boolean madeRoom = sequence.preempted && !sequence.preemptedByItself;
            losers.add(new Loser(
                    priority,
                    sequence.name.requestId,
                    resource == Resource.BLOCKS ? neededTokens(sequence) : 1,
                    judged.endNanos - Math.max(previous, sequence.lastNanos),
                    madeRoom ? sequence.preemptedForPriority : null));
        }
        return losers;
    }

    /** What must be free for it to come in: its prompt, or what it lost, one budget at most. */
    private long neededTokens(SequenceState sequence) {
        long tokens = sequence.preempted || sequence.promptTokens == null
                ? Math.max(1, sequence.contextTokens)
                : sequence.promptTokens;
        return state.tokenBudgetTokens == null ? tokens : Math.min(tokens, state.tokenBudgetTokens);
    }
}
