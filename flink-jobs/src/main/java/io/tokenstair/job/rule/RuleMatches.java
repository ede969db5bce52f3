package io.tokenstair.job.rule;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.BoundStage;
import io.tokenstair.rule.bound.RuleKey;
import java.io.Serial;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.util.Collector;

/**
 * Runs rules over milestones.
 *
 * <p>Each rule has an operator of its own that sees only the kinds it names (all kinds where a strict stage makes others matter).
 * Its state is what came less than {@code within} ago per key. The matches do not depend on the order of arrival, the parallelism
 * or the execution mode, as long as nothing comes after the watermark has passed it.
 */
public final class RuleMatches {
    private RuleMatches() {}

    /**
     * The matches of all rules, in no order.
     *
     * @param milestones with event time {@code coarseEpochMillis} and watermarks
     * @param rules at least one, no id twice
     */
    public static DataStream<RuleMatch> of(DataStream<Milestone> milestones, List<BoundRule> rules) {
        return rules.stream()
                .map(rule -> of(milestones, rule))
                .reduce(DataStream::union)
                .orElseThrow(() -> new IllegalArgumentException("Cannot match without a rule"));
    }

    private static DataStream<RuleMatch> of(DataStream<Milestone> milestones, BoundRule rule) {
        String name = "rule-" + rule.id();
        KeyedStream<Milestone, String> input = milestones
                .filter(new TakesPart(rule))
                .name(name + "-input")
                .uid(name + "-input")
                .keyBy(new KeyOfRule(rule.key()), Types.STRING);
        return CEP.pattern(input, RulePattern.compile(rule), RulePattern.ORDER)
                .inEventTime()
                .process(new MatchOfRule(rule), TypeInformation.of(RuleMatch.class))
                .name(name)
                .uid(name);
    }

    /** Lets through what can begin, continue or break a match. */
    private static final class TakesPart implements FilterFunction<Milestone> {
        @Serial
        private static final long serialVersionUID = 1L;

        private final RuleKey key;
        private final Set<MilestoneKind> kinds;

        TakesPart(BoundRule rule) {
            key = rule.key();
            kinds = rule.seesEveryKind() ? EnumSet.allOf(MilestoneKind.class) : rule.milestoneKinds();
        }

        @Override
        public boolean filter(Milestone milestone) {
            return kinds.contains(milestone.milestoneKind()) && key.of(milestone) != null;
        }
    }

    private record KeyOfRule(RuleKey key) implements KeySelector<Milestone, String> {
        @Override
        public String getKey(Milestone milestone) {
            return Objects.requireNonNull(key.of(milestone));
        }
    }

    /** Puts the milestones of a match in stage order. */
    private static final class MatchOfRule extends PatternProcessFunction<Milestone, RuleMatch> {
        @Serial
        private static final long serialVersionUID = 1L;

        private final BoundRule rule;

        MatchOfRule(BoundRule rule) {
            this.rule = rule;
        }

        @Override
        public void processMatch(Map<String, List<Milestone>> match, Context context, Collector<RuleMatch> matches) {
            List<Milestone> matched = new ArrayList<>();
            for (BoundStage stage : rule.stages()) {
                matched.addAll(Objects.requireNonNull(match.get(stage.name())));
            }
            String key = Objects.requireNonNull(rule.key().of(matched.get(0)));
            matches.collect(new RuleMatch(rule.id(), rule.revision(), rule.cause(), rule.severity(), key, matched));
        }
    }
}
