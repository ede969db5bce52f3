package io.tokenstair.job.rule;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.AfterMatch;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.BoundStage;
import io.tokenstair.rule.bound.Contiguity;
import io.tokenstair.rule.bound.MilestoneOrder;
import java.io.Serial;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import org.apache.flink.cep.EventComparator;
import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.conditions.IterativeCondition;

/** Compiles a bound rule to a flink-cep pattern that means what {@link io.tokenstair.rule.bound.RuleOracle} says. */
public final class RulePattern {
    /** The order of milestones of one millisecond, which flink-cep alone would take as they arrive. */
    public static final EventComparator<Milestone> ORDER = new CepOrder();

    private RulePattern() {}

    /**
     * The pattern of a rule. Use it with {@link #ORDER}, over a stream keyed by the rule's key.
     *
     * @param rule the rule; its stage names become the names of the pattern's states
     */
    public static Pattern<Milestone, Milestone> compile(BoundRule rule) {
        AfterMatchSkipStrategy afterMatch = rule.afterMatch() == AfterMatch.SKIP_PAST_LAST
                ? AfterMatchSkipStrategy.skipPastLastEvent()
                : AfterMatchSkipStrategy.noSkip();
        List<BoundStage> stages = rule.stages();
        Pattern<Milestone, Milestone> pattern =
                Pattern.<Milestone>begin(stages.get(0).name(), afterMatch).where(new StageFits(rule, 0));
        for (int stage = 1; stage < stages.size(); stage++) {
            BoundStage next = stages.get(stage);
            pattern = (next.contiguity() == Contiguity.STRICT
                            ? pattern.next(next.name())
                            : pattern.followedBy(next.name()))
                    .where(new StageFits(rule, stage));
        }
        return pattern.within(Duration.ofMillis(rule.withinMillis()));
    }

    /** A stage of the rule, with the milestones the match has so far. */
    private static final class StageFits extends IterativeCondition<Milestone> {
        @Serial
        private static final long serialVersionUID = 1L;

        private final BoundRule rule;
        private final int stage;

        StageFits(BoundRule rule, int stage) {
            this.rule = rule;
            this.stage = stage;
        }

        @Override
        public boolean filter(Milestone candidate, Context<Milestone> context) {
            return rule.stages().get(stage).takes(candidate, earlier -> earlier(earlier, context));
        }

        private Milestone earlier(int earlier, Context<Milestone> context) {
            String name = rule.stages().get(earlier).name();
            try {
                Iterator<Milestone> milestones =
                        context.getEventsForPattern(name).iterator();
                return milestones.next();
            } catch (Exception e) {
                throw new IllegalStateException("Cannot read stage " + name + " of a match of rule " + rule.id(), e);
            }
        }
    }

    private static final class CepOrder implements EventComparator<Milestone> {
        @Serial
        private static final long serialVersionUID = 1L;

        private final MilestoneOrder order = new MilestoneOrder();

        @Override
        public int compare(Milestone left, Milestone right) {
            return order.compare(left, right);
        }
    }
}
