package io.tokenstair.job.step;

import io.tokenstair.event.SequenceRows;
import io.tokenstair.job.evidence.Evidence;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A step while it is judged: shared by all its rows, dropped afterwards. */
final class JudgedStep {
    final String eventId;
    final long stepId;
    final long beginNanos;
    final long endNanos;
    final long intervalNanos;
    final long stepNanos;
    final long idleNanos;
    final StepLoad load;
    final int decodeSequences;
    final long prefillTokens;
    final long recomputeTokens;
    final boolean warm;

    /** What the model expects; null while it is cold. */
    @Nullable
    StepExpectation expectation;

    long expectedNanos;
    boolean referenceKnown;
    long referenceNanos;
    long referenceBatch;
    long referenceResident;
    long batchNanos;
    long contextNanos;
    long prefillNanos;
    long recomputeNanos;
    long graphNanos;
    boolean graphFellBack;
    /** It fell back to a mode of which the model has hardly seen a step: what it expects says nothing. */
    boolean graphCold;

    double spreadNanos;
    /** Time that engine core and worker stood ready without a core, together; NaN where no core record covers the step. */
    double coreWaitNanos = Double.NaN;
    /** The same of whoever was on the critical path, interpolated between samples. */
    double criticalWaitNanos = Double.NaN;
    /** Time the engine core neither ran nor was ready. */
    double engineStallNanos;
    /** Of {@link #coreWaitNanos}: what lies in the idle time before the step. */
    double idleCoreWaitNanos;
    /** Of {@link #engineStallNanos}: what lies in the idle time before the step. */
    double idleEngineStallNanos;
    /** The same of the worker, while the model ran. */
    double workerStallNanos;

    /** Of the step: its schedule and the taking in of its output, where the model does not run; 0 where they are not stamped. */
    long hostPhaseNanos;

    /** What records of stalls say of the step; null when they say nothing. */
    @Nullable
    Evidence evidence;

    /** Sequences that computed prompt tokens: usually none. */
    final List<PromptRow> promptRows = new ArrayList<>(2);

    private final SequenceRows rows;
    private final @Nullable SequenceState[] sequenceOfRow;
    private boolean contextsCompared;
    private @Nullable SequenceState largestContext;
    private @Nullable SequenceState secondContext;

    /** Whether it schedules a sequence for the first time, or again after it lost its blocks: few steps do. */
    boolean schedules;

    /** Rows whose token is judged as that of another row: {@link FollowingRows}. */
    boolean[] following = {};

    /** Rows of sequences with held tokens, of which a step changes nothing else: {@link HeldTokens}. */
    BitSet held = new BitSet(0);

    /** Whether the token of a row is judged as that of another row. */
    boolean follows(int row) {
        return row < following.length && following[row];
    }

    /** The sequence with the largest context; null where no row has a name. */
    @Nullable
    SequenceState largestContext() {
        compareContexts();
        return largestContext;
    }

    /** The one with the largest context beside that; null where there is none. */
    @Nullable
    SequenceState secondContext() {
        compareContexts();
        return secondContext;
    }

    private void compareContexts() {
        if (contextsCompared) {
            return;
        }
        contextsCompared = true;
        int most = 0;
        int second = 0;
        for (int i = 0; i < rows.count(); i++) {
            SequenceState sequence = sequenceOfRow[i];
            int context = rows.contextTokens(i);
            if (sequence == null) {
                continue;
            }
            if (largestContext == null || context > most) {
                secondContext = largestContext;
                second = most;
                largestContext = sequence;
                most = context;
            } else if (secondContext == null || context > second) {
                secondContext = sequence;
                second = context;
            }
        }
    }

    /** A sequence that computed new or lost prompt tokens in the step. */
    record PromptRow(SequenceState sequence, int tokens, long nanos, boolean recompute) {}

    /**
     * A step that is judged.
     *
     * @param sequenceOfRow the sequence of each of its rows, as long as it is judged
     */
    JudgedStep(
            SequenceRows rows,
            @Nullable SequenceState[] sequenceOfRow,
            String eventId,
            long stepId,
            long beginNanos,
            long endNanos,
            long intervalNanos,
            long stepNanos,
            long idleNanos,
            StepLoad load,
            int decodeSequences,
            long prefillTokens,
            long recomputeTokens,
            boolean warm) {
        this.rows = rows;
        this.sequenceOfRow = sequenceOfRow;
        this.eventId = eventId;
        this.stepId = stepId;
        this.beginNanos = beginNanos;
        this.endNanos = endNanos;
        this.intervalNanos = intervalNanos;
        this.stepNanos = stepNanos;
        this.idleNanos = idleNanos;
        this.load = load;
        this.decodeSequences = decodeSequences;
        this.prefillTokens = prefillTokens;
        this.recomputeTokens = recomputeTokens;
        this.warm = warm;
    }
}
