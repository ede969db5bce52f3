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

    /** The row that others follow, or -1. */
    int leader = -1;

    /**
     * Looks at the rows of a step before anything of it has been added to its sequences.
     *
     * @param previousNanos where the interval of the step begins
     */
    void find(EngineState state, SequenceRows rows, @Nullable SequenceState[] sequenceOfRow, long previousNanos) {
        int count = rows.count();
        if (following.length < count) {
            following = new boolean[2 * count];
            contextGrew = new boolean[2 * count];
        }
        Arrays.fill(following, false);
        leader = -1;
        long seen = state.steps + 1;
        SequenceState first = null;
        for (int i = 0; i < count; i++) {
            SequenceState sequence = sequenceOfRow[i];
            if (sequence == null) {
                continue;
            }
            if (sequence.seenInStep == seen) {
                // A step that names a sequence twice: each row of it stands for itself.
                Arrays.fill(following, false);
                leader = -1;
                return;
            }
            sequence.seenInStep = seen;
            // Whoever waited between its steps may have waited for something of its own.
            if (sequence.ownUntilNanos < previousNanos || !isPlain(state, sequence, rows, i)) {
                continue;
            }
            contextGrew[i] = rows.contextTokens(i) == sequence.contextTokens + 1;
            if (first == null) {
                first = sequence;
                leader = i;
            } else {
                following[i] = isAlike(first, sequence);
            }
        }
    }

    private static boolean isPlain(EngineState state, SequenceState sequence, SequenceRows rows, int row) {
        return sequence.undisturbed
                && sequence.stepsAtLast == state.steps
                && sequence.ownSteps == 0
                && sequence.lastKnown
                && sequence.scheduled
                && !sequence.preempted
                && rows.phaseCode(row) == Phase.DECODE.code()
                && rows.tokenCount(row) == 1
                && rows.cachedTokens(row) == SequenceRows.ABSENT
                && (rows.firstTokenIndex(row) == SequenceRows.ABSENT
                        || rows.firstTokenIndex(row) == sequence.nextTokenIndex)
                && sequence.nextTokenIndex > 0;
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
