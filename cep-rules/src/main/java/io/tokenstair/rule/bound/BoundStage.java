package io.tokenstair.rule.bound;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One step of a bound rule.
 *
 * @param index its place in the rule, from 0
 * @param name what findings call it; unique in the rule
 * @param alternatives what it takes, any of them; at least one
 * @param contiguity how it follows the milestone taken before, also between its own milestones
 * @param timesFrom how many milestones it takes at least, from 1, where it is not left out
 * @param timesTo how many it takes at most
 * @param optional true where it may take none
 * @param absent true where it takes nothing and says what must not come
 * @param distinct the field in which all its milestones must differ; absent where none
 */
public record BoundStage(
        int index,
        String name,
        List<Alternative> alternatives,
        Contiguity contiguity,
        int timesFrom,
        int timesTo,
        boolean optional,
        boolean absent,
        @Nullable RuleField distinct) {

    /** True where it can take more than one milestone. */
    public boolean repeated() {
        return timesTo > 1;
    }

    /** True where one of its alternatives names the kind. */
    public boolean names(MilestoneKind kind) {
        for (Alternative alternative : alternatives) {
            if (alternative.milestoneKind() == kind) {
                return true;
            }
        }
        return false;
    }

    /**
     * True where a milestone fits this stage.
     *
     * @param candidate the milestone
     * @param taken the match so far
     */
    public boolean takes(Milestone candidate, Taken taken) {
        return takes(candidate, taken, Evaluations.UNWATCHED);
    }

    /**
     * True where a milestone fits this stage.
     *
     * @param candidate the milestone
     * @param taken the match so far
     * @param evaluations told of each condition that is evaluated
     */
    public boolean takes(Milestone candidate, Taken taken, Evaluations evaluations) {
        return names(candidate.milestoneKind()) && differs(candidate, taken) && anyHolds(candidate, taken, evaluations);
    }

    /** Is told of conditions that are evaluated. */
    public interface Evaluations {
        /** Nobody is. */
        Evaluations UNWATCHED = new Evaluations() {
            @Override
            public void begins() {}

            @Override
            public void failed() {}
        };

        /** One is evaluated. */
        void begins();

        /** That one could not be computed: {@link StageCondition.Judgement#FAILS}. */
        void failed();
    }

    private boolean anyHolds(Milestone candidate, Taken taken, Evaluations evaluations) {
        for (Alternative alternative : alternatives) {
            if (alternative.milestoneKind() == candidate.milestoneKind()) {
                StageCondition condition = alternative.condition();
                if (condition == null) {
                    return true;
                }
                evaluations.begins();
                StageCondition.Judgement judgement = condition.judge(candidate, taken);
                if (judgement == StageCondition.Judgement.HOLDS) {
                    return true;
                }
                if (judgement == StageCondition.Judgement.FAILS) {
                    evaluations.failed();
                }
            }
        }
        return false;
    }

    /**
     * Why no alternative of the milestone's kind holds: the first of them, its part that does not.
     *
     * @param candidate the milestone
     * @param taken the match so far
     * @return absent where that is not why the stage does not take it
     */
    public Optional<ConditionFailure> failure(Milestone candidate, Taken taken) {
        return alternatives.stream()
                .filter(alternative -> alternative.milestoneKind() == candidate.milestoneKind())
                .map(Alternative::condition)
                .filter(Objects::nonNull)
                .findFirst()
                .flatMap(condition -> condition.failure(candidate, taken));
    }

    /** True where the milestone's value of {@link #distinct} is known and not that of one taken before. */
    public boolean differs(Milestone candidate, Taken taken) {
        if (distinct == null) {
            return true;
        }
        Object value = distinct.value().apply(candidate);
        if (value == null) {
            return false;
        }
        for (Milestone before : taken.of(index)) {
            if (Objects.equals(value, distinct.value().apply(before))) {
                return false;
            }
        }
        return true;
    }

    /**
     * One way to fit a stage.
     *
     * @param milestoneKind the kind it takes
     * @param condition what else must hold; absent where the kind is enough
     */
    public record Alternative(
            MilestoneKind milestoneKind, @Nullable StageCondition condition) {}
}
