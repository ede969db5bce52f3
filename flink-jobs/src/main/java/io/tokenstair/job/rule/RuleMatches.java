package io.tokenstair.job.rule;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleKey;
import java.io.Serial;
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
import org.apache.flink.cep.PatternStream;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.functions.TimedOutPartialMatchHandler;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Runs rules over milestones.
 *
 * <p>Each rule has an operator of its own that sees only the kinds it names (all kinds where a strict stage makes others matter).
 * Its state is what came less than {@code within} ago per key, and every way a match can go on is one: a rule that is optional or
 * repeated in many ways costs accordingly, as flink-cep bounds nothing. The matches do not depend on the order of arrival, the parallelism
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
        PatternStream<Milestone> found =
                CEP.pattern(input, RulePattern.compile(rule), RulePattern.ORDER).inEventTime();
        if (RulePattern.hasOneWay(rule)) {
            return found.process(new MatchOfRule(rule), TypeInformation.of(RuleMatch.class))
                    .name(name)
                    .uid(name);
        }
        SingleOutputStreamOperator<FoundWay> ways = (rule.mayEndAbsent()
                        ? found.process(new WaysOverTime(rule), TypeInformation.of(FoundWay.class))
                        : found.process(new WaysOfRule(rule), TypeInformation.of(FoundWay.class)))
                .name(name + "-ways")
                .uid(name + "-ways");
        return ways.union(ways.getSideOutput(WaysOverTime.UNBROKEN))
                .keyBy(new KeyOfWay(rule.key()), Types.STRING)
                .process(new ChooseWay(rule), TypeInformation.of(RuleMatch.class))
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

    /** The key of milestones that have one. */
    record KeyOfRule(RuleKey key) implements KeySelector<Milestone, String> {
        @Override
        public String getKey(Milestone milestone) {
            return Objects.requireNonNull(key.of(milestone));
        }
    }

    private record KeyOfWay(RuleKey key) implements KeySelector<FoundWay, String> {
        @Override
        public String getKey(FoundWay way) {
            return Objects.requireNonNull(key.of(way.first()));
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
            FoundWay way = Objects.requireNonNull(RulePattern.way(rule, match));
            String key = Objects.requireNonNull(rule.key().of(way.first()));
            TakenByStage taken = way.taken();
            matches.collect(new RuleMatch(
                    rule.id(), rule.revision(), rule.cause(taken.byStage()), rule.severity(), key, taken));
        }
    }

    /** Every way gone to its end. */
    private static class WaysOfRule extends PatternProcessFunction<Milestone, FoundWay> {
        @Serial
        private static final long serialVersionUID = 1L;

        private final BoundRule rule;

        WaysOfRule(BoundRule rule) {
            this.rule = rule;
        }

        @Override
        public void processMatch(Map<String, List<Milestone>> match, Context context, Collector<FoundWay> ways) {
            FoundWay way = RulePattern.way(rule, match);
            if (way != null) {
                ways.collect(way);
            }
        }

        /** The rule. */
        final BoundRule rule() {
            return rule;
        }
    }

    /** Every way gone to its end, whether something came that must not or nothing until {@code within} was over. */
    private static final class WaysOverTime extends WaysOfRule implements TimedOutPartialMatchHandler<Milestone> {
        @Serial
        private static final long serialVersionUID = 1L;

        static final OutputTag<FoundWay> UNBROKEN = new OutputTag<>("unbroken", TypeInformation.of(FoundWay.class));

        WaysOverTime(BoundRule rule) {
            super(rule);
        }

        @Override
        public void processTimedOutMatch(Map<String, List<Milestone>> match, Context context) {
            FoundWay way = RulePattern.way(rule(), match);
            if (way != null) {
                context.output(UNBROKEN, way);
            }
        }
    }
}
