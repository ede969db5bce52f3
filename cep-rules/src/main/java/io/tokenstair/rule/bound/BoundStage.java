package io.tokenstair.rule.bound;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * One step of a bound rule.
 *
 * @param name what findings call it; unique in the rule
 * @param milestoneKind the kind it takes
 * @param condition what else must hold; absent where the kind is enough
 * @param contiguity how it follows the stage before; of no effect in the first stage
 */
public record BoundStage(
        String name, MilestoneKind milestoneKind, @Nullable StageCondition condition, Contiguity contiguity) {

    /**
     * True where a milestone fits this stage.
     *
     * @param candidate the milestone
     * @param earlier the milestone of an earlier stage of the match so far, by its index
     */
    public boolean takes(Milestone candidate, IntFunction<Milestone> earlier) {
        return candidate.milestoneKind() == milestoneKind && (condition == null || condition.holds(candidate, earlier));
    }
}
