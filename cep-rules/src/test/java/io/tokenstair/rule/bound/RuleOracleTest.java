package io.tokenstair.rule.bound;

import static io.tokenstair.milestone.MilestoneKind.FINISHED;
import static io.tokenstair.milestone.MilestoneKind.PREEMPTED;
import static io.tokenstair.milestone.MilestoneKind.RECOMPUTED;
import static io.tokenstair.rule.bound.Milestones.milestone;
import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.syntax.RuleParser;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The meaning of a rule, case by case. */
class RuleOracleTest {
    private static final Milestone P1 = milestone(PREEMPTED, 0, 1, "a");
    private static final Milestone P2 = milestone(PREEMPTED, 0, 2, "a");
    private static final Milestone R3 = milestone(RECOMPUTED, 0, 3, "a");
    private static final Milestone R4 = milestone(RECOMPUTED, 20, 4, "a");

    @Test
    void relaxedStageTakesTheFirstLaterMilestoneThatFits() {
        assertThat(matched("relaxed", "no-skip", List.of(P1, milestone(FINISHED, 0, 2, "a"), R3, R4)))
                .containsExactly(List.of(P1, R3));
    }

    @Test
    void strictStageTakesTheVeryNextMilestoneOfAnyKindOrNone() {
        assertThat(matched("strict", "no-skip", List.of(P1, P2, R3))).containsExactly(List.of(P2, R3));
        assertThat(matched("strict", "no-skip", List.of(P1, milestone(FINISHED, 0, 2, "a"), R3)))
                .isEmpty();
    }

    @Test
    void everyMilestoneOfTheFirstStageBeginsAMatch() {
        assertThat(matched("relaxed", "no-skip", List.of(P1, P2, R3, R4)))
                .containsExactly(List.of(P1, R3), List.of(P2, R3));
    }

    @Test
    void skipPastLastKeepsTheMatchThatBeginsFirst() {
        assertThat(matched("relaxed", "skip-past-last", List.of(P1, P2, R3, R4)))
                .containsExactly(List.of(P1, R3));
    }

    @Test
    void matchMustEndBeforeWithinIsOver() {
        assertThat(matched("relaxed", "no-skip", List.of(P1, milestone(RECOMPUTED, 99, 3, "a"))))
                .hasSize(1);
        assertThat(matched("relaxed", "no-skip", List.of(P1, milestone(RECOMPUTED, 100, 3, "a"))))
                .isEmpty();
    }

    @Test
    void orderInsideOneMillisecondIsThatOfTheEnginesClock() {
        assertThat(matched("relaxed", "no-skip", List.of(milestone(RECOMPUTED, 0, 1, "a"), P2)))
                .isEmpty();
    }

    @Test
    void keysNeverMixAndAMilestoneWithoutKeyTakesNoPart() {
        assertThat(matched("relaxed", "no-skip", List.of(P1, milestone(RECOMPUTED, 0, 3, "b"))))
                .isEmpty();
        assertThat(matched(
                        "relaxed",
                        "no-skip",
                        List.of(milestone(PREEMPTED, 0, 1, null), milestone(RECOMPUTED, 0, 3, null))))
                .isEmpty();
    }

    @Test
    void arrivalOrderDoesNotMatter() {
        List<Milestone> milestones = new ArrayList<>(List.of(P1, P2, R3, R4, milestone(FINISHED, 0, 2, "a")));
        List<List<Milestone>> expected = matched("relaxed", "no-skip", milestones);
        for (int seed = 0; seed < 20; seed++) {
            Collections.shuffle(milestones, new Random(seed));
            assertThat(matched("relaxed", "no-skip", milestones)).isEqualTo(expected);
        }
    }

    @Test
    void waysThatEndTogetherTakeMore() {
        assertThat(of("""
                  - {name: first, kind: PREEMPTED, times: 1..3}
                  - {name: second, kind: RECOMPUTED}
                """, List.of(P1, P2, R3, R4)))
                .containsExactly(List.of(List.of(P1, P2), List.of(R3)), List.of(List.of(P2), List.of(R3)));
    }

    @Test
    void aRangeAsLastStageTakesItsSmallestNumber() {
        assertThat(of("""
                  - {name: first, kind: PREEMPTED}
                  - {name: second, kind: RECOMPUTED, times: 1..}
                """, List.of(P1, R3, R4))).containsExactly(List.of(List.of(P1), List.of(R3)));
    }

    @Test
    void whatAnOptionalStageDoesNotTakeIsUnknown() {
        assertThat(of("""
                  - {name: first, kind: PREEMPTED}
                  - {name: maybe, kind: FINISHED, optional: true}
                  - {name: second, kind: RECOMPUTED, where: "!has(maybe.requestId)"}
                """, List.of(P1, milestone(FINISHED, 0, 2, "a"), R3)))
                .containsExactly(List.of(List.of(P1), List.of(), List.of(R3)));
    }

