package io.tokenstair.job.step;

import io.tokenstair.event.Phase;
import io.tokenstair.event.SequenceRows;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Finds the rows of a step that are judged alike: sequences that made their last token in the step before and make one now, with
 * nothing in between. All that a judgement reads of them is then the same, so the first of them is judged and the others follow.
 * Nearly all tokens of a busy engine do.
 */
final class FollowingRows {
    /** By row: whether it follows the leader. */
    boolean[] following = {};

    /** By row: whether its context is one token longer than in the step before. */
    boolean[] contextGrew = {};

    /** By row: whether its token may be held ({@link HeldTokens}). */
    boolean[] holds = {};

    /** The rows whose sequences have held tokens and get another one: what is said above of them is as in the step before. */
    final BitSet held = new BitSet();

    /** By row of these: the step with which its batch is full. */
    private long[] heldUntilStep = {};

    /** The rows of the step before. */
    private @Nullable SequenceRows before;

    /** The row that others follow, or -1. */
    int leader = -1;

    /** Whether all rows of the step at hand are of one token each. */
    private boolean onlyDecodes;

    /**
     * Looks at the rows of a step before anything of it has been added to its sequences.
     *
     * @param previousNanos where the interval of the step begins
     * @param tokens held ones of the steps before; those that can be held no longer are settled
     */
    void find(
            EngineState state,
            SequenceRows rows,
            @Nullable SequenceState[] sequenceOfRow,
            long previousNanos,
            HeldTokens tokens) {
        if (tokens.holding() > 0 && !tokens.isBefore(previousNanos)) {
            tokens.settleAll();
        }
        int count = rows.count();
        boolean goesOn = before != null && tokens.holding() > 0 && rows.areOneTokenFurther(before);
        before = rows;
        if (goesOn && tokens.holding() < held.cardinality()) {
            clearSettled(sequenceOfRow);
        }
        if (following.length < count) {
            following = new boolean[2 * count];
            contextGrew = new boolean[2 * count];
            holds = new boolean[2 * count];
            heldUntilStep = new long[2 * count];
        }
        if (!goesOn) {
            held.clear();
            Arrays.fill(following, false);
            Arrays.fill(holds, false);
        }
        leader = -1;
        int holding = tokens.holding();
        long seen = state.steps + 1;
        SequenceState first = null;
        boolean heldFollow = false;
        onlyDecodes = rows.onlyDecodes();
        for (int i = 0; i < count; i++) {
            if (goesOn && heldFollow && held.get(i)) {
                int next = held.nextClearBit(i);
                holding -= next - i;
                i = next - 1;
                continue;
            }
            SequenceState sequence = sequenceOfRow[i];
            if (sequence == null) {
                continue;
            }
            if (sequence.seenInStep == seen) {
                // A step that names a sequence twice: each row of it stands for itself.
                tokens.settleAll();
                held.clear();
                Arrays.fill(following, false);
                Arrays.fill(holds, false);
                leader = -1;
                return;
            }
            sequence.seenInStep = seen;
            if (sequence.heldSinceStep > 0) {
                holding--;
                int further = tokens.tokens(sequence) + 1;
                if (heldFollow
                        && rows.contextTokens(i) == sequence.contextTokens + further
                        && isOneToken(sequence.nextTokenIndex + further - 1, rows, i)) {
                    contextGrew[i] = true;
                    following[i] = true;
                    holds[i] = true;
                    hold(i, sequence);
                    continue;
                }
                tokens.settle(sequence);
            }
            held.clear(i);
            following[i] = false;
            holds[i] = false;
            // Whoever waited between its steps may have waited for something of its own.
            if (sequence.ownUntilNanos < previousNanos || !isPlain(state, sequence, rows, i)) {
                continue;
            }
            contextGrew[i] = rows.contextTokens(i) == sequence.contextTokens + 1;
            if (first == null) {
                first = sequence;
                leader = i;
                heldFollow = tokens.isAlike(first);
            } else {
                following[i] = isAlike(first, sequence);
                holds[i] =
                        following[i] && contextGrew[i] && sequence.sharedInStep == state.steps && sequence.open != null;
            }
        }
        if (holding > 0) {
            // Some are not in this step.
            tokens.settleAll();
            held.clear();
        }
    }

    private void clearSettled(@Nullable SequenceState[] sequenceOfRow) {
        for (int i = held.nextSetBit(0); i >= 0; i = held.nextSetBit(i + 1)) {
            SequenceState sequence = sequenceOfRow[i];
            if (sequence == null || sequence.heldSinceStep == 0) {
                held.clear(i);
            }
        }
    }

    /** Says that the sequence of a row has held tokens. */
    void hold(int row, SequenceState sequence) {
        held.set(row);
        heldUntilStep[row] = sequence.heldUntilStep;
    }

    /** Takes out of the held rows those whose batch ends with this step. */
    void leaveOutFull(long step, int count) {
        for (int i = 0; i < count; i++) {
            if (heldUntilStep[i] == step) {
                held.clear(i);
            }
        }
    }

    private boolean isPlain(EngineState state, SequenceState sequence, SequenceRows rows, int row) {
        return sequence.undisturbed
                && sequence.stepsAtLast == state.steps
                && sequence.ownSteps == 0
                && sequence.lastKnown
                && sequence.scheduled
                && !sequence.preempted
                && isOneToken(sequence.nextTokenIndex, rows, row)
                && sequence.nextTokenIndex > 0;
    }

    /** Whether a row is one further token of its sequence and nothing else. */
    private boolean isOneToken(int nextTokenIndex, SequenceRows rows, int row) {
        boolean decodes = onlyDecodes
                || (rows.phaseCode(row) == Phase.DECODE.code()
                        && rows.tokenCount(row) == 1
                        && rows.cachedTokens(row) == SequenceRows.ABSENT);
        return decodes
                && (rows.firstTokenIndex(row) == SequenceRows.ABSENT || rows.firstTokenIndex(row) == nextTokenIndex);
    }

    /** Whether two plain sequences have the same in all that a judgement reads of them. */
    private static boolean isAlike(SequenceState one, SequenceState other) {
        return one.lastNanos == other.lastNanos
                && one.kvEventsAtLast == other.kvEventsAtLast
                && one.prefillOnlyAtLast == other.prefillOnlyAtLast
                && one.budgetUsedAtLast == other.budgetUsedAtLast
                && one.seatLimitAtLast == other.seatLimitAtLast
                && one.blocksShortAtLast == other.blocksShortAtLast;
    }
}
