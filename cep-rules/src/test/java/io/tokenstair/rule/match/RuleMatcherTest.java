package io.tokenstair.rule.match;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.MilestoneOrder;
import io.tokenstair.rule.bound.RuleBinder;
import io.tokenstair.rule.bound.RuleOracle;
import io.tokenstair.rule.syntax.RuleParser;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** One milestone after another, the matcher finds what the oracle finds, and says what became of the rest. */
class RuleMatcherTest {
    @Test
    void findsWhatTheOracleFinds() {
        for (int seed = 0; seed < 2_000; seed++) {
            Random random = new Random(seed);
            BoundRule rule = rule(random);
            List<Milestone> milestones = milestones(random);
            List<List<Milestone>> found = new ArrayList<>();
            RuleMatcher matcher = new RuleMatcher(rule);
            RuleProgress progress = new RuleProgress();
            RuleActivity activity = new RuleActivity();
            for (Milestone milestone : milestones) {
                if (matcher.takesPart(milestone)) {
                    matcher.take(progress, milestone, activity, found::add);
                }
            }
            matcher.passTime(progress, Long.MAX_VALUE, activity, found::add);
            List<List<Milestone>> expected = RuleOracle.matches(rule, milestones).stream()
                    .map(RuleOracle.Match::matched)
                    .toList();
            assertThat(found).as("seed " + seed).containsExactlyInAnyOrderElementsOf(expected);
            assertThat(progress.open).isEmpty();
            assertThat(activity.matchedCount + activity.expiredCount + activity.brokenCount)
                    .as("each match begun ends one way")
                    .isEqualTo(activity.reachedCounts.isEmpty() ? 0L : activity.reachedCounts.get(0));
        }
    }

    private static BoundRule rule(Random random) {
        StringBuilder stages = new StringBuilder();
        int count = 1 + random.nextInt(3);
        for (int stage = 0; stage < count; stage++) {
            stages.append("  - {name: s%d, kind: %s%s}%n"
                    .formatted(
                            stage,
                            random.nextBoolean() ? "PREEMPTED" : "RECOMPUTED",
                            stage > 0 && random.nextBoolean() ? ", contiguity: strict" : ""));
        }
        return RuleBinder.bind(RuleParser.parse("random.yaml", """
                id: sample
                version: 1
                description: made from a seed
                severity: info
                cause: PREEMPTION
                key: request
                stages:
                %swithin: %dms
                afterMatch: %s
                finding: It happened.
                """.formatted(
                        stages, 1 + random.nextInt(30), random.nextBoolean() ? "no-skip" : "skip-past-last")));
    }

    private static List<Milestone> milestones(Random random) {
        List<Milestone> milestones = new ArrayList<>();
        long millis = 0;
        MilestoneKind[] kinds = {MilestoneKind.PREEMPTED, MilestoneKind.RECOMPUTED, MilestoneKind.FINISHED};
        for (int i = 0; i < 20; i++) {
            millis += random.nextInt(5);
            milestones.add(new Milestone(
                    kinds[random.nextInt(3)],
                    millis,
                    null,
                    random.nextInt(3),
                    "e",
                    "r",
                    0,
                    0,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    List.of("c/1/" + i)));
        }
        milestones.sort(new MilestoneOrder());
        return milestones;
    }
}
