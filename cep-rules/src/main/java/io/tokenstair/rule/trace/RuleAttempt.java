package io.tokenstair.rule.trace;

import io.tokenstair.milestone.Milestone;
import java.util.List;

/**
 * A match that began, and what became of it.
 *
 * @param taken what each stage took on the way that got furthest, in stage order
 * @param end how it ended
 */
public record RuleAttempt(List<List<Milestone>> taken, End end) {
    /** How a match that began can end. */
    public enum End {
        /** It came to its end, and the match was told. */
        MATCHED,
        /** It came to its end, but a match that began earlier had used up one of its milestones. */
        USED_UP,
        /** The next milestone was not the one that a strict stage wants, or one came that an absent stage forbids. */
        BROKEN,
        /** {@code within} was over before the next stage was reached. */
        OUT_OF_TIME,
        /** The milestones end before {@code within} is over: it may still match. */
        WAITING
    }

    /** What it took, in order. */
    public List<Milestone> milestones() {
        return taken.stream().flatMap(List::stream).toList();
    }

    /** How many stages were reached: the last that took a milestone and all before it. */
    public int stagesReached() {
        int reached = taken.size();
        while (reached > 0 && taken.get(reached - 1).isEmpty()) {
            reached--;
        }
        return reached;
    }

    /** True where this one got further: told before anything else, then more stages, then more milestones. */
    boolean gotFurtherThan(RuleAttempt other) {
        boolean told = end == End.MATCHED;
        boolean otherTold = other.end == End.MATCHED;
        if (told != otherTold) {
            return told;
        }
        int more = stagesReached() - other.stagesReached();
        return more != 0 ? more > 0 : milestones().size() > other.milestones().size();
    }
}
