package io.tokenstair.rule.trace;

import io.tokenstair.milestone.Milestone;
import java.util.List;

/**
 * A match that began, and what became of it.
 *
 * @param taken what it took, in order, one milestone per stage reached
 * @param end how it ended
 */
public record RuleAttempt(List<Milestone> taken, End end) {
    /** How a match that began can end. */
    public enum End {
        /** Every stage was reached, and the match was told. */
        MATCHED,
        /** Every stage was reached, but a match that began earlier had used up one of its milestones. */
        USED_UP,
        /** The next milestone was not the one that a strict stage wants. */
        BROKEN,
        /** {@code within} was over before the next stage was reached. */
        OUT_OF_TIME,
        /** The milestones end before {@code within} is over: it may still match. */
        WAITING
    }

    /** True where this one got further: told before anything else, then more stages. */
    boolean gotFurtherThan(RuleAttempt other) {
        boolean told = end == End.MATCHED;
        boolean otherTold = other.end == End.MATCHED;
        return told != otherTold ? told : taken.size() > other.taken.size();
    }
}
