package io.tokenstair.rule.bound;

import static io.tokenstair.milestone.MilestoneKind.RECOMPUTED;
import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.syntax.RuleParser;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a condition means: values, units, and what is absent. */
class ConditionTest {
    private static final Milestone EARLIER =
            Milestones.milestone(RECOMPUTED, 10, 10_000_000, "it's \"r\"", 40_000_000L);
    private static final Milestone CANDIDATE = Milestones.milestone(RECOMPUTED, 70, 70_000_000, "r-1", 60_000_000L);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gap > 50ms",
                "gap == 60ms && gap == 0.06s && gap == 60000us && gap == 60000000ns",
                "gap - first.gap == 20ms",
                "gap < 1m && gap < 1h",
                "second.gap == gap",
                "engineTime - first.engineTime == 60ms",
                "engineTime - 60ms == first.engineTime && first.engineTime + 60ms == engineTime",
                "contextTokens / 2 + 1024 == 2048",
                "kvUsedRatio >= 0.75 && kvUsedBlocks < kvTotalBlocks",
                "requestId.startsWith('r-') && first.requestId == \"it's \\\"r\\\"\"",
                "requestId in ['r-1', 'r-2']",
                "requestId.matches('r-[0-9]+')",
                "requestId != '50ms' // 60msec is no unit in a remark",
                "has(gap) && has(first.gap) && !has(excess)",
                "excess > 1s || gap > 1ms",
                "!(gap > 1s)",
                "gap > 1s ? false : true",
                "lifetime == 0",
                "0x1F == 31 || 1e3 == 1000.0 || true"
            })
    void holds(String condition) {
        assertThat(holdsFor(condition)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gap > 60ms",
                "excess > 0s",
                "!(excess > 0s)",
                "excess == excess",
                "tokenIndex == first.tokenIndex",
                "contextTokens / 0 > 1",
                "contextTokens + 9223372036854775807 < 0",
                "gap > 1ms && excess > 1s"
            })
    void doesNotHoldWhereFalseOrUndecidable(String condition) {
        assertThat(holdsFor(condition)).isFalse();
    }

    private static boolean holdsFor(String condition) {
        BoundRule rule = RuleBinder.bind(RuleParser.parse("condition.yaml", """
                id: sample
                version: 1
                description: one condition
                severity: info
                cause: KV_PRESSURE
                key: engine
                stages:
                  - {name: first, kind: RECOMPUTED}
                  - name: second
                    kind: RECOMPUTED
                    where: |
                      %s
                within: 60s
                finding: It happened.
                """.formatted(condition)));
        StageCondition bound = Objects.requireNonNull(
                rule.stages().get(1).alternatives().get(0).condition());
        return bound.holds(CANDIDATE, Taken.of(List.of(List.of(EARLIER), List.of())));
    }
}
