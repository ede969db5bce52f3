package io.tokenstair.rule.bound;

import static io.tokenstair.milestone.MilestoneKind.RECOMPUTED;
import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.syntax.RuleParser;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a condition means: values, units, and what is absent. */
class ConditionTest {
    private static final Milestone EARLIER =
            Milestones.milestone(RECOMPUTED, 10, 10_000_000, "it's \"r\"", 40_000_000L);
    private static final Milestone CANDIDATE = Milestones.milestone(RECOMPUTED, 70, 70_000_000, "r-1", 60_000_000L);

    private static final Taken TAKEN = Taken.of(List.of(List.of(EARLIER), List.of()));

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

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "gap > 60ms ; DOES_NOT_HOLD",
                "excess > 0s ; LACKS_VALUE",
                "gap > 1ms && excess > 1s ; LACKS_VALUE",
                "gap > 1s && excess > 1s ; DOES_NOT_HOLD",
                "contextTokens / 0 > 1 ; FAILS",
                "lifetime % (lifetime) > 1 ; FAILS",
                "contextTokens + 9223372036854775807 < 0 ; FAILS",
                "contextTokens * 9223372036854775807 < 0 ; FAILS",
                "int(1e300) > 1 ; FAILS",
                "int(requestId) > 1 ; FAILS",
                "gap + duration('1h') + gap > 0s && contextTokens / lifetime > 1 ; FAILS",
                "gap > 1s && contextTokens / lifetime > 1 ; DOES_NOT_HOLD",
                "gap > 1ms || contextTokens / lifetime > 1 ; HOLDS",
                "lifetime > 0 && contextTokens / lifetime > 1 ; DOES_NOT_HOLD"
            })
    void whatCannotBeComputedIsToldFromWhatIsUnknown(String condition, StageCondition.Judgement expected) {
        assertThat(bound(condition).judge(CANDIDATE, TAKEN)).isEqualTo(expected);
    }

    @Test
    void whyAConditionCannotBeComputedIsTold() {
        assertThat(error("gap > 1ms && contextTokens / lifetime > 1")).isEqualTo("division by zero");
        assertThat(error("contextTokens + 9223372036854775807 < 0")).isEqualTo("a number beyond 64 bits");
        assertThat(error("excess > 1ms")).isNull();
        assertThat(error("gap > 1s")).isNull();
    }

    @Test
    void durationsAtTheirLimitsStopNobody() {
        Milestone longest = Milestones.milestone(RECOMPUTED, 70, Long.MAX_VALUE, "r-1", Long.MAX_VALUE);
        for (String condition : List.of("gap + gap > 0s", "gap - first.gap > 0s", "engineTime + gap > engineTime")) {
            assertThat(bound(condition).judge(longest, TAKEN))
                    .as(condition)
                    .isIn(StageCondition.Judgement.HOLDS, StageCondition.Judgement.FAILS);
        }
    }

    private static @Nullable String error(String condition) {
        return bound(condition).failure(CANDIDATE, TAKEN).orElseThrow().error();
    }

    private static boolean holdsFor(String condition) {
        return bound(condition).holds(CANDIDATE, TAKEN);
    }

    private static StageCondition bound(String condition) {
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
        return Objects.requireNonNull(rule.stages().get(1).alternatives().get(0).condition());
    }
}
