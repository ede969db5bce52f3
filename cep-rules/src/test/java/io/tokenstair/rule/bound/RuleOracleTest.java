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
