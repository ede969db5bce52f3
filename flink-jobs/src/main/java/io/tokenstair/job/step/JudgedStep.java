package io.tokenstair.job.step;

import io.tokenstair.job.evidence.Evidence;
import java.util.ArrayList;
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

    @Nullable
    SequenceState largestContext;

    @Nullable
    SequenceState secondContext;

    /** Whether it schedules a sequence for the first time, or again after it lost its blocks: few steps do. */
    boolean schedules;

    /** Rows whose token is judged as that of another row: {@link FollowingRows}. */
    boolean[] following = {};

    /** Whether the token of a row is judged as that of another row. */
    boolean follows(int row) {
        return row < following.length && following[row];
    }

    /** A sequence that computed new or lost prompt tokens in the step. */
    record PromptRow(SequenceState sequence, int tokens, long nanos, boolean recompute) {}

    JudgedStep(
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
