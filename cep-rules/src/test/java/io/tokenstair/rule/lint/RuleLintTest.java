package io.tokenstair.rule.lint;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleBinder;
import io.tokenstair.rule.library.RuleLibrary;
import io.tokenstair.rule.syntax.RuleParser;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each mistake of a rule that can be read is found, with its place, and what is right is left alone. */
class RuleLintTest {
    private static final String EXAMPLES = """
            examples:
              - {name: yes, given: [], expect: match}
              - {name: no, given: [], expect: no-match}
            """;

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "contextTokens / tokenIndex > 3 ; tokenIndex",
                "gap > 1s && stepId % tokenIndex == 0 ; tokenIndex",
                "tokenIndex >= 0 && contextTokens / tokenIndex > 3 ; tokenIndex",
                "contextTokens / (tokenIndex - 1) > 3 ; this difference",
                "contextTokens / 0 > 3 ; this divisor",
                "tokenIndex > 0 || contextTokens / tokenIndex > 3 ; tokenIndex",
                "tokenIndex > 0 ? gap > 1s : contextTokens / tokenIndex > 3 ; tokenIndex",
                "priority > -3 && contextTokens / priority > 3 ; priority"
            })
    void aDivisorThatMayBeZeroIsAWarning(String condition, String divisor) {
        assertThat(problems(rule("  - {name: slow, kind: RECOMPUTED, where: \"" + condition + "\"}\n")))
                .singleElement()
                .asString()
                .startsWith("warning A division by zero where " + divisor + " is 0");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "tokenIndex > 0 && contextTokens / tokenIndex > 3",
                "tokenIndex != 0 && contextTokens / tokenIndex > 3",
                "contextTokens / 2 > 3",
                "contextTokens / (tokenIndex + 1) > 3",
                "tokenIndex == 0 || contextTokens / tokenIndex > 3",
                "tokenIndex == 0 ? gap > 1s : contextTokens / tokenIndex > 3",
                "double(contextTokens) / kvUsedRatio > 3.0"
            })
    void aDivisorThatIsAskedNotToBeZeroIsNone(String condition) {
        assertThat(problems(rule("  - {name: slow, kind: RECOMPUTED, where: \"" + condition + "\"}\n")))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "gap > 5s && gap < 1s ; leaves no value of gap that can fit",
                "gap < 0s ; leaves no value of gap that can fit",
                "kvUsedRatio > 1.0 ; leaves no value of kvUsedRatio that can fit",
                "tokenIndex > 3 && 4 > tokenIndex ; leaves no value of tokenIndex that can fit",
                "tokenIndex == 3 && tokenIndex != 3 ; leaves no value of tokenIndex that can fit",
                "tokenIndex == 2 + 1 && tokenIndex == 4 ; leaves no value of tokenIndex that can fit",
                "!(gap > 1s) && gap >= 2s ; leaves no value of gap that can fit",
                "requestId == 'a' && requestId == 'b' ; leaves no value of requestId that can fit",
                "requestId in ['a', 'b'] && requestId == 'c' ; leaves no value of requestId that can fit",
                "gap > 5s && (gap < 1s || gap < 2s) ; leaves no value of gap that can fit",
                "!has(gap) && gap > 1s ; wants gap both known and unknown",
                "2 > 3 ; is never true",
                "false ; is false"
            })
    void aConditionThatCanNeverHoldIsAnError(String condition, String why) {
        assertThat(problems(rule("  - {name: slow, kind: RECOMPUTED, where: \"" + condition + "\"}\n")))
                .containsExactly(
                        "error This condition can never hold: this part " + why + ", so stage end is never reached");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gap > 1s && gap < 5s",
                "excess < 0s",
                "tokenIndex >= 3 && tokenIndex < 4",
                "gap > 5s || gap < 1s",
                "!has(gap) || gap > 1s",
                "requestId == 'a' || requestId == 'b'",
                "priority < 0",
                "kvUsedRatio > 0.5 && kvUsedRatio < 0.51",
                "gap > 5s ? tokenIndex > 3 : tokenIndex < 2",
                "cause == 'HOST_PAUSE' && cause != 'QUEUE_WAIT'"
            })
    void aConditionThatCanHoldIsNone(String condition) {
        assertThat(problems(rule("  - {name: slow, kind: RECOMPUTED, where: \"" + condition + "\"}\n")))
                .isEmpty();
    }

    @Test
    void aProblemHasItsPlaceTheLineAndACaret() {
        BoundRule rule = rule("""
                  - name: slow
                    kind: RECOMPUTED
                    where: >
                      tokenIndex > 3
                      && tokenIndex < 2
                """);
        assertThat(RuleLint.lint(List.of(rule))).singleElement().satisfies(problem -> {
            assertThat(problem.text()).isEqualTo("""
                    sample.yaml:12:21: This condition can never hold: this part leaves no value of tokenIndex that can fit, so stage end is never reached
                      12 |       && tokenIndex < 2
                         |                     ^""");
            assertThat(problem.line()).isEqualTo(12);
        });
    }

    @Test
    void aFieldThatTheKindDoesNotCarryIsAWarning() {
        assertThat(problems(rule("  - {name: slow, kind: PREEMPTED, where: gap > 1s}\n")))
                .containsExactly(
                        "warning A milestone PREEMPTED carries no gap, so this condition does not hold for any");
        assertThat(problems(rule("  - {name: slow, kind: PREEMPTED, where: gap > 1s || stepId > 3}\n")))
                .isEmpty();
    }

    @Test
    void previousOfTheFirstMilestoneIsAnError() {
        assertThat(problems(rule("  - {name: slow, kind: RECOMPUTED, where: gap > previous.gap}\n")))
                .containsExactly(
                        "error Nothing comes before the first milestone of a match: previous is always unknown here");
    }

    @Test
    void distinctInAFieldOfTheKeyIsAnError() {
        assertThat(problems(rule("  - {name: slow, kind: RECOMPUTED, times: 3, distinct: requestId}\n")))
                .containsExactly(
                        "error All milestones of a match have the same requestId, as the key is request: none differ");
    }

    @Test
    void anAbsentStageThatCannotMatterIsAnError() {
        assertThat(problems(rule("""
                  - {name: slow, kind: RECOMPUTED}
                  - {name: none, kind: PREEMPTED, absent: true}
                  - {name: next, kind: TPOT_STEP_UP, contiguity: strict}
                """)))
                .containsExactly(
                        "error This absent stage cannot matter: nothing at all may come before the strict stage next");
        assertThat(problems(rule("""
                  - {name: slow, kind: RECOMPUTED}
                  - {name: none, kind: PREEMPTED, where: stepId > 3, absent: true}
                  - {name: next, kind: PREEMPTED}
                """)))
                .containsExactly("error This absent stage cannot matter: whatever fits it is taken by stage next");
        assertThat(problems(rule("""
                  - {name: slow, kind: RECOMPUTED}
                  - {name: none, kind: PREEMPTED, where: "gap > 5s && gap < 1s", absent: true}
                """)))
                .containsExactly("warning This condition can never hold: this part leaves no value of gap that can fit,"
                        + " so the absent stage forbids nothing");
    }

    @Test
    void whatALastStageNeverTakesIsAWarning() {
        assertThat(problems(bind("  - {name: slow, kind: RECOMPUTED, times: 2..5}\n", "60s", EXAMPLES)))
                .containsExactly(
                        "warning A last stage takes its smallest number, 2: the match is told then. Write times: 2");
        assertThat(problems(bind("""
                  - {name: slow, kind: RECOMPUTED}
                  - {name: more, kind: RECOMPUTED, optional: true}
                """, "60s", EXAMPLES)))
                .containsExactly(
                        "warning An optional last stage takes nothing: the match is told before. Leave it out");
    }

    @Test
    void aWindowShorterThanTheDetectorsDelayIsAWarning() {
        String stages = "  - {name: slow, kind: RECOMPUTED}\n  - {name: up, kind: TPOT_STEP_UP}\n";
        assertThat(problems(bind(stages, "300ms", EXAMPLES)))
                .containsExactly("warning Within 300ms is short: TPOT_STEP_UP comes 64 tokens after what it tells,"
                        + " 320ms on the fastest engines");
        assertThat(problems(bind(stages, "400ms", EXAMPLES))).isEmpty();
    }

    @Test
    void whatADetectorFindsComesAsLateAsItsCause() {
        String stages = """
                  - {name: slow, kind: RECOMPUTED}
                  - {name: found, kind: DETECTED, where: 'cause == "%s"'}
                """;
        assertThat(problems(bind(stages.formatted("CONTEXT_GROWTH"), "900ms", EXAMPLES)))
                .containsExactly(
                        "warning Within 900ms is short: DETECTED of CONTEXT_GROWTH comes 200 tokens after what it"
                                + " tells, 1000ms on the fastest engines");
        assertThat(problems(bind(stages.formatted("PREEMPTION_LOOP"), "900ms", EXAMPLES)))
                .isEmpty();
    }

    @Test
    void examplesOfBothOutcomesAreWanted() {
        assertThat(problems(bind("  - {name: slow, kind: RECOMPUTED}\n", "60s", "")))
                .containsExactly(
                        "error Cannot accept a rule without an example that expects match and one that expects no-match");
    }

    @Test
    void twoRulesOfOneIdOrOneMeaningAreFound() {
        BoundRule rule = rule("  - {name: slow, kind: RECOMPUTED}\n");
        BoundRule other = RuleBinder.bind(
                RuleParser.parse("other.yaml", rule.source().text().replace("id: sample", "id: other")));
        assertThat(RuleLint.lint(List.of(rule, rule)))
                .extracting(LintProblem::headline)
                .containsExactly("Cannot use the id of another rule: sample is also in sample.yaml");
        assertThat(RuleLint.lint(List.of(rule, other)))
                .extracting(LintProblem::headline)
                .containsExactly("The stages of this rule are those of sample: both find the same");
    }

    @Test
    void theBuiltInRulesHaveNoErrors() {
        assertThat(RuleLint.lint(RuleLibrary.builtIn().rules()))
                .filteredOn(problem -> problem.level() == LintProblem.Level.ERROR)
                .extracting(LintProblem::text)
                .isEmpty();
    }

    private static List<String> problems(BoundRule rule) {
        return RuleLint.lint(List.of(rule)).stream()
                .map(problem -> problem.level().levelName() + " " + problem.headline())
                .toList();
    }

    private static BoundRule rule(String stages) {
        return bind(stages + "  - {name: end, kind: FINISHED}\n", "60s", EXAMPLES);
    }

    private static BoundRule bind(String stages, String within, String examples) {
        return RuleBinder.bind(RuleParser.parse("sample.yaml", """
                id: sample
                version: 1
                description: a sample
                severity: info
                cause: PREEMPTION
                key: request
                stages:
                %swithin: %s
                finding: It happened.
                %s""".formatted(stages, within, examples)));
    }
}
