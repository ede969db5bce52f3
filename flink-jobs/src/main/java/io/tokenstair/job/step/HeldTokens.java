package io.tokenstair.job.step;

import io.tokenstair.event.EventHeader;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Tokens of sequences that follow each other step after step ({@link FollowingRows}), not yet in their batches. The row of such a step is
 * the same bytes for all of them: it is in the {@link SharedRows}, and a sequence knows since which step they are its own. A further step makes
 * one more for each without a look at any. Its batch and its memory take them over when anything else happens to it, at the latest when the
 * timeline has nothing more to do: nothing of it is kept in snapshots.
 *
 * <p>Of a sequence with held tokens, what a step changes is as it was before them.
 */
final class HeldTokens {
    /** Most steps that tokens are held. */
    static final int STEPS = 128;

    private final EngineState state;

    /** Steps since all were given their tokens. */
    private int stepCount;

    /** Those with held tokens, and some that had. */
    private SequenceState[] holders = new SequenceState[64];

    private int holderCount;

    /** How many have held tokens. */
    private int holding;

    /** The priority of those, where all have the same. */
    private @Nullable Integer priority;

    private boolean severalPriorities;

    // The last step that made held tokens, and the engine's running totals then.
    private long number;
    private long endNanos;
    private long coarseEpochMillis;
    private long stepSequence;
    private long prefillOnlyNanos;
    private long budgetUsedNanos;
    private long seatLimitNanos;
    private long blocksShortNanos;
    private long kvEvents;

    HeldTokens(EngineState state) {
        this.state = state;
    }

    /** How many sequences have held tokens. */
    int holding() {
        return holding;
    }

    /** How many held tokens a sequence has. */
    int tokens(SequenceState sequence) {
        return sequence.heldSinceStep == 0 ? 0 : (int) (number - sequence.heldSinceStep + 1);
    }

    /** Whether all that have held tokens are of one priority. */
    boolean areOfOnePriority() {
        return !severalPriorities;
    }

    /** That priority; null where it is not known. */
    @Nullable
    Integer priority() {
        return priority;
    }

    /** Whether the last step that made held tokens is the one before the step at hand, whose interval begins here. */
    boolean isBefore(long previousNanos) {
        return number == state.steps && endNanos == previousNanos;
    }

    /** Whether a sequence has the same in all that a judgement reads of plain ones as those with held tokens have. */
    boolean isAlike(SequenceState plain) {
        return plain.lastNanos == endNanos
                && plain.kvEventsAtLast == kvEvents
                && plain.prefillOnlyAtLast == prefillOnlyNanos
                && plain.budgetUsedAtLast == budgetUsedNanos
                && plain.seatLimitAtLast == seatLimitNanos
                && plain.blocksShortAtLast == blocksShortNanos;
    }

    /** Begins a step that makes tokens to be held. Whoever holds some gets one of it. */
    void begin(EventHeader header, long stepEndNanos, long stepCoarseEpochMillis) {
        if (stepCount == STEPS) {
            settleAll();
        }
        stepCount++;
        number = state.steps + 1;
        endNanos = stepEndNanos;
        coarseEpochMillis = stepCoarseEpochMillis;
        stepSequence = header.sequence();
        prefillOnlyNanos = state.prefillOnlyNanos;
        budgetUsedNanos = state.budgetUsedNanos;
        seatLimitNanos = state.seatLimitNanos;
        blocksShortNanos = state.blocksShortNanos;
        kvEvents = state.kvEvents;
    }

    /** Holds the token of this step of a sequence, whose batch is open. False when the batch ends with it. */
    boolean hold(SequenceState sequence, TokenBatch batch) {
        if (sequence.heldSinceStep == 0) {
            if (holderCount == holders.length) {
                holders = Arrays.copyOf(holders, 2 * holderCount);
            }
            holders[holderCount++] = sequence;
            severalPriorities = holding > 0 && (severalPriorities || !Objects.equals(priority, sequence.priority));
            priority = sequence.priority;
            holding++;
            int inGrid = TokenBatch.CAPACITY - 1 - sequence.nextTokenIndex % TokenBatch.CAPACITY;
            sequence.heldSinceStep = number;
            sequence.heldUntilStep = number + Math.min(inGrid, TokenBatch.CAPACITY - 1 - batch.count);
        }
        return number < sequence.heldUntilStep;
    }

    /** The step that makes tokens to be held, one more than its number. */
    long number() {
        return number;
    }

    /** Gives a sequence its held tokens. */
    void settle(SequenceState sequence) {
        int count = tokens(sequence);
        TokenBatch batch = sequence.open;
        if (count == 0 || batch == null) {
            return;
        }
        sequence.heldSinceStep = 0;
        holding--;
        SharedRows rows = Objects.requireNonNull(state.sharedRows, "rows of steps that made held tokens");
        batch.addShared(rows, number - count + 1, count, coarseEpochMillis);
        batch.lastStepSequence = stepSequence;
        sequence.nextTokenIndex += count;
        sequence.contextTokens += count;
        sequence.seenNanos = endNanos;
        sequence.lastNanos = endNanos;
        sequence.ownUntilNanos = endNanos;
        sequence.stepsAtLast = number;
        sequence.sharedInStep = number;
        sequence.prefillOnlyAtLast = prefillOnlyNanos;
        sequence.budgetUsedAtLast = budgetUsedNanos;
        sequence.seatLimitAtLast = seatLimitNanos;
        sequence.blocksShortAtLast = blocksShortNanos;
        sequence.kvEventsAtLast = kvEvents;
    }

    /** Gives all sequences their held tokens. */
    void settleAll() {
        for (int i = 0; i < holderCount; i++) {
            settle(holders[i]);
        }
        Arrays.fill(holders, 0, holderCount, null);
        holderCount = 0;
        stepCount = 0;
    }
}
