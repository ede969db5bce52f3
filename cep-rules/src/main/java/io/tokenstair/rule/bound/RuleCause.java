package io.tokenstair.rule.bound;

import io.tokenstair.cause.Cause;
import io.tokenstair.milestone.Milestone;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The cause of a rule's findings: always the same one, or the one that a milestone of the match names.
 *
 * @param fixed the cause of all its findings; absent where a milestone names it
 * @param stage index of the stage whose last milestone names it; it always takes one, and only milestones with a cause
 * @param text as the rule has it
 */
record RuleCause(@Nullable Cause fixed, int stage, String text) {
    /**
     * The cause of a match.
     *
     * @param matched the milestones each stage took, in stage order
     */
    Cause of(List<List<Milestone>> matched) {
        if (fixed != null) {
            return fixed;
        }
        List<Milestone> taken = matched.get(stage);
        Cause named = taken.isEmpty() ? null : taken.get(taken.size() - 1).cause();
        if (named == null) {
            throw new IllegalStateException("Cannot tell the cause of a match whose stage names none: " + text);
        }
        return named;
    }
}
