package io.tokenstair.bench.accuracy;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.FieldCatalog;
import io.tokenstair.rule.bound.RuleField;
import io.tokenstair.rule.library.RuleLibrary;
import io.tokenstair.rule.lint.MilestoneTraits;
import io.tokenstair.simulate.Scenario;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** No wrong cell in the scenarios that contain between them what each rule is about; docs/rules-matrix.md has all of them. */
class RuleMatrixTest {
    /** Not a seed that anything was chosen on, and none of the page. */
    private static final long SEED = 4_101;

    @Test
    void healthyRunsMakeAMilestoneInAThousandTokensAtMostAndNoRuleMatches() {
        RuleMatrix.Run run = RuleMatrix.run(Scenario.HEALTHY, SEED);

        assertThat(run.tokens()).isGreaterThan(10_000);
        assertThat(1_000L * run.milestones().size()).isLessThanOrEqualTo(run.tokens());
        assertThat(run.matches()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = Scenario.class,
            names = {
                "CONTEXT_STAIRCASE",
                "PREEMPTION_LOOP",
                "OVERTAKEN",
                "PRIORITY_INVERSION",
                "PREFIX_COLLAPSE",
                "DECODE_STARVATION",
                "BUDGET_STARVATION",
                "SEAT_LIMIT",
                "GRAPH_FALLBACK",
                "JIT",
                "HOST_PAUSE",
                "ALLOC_STALL",
                "DRIVER_ERROR",
                "THERMAL",
                "REMOTE_KV",
                "OUTPUT_STALL",
                "GATEWAY_BUFFERING",
                "CLIENT_SLOW",
                "CLIENT_ABORT"
            })
    void aRuleMatchesWhereTheTruthHasWhatItIsAboutAndNowhereElse(Scenario scenario) {
        RuleMatrix.Run run = RuleMatrix.run(scenario, SEED);

        Map<String, String> wrong = new TreeMap<>();
        for (String rule : RuleTruth.OF_RULE.keySet()) {
            if (run.verdict(rule).isWrong()) {
                wrong.put(rule, run.verdict(rule) + " " + run.contained().get(rule));
            }
        }
        assertThat(wrong).isEmpty();
        Set<String> carried = new TreeSet<>();
        for (Milestone milestone : run.milestones()) {
            for (String name : MilestoneTraits.missing(milestone.milestoneKind())) {
                RuleField field = FieldCatalog.find(name);
                if (field == null || field.value().apply(milestone) != null) {
                    carried.add(milestone.milestoneKind() + " carries " + name);
                }
            }
        }
        assertThat(carried).isEmpty();
    }

    @Test
    void everyRuleHasItsTruth() {
        assertThat(RuleLibrary.builtIn().rules())
                .extracting(rule -> rule.id())
                .containsExactlyElementsOf(RuleTruth.OF_RULE.keySet());
    }
}
