package io.tokenstair.rule.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.ConditionFailure;
import io.tokenstair.rule.bound.RuleBinder;
import io.tokenstair.rule.syntax.RuleParser;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** A trace tells how far a rule got and what the next stage lacked. */
class RuleTraceTest {
    private static final String BACK = "{kind: RECOMPUTED, at: %s, requestId: a, gap: %s, stepId: 9}";
    private static final String PREEMPTED = "{kind: PREEMPTED, at: %s, requestId: a, stepId: 4}";

    @Test
    void aMatchIsToldWithWhatItTook() {
        RuleTrace trace = trace("relaxed", PREEMPTED.formatted("0ms"), BACK.formatted("700ms", "600ms"));

        assertThat(trace.matched()).isTrue();
        assertThat(trace.stagesReached()).isEqualTo(2);
        assertThat(trace.nextStage()).isNull();
        assertThat(trace.misses()).isEmpty();
        assertThat(taken(trace)).extracting(Milestone::stepId).containsExactly(4L, 9L);
    }

    @Test
    void thePartOfTheConditionThatFailedIsNamedWithItsValues() {
        RuleTrace trace = trace("relaxed", PREEMPTED.formatted("0ms"), BACK.formatted("40ms", "40ms"));

        assertThat(trace.matched()).isFalse();
        assertThat(Objects.requireNonNull(trace.best()).end()).isEqualTo(RuleAttempt.End.OUT_OF_TIME);
        assertThat(Objects.requireNonNull(trace.nextStage()).name()).isEqualTo("back");
        assertThat(trace.misses()).singleElement().satisfies(miss -> {
            assertThat(miss.why()).isEqualTo(RuleMiss.Why.CONDITION);
            ConditionFailure failure = Objects.requireNonNull(miss.failure());
            assertThat(failure.text()).isEqualTo("gap > 500ms");
            assertThat(failure.valuesText()).isEqualTo("gap = 40.0 ms");
            assertThat(failure.missesValue()).isFalse();
        });
    }

    @Test
    void anAbsentValueIsUnknown() {
        RuleTrace trace =
                trace("relaxed", PREEMPTED.formatted("0ms"), "{kind: RECOMPUTED, at: 40ms, requestId: a, stepId: 9}");

        ConditionFailure failure = Objects.requireNonNull(trace.misses().get(0).failure());
        assertThat(failure.text()).isEqualTo("gap > 500ms");
        assertThat(failure.valuesText()).isEqualTo("gap = unknown");
        assertThat(failure.missesValue()).isTrue();
    }

    @Test
    void theNearestMissComesFirst() {
        RuleTrace trace = trace(
                "relaxed",
                PREEMPTED.formatted("0ms"),
                "{kind: RECOMPUTED, at: 10ms, requestId: a, sequenceIndex: 1, gap: 600ms}",
                BACK.formatted("40ms", "40ms"));

        assertThat(trace.misses())
                .extracting(miss -> Objects.requireNonNull(miss.failure()).text())
                .containsExactly("gap > 500ms", "sequenceIndex == preempted.sequenceIndex");
        assertThat(trace.missedCount()).isEqualTo(2);
    }

    @Test
    void aFittingMilestoneAfterTheTimeIsSaidToBeLate() {
        RuleTrace trace = trace("relaxed", PREEMPTED.formatted("0ms"), BACK.formatted("60s", "600ms"));

        assertThat(Objects.requireNonNull(trace.best()).end()).isEqualTo(RuleAttempt.End.OUT_OF_TIME);
        assertThat(trace.misses()).extracting(RuleMiss::why).containsExactly(RuleMiss.Why.TIME);
    }

    @Test
    void whatBreaksAStrictStageIsNamed() {
        RuleTrace trace = trace(
                "strict",
                PREEMPTED.formatted("0ms"),
                "{kind: FINISHED, at: 10ms, requestId: a}",
                BACK.formatted("700ms", "600ms"));

        assertThat(Objects.requireNonNull(trace.best()).end()).isEqualTo(RuleAttempt.End.BROKEN);
        assertThat(trace.misses()).extracting(RuleMiss::why).containsExactly(RuleMiss.Why.KIND);
    }

    @Test
    void withoutAnyMilestoneOfTheFirstKindNothingBegins() {
        RuleTrace trace = trace("relaxed", BACK.formatted("700ms", "600ms"));

        assertThat(trace.best()).isNull();
        assertThat(Objects.requireNonNull(trace.nextStage()).name()).isEqualTo("preempted");
        assertThat(trace.misses()).isEmpty();
    }

    @Test
    void theMatchThatGotFurthestIsTheBest() {
        RuleTrace trace = trace(
                "relaxed", PREEMPTED.formatted("0ms"), PREEMPTED.formatted("70s"), BACK.formatted("71s", "600ms"));

        assertThat(trace.matched()).isTrue();
        assertThat(taken(trace).get(0).coarseEpochMillis()).isEqualTo(70_000);
        assertThat(trace.activity().expiredCount).isEqualTo(1);
    }

    @Test
    void aMatchWhoseTimeIsNotOverIsWaiting() {
        BoundRule rule = rule("relaxed", PREEMPTED.formatted("0ms"));
        RuleTrace trace = RuleTrace.of(rule, rule.examples().get(0).given(), 10, taken -> true);

        assertThat(Objects.requireNonNull(trace.best()).end()).isEqualTo(RuleAttempt.End.WAITING);
    }

    private static List<Milestone> taken(RuleTrace trace) {
        return Objects.requireNonNull(trace.best()).milestones();
    }

    private static RuleTrace trace(String contiguity, String... rows) {
        BoundRule rule = rule(contiguity, rows);
        return RuleTrace.of(rule, rule.examples().get(0).given());
    }

    private static BoundRule rule(String contiguity, String... rows) {
        StringBuilder given = new StringBuilder();
        for (String row : rows) {
            given.append("      - ").append(row).append('\n');
        }
        return RuleBinder.bind(RuleParser.parse("sample.yaml", """
                id: sample
                version: 1
                description: a sample
                severity: info
                cause: PREEMPTION
                key: request
                stages:
                  - {name: preempted, kind: PREEMPTED}
                  - name: back
                    kind: RECOMPUTED
                    contiguity: %s
                    where: >
                      sequenceIndex == preempted.sequenceIndex
                      && (gap > 500ms)
                within: 60s
                finding: It happened.
                examples:
                  - name: one
                    given:
                %s    expect: match
                """.formatted(contiguity, given)));
    }
}
