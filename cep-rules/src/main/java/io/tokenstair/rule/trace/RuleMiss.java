package io.tokenstair.rule.trace;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.ConditionFailure;
import org.jspecify.annotations.Nullable;

/**
 * A milestone that a stage did not take.
 *
 * @param milestone the milestone
 * @param why why not
 * @param failure the part of the condition that did not hold; absent where that is not why
 */
public record RuleMiss(
        Milestone milestone, Why why, @Nullable ConditionFailure failure) {
    /** Why a stage does not take a milestone. */
    public enum Why {
        /** It is of the wanted kind and in time, and the condition does not hold. */
        CONDITION,
        /** It is of another kind, where a strict stage wants the very next milestone. */
        KIND,
        /** It has the value of a field that was taken before, or none, where all must differ. */
        DISTINCT,
        /** It fits an absent stage: with it the match was over. */
        FORBIDDEN,
        /** It fits, and came when {@code within} was over. */
        TIME
    }

    /** How near it came: the parts of the condition that held before one did not; above all where no condition is why. */
    int nearness() {
        return failure == null ? Integer.MAX_VALUE : failure.heldCount();
    }
}