    @Test
    void nothingComesBetweenThatFitsAnAbsentStage() {
        String stages = """
                  - {name: first, kind: PREEMPTED}
                  - {name: gone, kind: FINISHED, absent: true}
                  - {name: second, kind: RECOMPUTED}
                """;
        assertThat(of(stages, List.of(P1, R3))).hasSize(1);
        assertThat(of(stages, List.of(P1, milestone(FINISHED, 0, 2, "a"), R3))).isEmpty();
        assertThat(of(stages, List.of(P1, R3, milestone(FINISHED, 50, 9, "a")))).hasSize(1);
    }

    @Test
    void nothingComesUntilWithinIsOverThatFitsAnAbsentLastStage() {
        String stages = """
                  - {name: first, kind: PREEMPTED}
                  - {name: back, kind: RECOMPUTED, absent: true}
                """;
        assertThat(of(stages, List.of(P1, milestone(RECOMPUTED, 100, 9, "a"))))
                .containsExactly(List.of(List.of(P1), List.of()));
        assertThat(of(stages, List.of(P1, milestone(RECOMPUTED, 99, 9, "a")))).isEmpty();
    }

    @Test
    void strictHoldsBetweenRepetitionsToo() {
        String stages = """
                  - {name: first, kind: PREEMPTED, times: 2, contiguity: strict}
                """;
        assertThat(of(stages, List.of(P1, P2))).hasSize(1);
        assertThat(of(stages, List.of(P1, milestone(FINISHED, 0, 1, "b"), P2))).hasSize(1);
        assertThat(of(stages, List.of(P1, R3, milestone(PREEMPTED, 20, 4, "a"))))
                .isEmpty();
    }

    @Test
    void distinctTakesEachValueOnceAndNoUnknownOne() {
        String stages = """
                  - {name: first, kind: PREEMPTED, times: 2, distinct: gap}
                """;
        Milestone short1 = milestone(PREEMPTED, 0, 1, "a", 5L);
        Milestone short2 = milestone(PREEMPTED, 0, 2, "a", 5L);
        Milestone unknown = milestone(PREEMPTED, 0, 3, "a");
        Milestone longer = milestone(PREEMPTED, 0, 4, "a", 9L);
        assertThat(of(stages, List.of(short1, short2, unknown, longer)))
                .containsExactly(List.of(List.of(short1, longer)), List.of(List.of(short2, longer)));
    }

    @Test
    void previousIsTheMilestoneTakenBefore() {
        String stages = """
                  - {name: first, kind: PREEMPTED, times: 3, where: "!has(previous.gap) || gap > previous.gap"}
                """;
        Milestone one = milestone(PREEMPTED, 0, 1, "a", 1L);
        Milestone two = milestone(PREEMPTED, 0, 2, "a", 3L);
        Milestone less = milestone(PREEMPTED, 0, 3, "a", 2L);
        Milestone more = milestone(PREEMPTED, 0, 4, "a", 4L);
        assertThat(of(stages, List.of(one, two, less, more))).containsExactly(List.of(List.of(one, two, more)));
    }

    @Test
    void anyAlternativeMayFit() {
        assertThat(of("""
                  - name: first
                    anyOf: [{kind: FINISHED}, {kind: PREEMPTED, where: gap > 1ms}]
                """, List.of(P1, milestone(FINISHED, 0, 2, "a"), milestone(PREEMPTED, 0, 3, "a", 2_000_000L))))
                .hasSize(2);
    }

    private static List<List<List<Milestone>>> of(String stages, List<Milestone> milestones) {
        BoundRule rule = RuleBinder.bind(RuleParser.parse("oracle.yaml", """
                id: sample
                version: 1
                description: a sample
                severity: info
                cause: PREEMPTION
                key: request
                stages:
                %swithin: 100ms
                finding: It happened.
                """.formatted(stages)));
        return RuleOracle.matches(rule, milestones).stream()
                .map(RuleOracle.Match::matched)
                .toList();
    }

    private static List<List<Milestone>> matched(String contiguity, String afterMatch, List<Milestone> milestones) {
        BoundRule rule = RuleBinder.bind(RuleParser.parse("oracle.yaml", """
                id: sample
                version: 1
                description: preempted, then computed again
                severity: info
                cause: PREEMPTION
                key: request
                stages:
                  - {name: first, kind: PREEMPTED}
                  - {name: second, kind: RECOMPUTED, contiguity: %s}
                within: 100ms
                afterMatch: %s
                finding: It happened.
                """.formatted(contiguity, afterMatch)));
        return RuleOracle.matches(rule, milestones).stream()
                .map(match -> match.matched().stream().flatMap(List::stream).toList())
                .toList();
    }
}
