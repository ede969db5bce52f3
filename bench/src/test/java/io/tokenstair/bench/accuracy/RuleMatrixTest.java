package io.tokenstair.bench.accuracy;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.rule.library.RuleLibrary;
import io.tokenstair.simulate.Scenario;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The rules against a handful of scenarios; docs/rules-matrix.md has all of them. */
class RuleMatrixTest {
    @Test
    void healthyRunsMakeAMilestoneInAThousandTokensAtMostAndNoRuleMatches() {
        RuleMatrix.Run run = RuleMatrix.run(Scenario.HEALTHY, 1_001);

        assertThat(run.tokens()).isGreaterThan(10_000);
        assertThat(1_000L * run.milestones().size()).isLessThanOrEqualTo(run.tokens());
        assertThat(run.matches()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = Scenario.class,
            names = {"OVERTAKEN", "BUDGET_STARVATION", "REMOTE_KV", "GRAPH_FALLBACK", "OUTPUT_STALL", "DRIVER_ERROR"})
    void rulesMatchWhereTheTruthHasTheirCauseAndNowhereElse(Scenario scenario) {
        RuleMatrix.Run run = RuleMatrix.run(scenario, 1_001);

        RuleMatrix.MADE_FOR.forEach((rule, scenarios) -> {
            if (scenarios.contains(scenario)) {
                assertThat(run.matches()).as("made for %s", rule).containsKey(rule);
            }
        });
        assertThat(run.matches().keySet())
                .allSatisfy(rule -> assertThat(run.trueTokens(rule)).as(rule).isPositive());
    }

    @Test
    void everyRuleHasItsScenariosAndCauses() {
        Set<String> rules = RuleMatrix.MADE_FOR.keySet();
        assertThat(RuleLibrary.builtIn().rules()).extracting(rule -> rule.id()).containsExactlyElementsOf(rules);
        assertThat(RuleMatrix.TRUE_CAUSES.keySet()).isEqualTo(rules);
    }
}
