package io.tokenstair.simulate;

import io.tokenstair.cause.Cause;
import io.tokenstair.event.SequenceRow;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One step that ran, in true time. */
final class StepRun {
    final long stepId;
    final StepWork work;
    final StepCost.Conditions conditions;
    final StepCost cost;
    final StepCost.GraphMode graphMode;
    final List<StepRow> stepRows;
    /** What the log says of each row. */
    final List<SequenceRow> rows = new ArrayList<>();

    final List<Stall> stalls = new ArrayList<>();
    final List<Long> evictedHashes = new ArrayList<>();
    final List<Stored> stored = new ArrayList<>();
    /** What faults cost this step, and the time before it, by cause. */
    final long[] faultNanos = new long[Cause.values().length];

    long scheduleStartNanos;
    long scheduleEndNanos;
    long modelStartNanos;
    long modelEndNanos;
    long updateStartNanos;
    long updateEndNanos;
    int runningCount;
    int waitingCount;
    int kvUsedBlocks;

    /** Something that held the step, when it did. */
    record Stall(FaultKind kind, long fromNanos, long toNanos, int ordinal) {
        long nanos() {
            return toNanos - fromNanos;
        }
    }

    /** Blocks of a sequence that became full. */
    record Stored(List<Long> hashes, @Nullable Long parentHash) {}

    StepRun(long stepId, StepWork work, StepCost.Conditions conditions, List<StepRow> stepRows) {
        this.stepId = stepId;
        this.work = work;
        this.conditions = conditions;
        this.cost = StepCost.of(work, conditions);
        this.graphMode = StepCost.mode(work, conditions);
        this.stepRows = stepRows;
    }

    boolean decodes() {
        return stepRows.stream().anyMatch(StepRow::decodes);
    }

    long tokens(boolean decoded, boolean again) {
        long tokens = 0;
        for (StepRow row : stepRows) {
            if (row.decodes() == decoded && row.recomputes() == again) {
                tokens += row.scheduledTokens();
            }
        }
        return tokens;
    }
}
