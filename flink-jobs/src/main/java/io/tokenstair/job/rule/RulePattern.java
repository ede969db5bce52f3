package io.tokenstair.job.rule;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.AfterMatch;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.BoundStage;
import io.tokenstair.rule.bound.Contiguity;
import io.tokenstair.rule.bound.MilestoneOrder;
import io.tokenstair.rule.bound.Taken;
import java.io.Serial;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.cep.EventComparator;
import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.conditions.IterativeCondition;
import org.jspecify.annotations.Nullable;

/**
 * Compiles a bound rule to a flink-cep pattern that means what {@link io.tokenstair.rule.bound.RuleOracle} says.
 *
 * <p>Where a match can go one way only, flink-cep finds the matches itself. Else it finds every way a match can be gone to its end, and
 * {@link ChooseWay} behind it takes the one that is told. flink-cep's own absence is not used, as one way that meets what must not come
 * ends its others too; instead a stage also takes what must not come before it, which ends that way alone.
 */
public final class RulePattern {
    /** The order of milestones of one millisecond, which flink-cep alone would take as they arrive. */
    public static final EventComparator<Milestone> ORDER = new CepOrder();

    /** Takes what must not come up to the end of {@code within}. No stage has this name. */
    private static final String END = "-end";

    private RulePattern() {}

    /**
     * The pattern of a rule. Use it with {@link #ORDER}, over a stream keyed by the rule's key.
     *
     * @param rule the rule; its stage names become the names of the pattern's states
     */
    public static Pattern<Milestone, Milestone> compile(BoundRule rule) {
        boolean skips = hasOneWay(rule) && rule.afterMatch() == AfterMatch.SKIP_PAST_LAST;
        Pattern<Milestone, Milestone> pattern = null;
        for (BoundStage stage : rule.stages()) {
            if (!stage.absent()) {
                pattern = stage(rule, stage, pattern, skips);
            }
        }
        if (pattern == null) {
            throw new IllegalStateException("Cannot compile a rule that takes no milestone: " + rule.id());
        }
        if (rule.mayEndAbsent()) {
            pattern = pattern.followedBy(END)
                    .where(new StageFits(rule, rule.stages().size()));
        }
        return pattern.within(Duration.ofMillis(rule.withinMillis()));
    }

    /** True where a first milestone leaves nothing to choose, so that a match of flink-cep is a match of the rule. */
    public static boolean hasOneWay(BoundRule rule) {
        return rule.stages().stream()
                .noneMatch(stage -> stage.absent() || stage.optional() || stage.timesFrom() != stage.timesTo());
    }

    /**
     * A match or a part of one as flink-cep tells it, put in stage order.
     *
     * @param rule the rule
     * @param match what each state of the pattern took
     * @return a way gone to its end; null where it stopped before, or something came that must not
     */
    static @Nullable FoundWay way(BoundRule rule, Map<String, List<Milestone>> match) {
        List<List<Milestone>> matched = new ArrayList<>();
        rule.stages().forEach(stage -> matched.add(List.copyOf(match.getOrDefault(stage.name(), List.of()))));
        return isGoneToItsEnd(rule, matched) ? new FoundWay(TakenByStage.of(matched), match.containsKey(END)) : null;
    }

    private static boolean isGoneToItsEnd(BoundRule rule, List<List<Milestone>> matched) {
        List<List<Milestone>> before = new ArrayList<>(matched);
        for (int stage = matched.size() - 1; stage >= 0; stage--) {
            BoundStage wanted = rule.stages().get(stage);
            List<Milestone> taken = matched.get(stage);
            before.set(stage, List.of());
            boolean enough = wanted.absent() || wanted.optional() || !taken.isEmpty();
            boolean none = taken.isEmpty();
            if (!enough
                    || (!none && taken.size() < wanted.timesFrom())
                    || (!none && !wanted.takes(taken.get(0), Taken.of(List.copyOf(before))))) {
                return false;
            }
        }
        return true;
    }

    private static Pattern<Milestone, Milestone> stage(
            BoundRule rule, BoundStage stage, @Nullable Pattern<Milestone, Milestone> before, boolean skips) {
        boolean strict = stage.contiguity() == Contiguity.STRICT;
        Pattern<Milestone, Milestone> pattern;
        if (before == null) {
            pattern = Pattern.begin(
                    stage.name(), skips ? AfterMatchSkipStrategy.skipPastLastEvent() : AfterMatchSkipStrategy.noSkip());
        } else {
            pattern = strict ? before.next(stage.name()) : before.followedBy(stage.name());
        }
        pattern = pattern.where(new StageFits(rule, stage.index()));
        if (stage.repeated()) {
            pattern = stage.timesFrom() == stage.timesTo()
                    ? pattern.times(stage.timesTo())
                    : pattern.times(stage.timesFrom(), stage.timesTo());
            pattern = strict ? pattern.consecutive() : pattern;
        }
        return stage.optional() ? pattern.optional() : pattern;
    }

    /** A stage of the rule, or what must not come before its first milestone, with the milestones the match has so far. */
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
            Taken taken = Taken.of(soFar(context));
            return (stage < rule.stages().size() && rule.stages().get(stage).takes(candidate, taken))
                    || isForbidden(candidate, taken);
        }

        private boolean isForbidden(Milestone candidate, Taken taken) {
            int from = stage;
            if (stage < rule.stages().size() && !taken.of(stage).isEmpty()) {
                return false;
            }
            do {
                from--;
            } while (from >= 0 && taken.of(from).isEmpty());
            return from >= 0
                    && rule.absentBetween(from, stage).stream().anyMatch(absent -> absent.takes(candidate, taken));
        }

        private List<List<Milestone>> soFar(Context<Milestone> context) {
            List<List<Milestone>> byStage = new ArrayList<>();
            try {
                for (BoundStage known : rule.stages()) {
                    List<Milestone> taken = new ArrayList<>();
                    if (known.index() <= stage && !known.absent()) {
                        context.getEventsForPattern(known.name()).forEach(taken::add);
                    }
                    byStage.add(taken);
                }
            } catch (Exception e) {
                throw new IllegalStateException("Cannot read the stages of a match of rule " + rule.id(), e);
            }
            return byStage;
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
