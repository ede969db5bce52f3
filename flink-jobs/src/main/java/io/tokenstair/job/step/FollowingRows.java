package io.tokenstair.job.step;

import io.tokenstair.event.Phase;
import io.tokenstair.event.SequenceRows;
import java.util.Arrays;
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

    /** The row that others follow, or -1. */
    int leader = -1;

    /** Whether all rows of the step at hand are of one token each. */
    private boolean onlyDecodes;

    /**
     * Looks at the rows of a step before anything of it has been added to its sequences.
     *
     * @param previousNanos where the interval of the step begins
     * @param held tokens of the steps before; those that can be held no longer are settled
     */
    void find(
            EngineState state,
            SequenceRows rows,
            @Nullable SequenceState[] sequenceOfRow,
            long previousNanos,
            HeldTokens held) {
        if (held.holding() > 0 && !held.isBefore(previousNanos)) {
            held.settleAll();
        }
        int count = rows.count();
        if (following.length < count) {
            following = new boolean[2 * count];
            contextGrew = new boolean[2 * count];
            holds = new boolean[2 * count];
        }
        Arrays.fill(following, false);
        Arrays.fill(holds, false);
        leader = -1;
        int holding = held.holding();
        long seen = state.steps + 1;
        SequenceState first = null;
        boolean heldFollow = false;
        onlyDecodes = rows.onlyDecodes();
        for (int i = 0; i < count; i++) {
            SequenceState sequence = sequenceOfRow[i];
            if (sequence == null) {
                continue;
            }
            if (sequence.seenInStep == seen) {
                // A step that names a sequence twice: each row of it stands for itself.
                held.settleAll();
                Arrays.fill(following, false);
                Arrays.fill(holds, false);
                leader = -1;
                return;
            }
            sequence.seenInStep = seen;
            if (sequence.heldTokens > 0) {
                holding--;
                if (heldFollow
                        && rows.contextTokens(i) == sequence.contextTokens + 1
                        && isOneToken(sequence, rows, i)) {
                    contextGrew[i] = true;
                    following[i] = true;
                    holds[i] = true;
                    continue;
                }
                held.settle(sequence);
            }
            // Whoever waited between its steps may have waited for something of its own.
            if (sequence.ownUntilNanos < previousNanos || !isPlain(state, sequence, rows, i)) {
                continue;
            }
            contextGrew[i] = rows.contextTokens(i) == sequence.contextTokens + 1;
            if (first == null) {
                first = sequence;
                leader = i;
                heldFollow = held.isAlike(first);
            } else {
                following[i] = isAlike(first, sequence);
                holds[i] =
                        following[i] && contextGrew[i] && sequence.sharedInStep == state.steps && sequence.open != null;
            }
        }
        if (holding > 0) {
            // Some are not in this step.
            held.settleAll();
        }
    }

    private boolean isPlain(EngineState state, SequenceState sequence, SequenceRows rows, int row) {
        return sequence.undisturbed
                && sequence.stepsAtLast == state.steps
                && sequence.ownSteps == 0
                && sequence.lastKnown
                && sequence.scheduled
                && !sequence.preempted
                && isOneToken(sequence, rows, row)
                && sequence.nextTokenIndex > 0;
    }

    /** Whether a row is one further token of its sequence and nothing else. */
    private boolean isOneToken(SequenceState sequence, SequenceRows rows, int row) {
        boolean decodes = onlyDecodes
                || (rows.phaseCode(row) == Phase.DECODE.code()
                        && rows.tokenCount(row) == 1
                        && rows.cachedTokens(row) == SequenceRows.ABSENT);
        return decodes
                && (rows.firstTokenIndex(row) == SequenceRows.ABSENT
                        || rows.firstTokenIndex(row) == sequence.nextTokenIndex);
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
