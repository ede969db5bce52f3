package io.tokenstair.rule.match;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleBinder;
import io.tokenstair.rule.syntax.RuleParser;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a rule that would explode may cost, and that what the caps cut is counted. */
class RuleCapsTest {
    private final RuleProgress progress = new RuleProgress();
    private final RuleActivity activity = new RuleActivity();
    private final List<List<List<Milestone>>> told = new ArrayList<>();
    private long giveMillis;

    @Test
    void noMoreMatchesAreOpenThanTheCapAllows() {
        RuleMatcher matcher = matcher("", """
                  - {name: first, kind: PREEMPTED}
                  - {name: last, kind: FINISHED}
                """);
        give(matcher, MilestoneKind.PREEMPTED, 1_000);
        assertThat(progress.open).hasSize(256);
        assertThat(activity.reachedCounts).containsExactly(256L);
        assertThat(activity.cutCount).isEqualTo(744);
        give(matcher, MilestoneKind.FINISHED, 1);
        assertThat(told).hasSize(256);
        assertThat(progress.open).isEmpty();
    }

    @Test
    void whatCannotBeComputedIsCountedAndIsNoMatch() {
        RuleMatcher matcher = matcher("caps: {evaluations: 10}\n", """
                  - {name: first, kind: PREEMPTED, where: stepId / lifetime > 3}
                """);
        give(matcher, MilestoneKind.PREEMPTED, 25);
        assertThat(activity.evaluationsCount).isEqualTo(25);
        assertThat(activity.failedEvaluationsCount).isEqualTo(25);
        assertThat(told).isEmpty();

        RuleMatcher later = matcher("caps: {evaluations: 10}\n", """
                  - {name: first, kind: PREEMPTED}
                  - {name: last, kind: FINISHED, where: stepId / lifetime > 3}
                """);
        progress.open.clear();
        progress.waysCount = 0;
        activity.failedEvaluationsCount = 0;
        give(later, MilestoneKind.PREEMPTED, 25);
        give(later, MilestoneKind.FINISHED, 1);
        assertThat(activity.failedEvaluationsCount)
                .as("what the cap lets be asked")
                .isEqualTo(10);
    }

    @Test
    void aRuleMayLowerItsCap() {
        RuleMatcher matcher = matcher("caps: {openMatches: 3}\n", """
                  - {name: first, kind: PREEMPTED}
                  - {name: last, kind: FINISHED}
                """);
        give(matcher, MilestoneKind.PREEMPTED, 10);
        assertThat(progress.open).hasSize(3);
        assertThat(activity.cutCount).isEqualTo(7);
    }

    @Test
    void matchesThatAMilestoneCannotAskAreGivenUpTheOldestAskedFirst() {
        RuleMatcher matcher = matcher("caps: {evaluations: 10}\n", """
                  - {name: first, kind: PREEMPTED}
                  - {name: last, kind: FINISHED, where: stepId > first.stepId && stepId > 1000}
                """);
        give(matcher, MilestoneKind.PREEMPTED, 25);
        give(matcher, MilestoneKind.FINISHED, 1);
        assertThat(activity.evaluationsCount).isEqualTo(10);
        assertThat(activity.givenUpCount).isEqualTo(15);
        assertThat(progress.open).hasSize(10).allMatch(match -> match.fromPlace < 10);
    }

    @Test
    void oneMilestoneNeverCostsMoreThanTheCap() {
        RuleMatcher matcher = matcher("", """
                  - {name: first, kind: PREEMPTED, times: 1.., where: stepId >= 0}
                  - {name: middle, kind: PREEMPTED, optional: true, where: stepId > first.stepId}
                  - {name: last, kind: FINISHED, where: stepId > first.stepId + middle.stepId}
                """);
        for (int i = 0; i < 400; i++) {
            long before = activity.evaluationsCount;
            give(matcher, MilestoneKind.PREEMPTED, 1);
            // The first stage is asked whatever the others cost.
            assertThat(activity.evaluationsCount - before).isLessThanOrEqualTo(1024 + 1);
            assertThat(progress.waysCount).isLessThanOrEqualTo(RuleMatcher.MAX_WAYS);
            assertThat(progress.open).allMatch(match -> match.ways.size() <= RuleMatcher.MAX_WAYS_OF_MATCH);
        }
        assertThat(activity.cutWaysCount).isPositive();
        long begun = activity.reachedCounts.get(0);
        long ended = activity.matchedCount + activity.expiredCount + activity.brokenCount + activity.givenUpCount;
        assertThat(begun).isEqualTo(ended + progress.open.size());
        assertThat(begun + activity.cutCount).isEqualTo(400);
    }

    @Test
    void waysThatNothingTellsApartAreOne() {
        RuleMatcher matcher = matcher("", """
                  - {name: first, kind: PREEMPTED, times: 3..}
                  - {name: last, kind: FINISHED}
                """);
        give(matcher, MilestoneKind.PREEMPTED, 60);
        assertThat(progress.open).hasSize(60).allMatch(match -> match.ways.size() == 1);
    }

    @Test
    void oneExplosiveRuleDoesNotTouchAnother() {
        RuleMatcher explosive = matcher("caps: {evaluations: 5}\n", """
                  - {name: first, kind: PREEMPTED}
                  - {name: last, kind: FINISHED, where: stepId > first.stepId}
                """);
        RuleMatcher quiet = matcher("", """
                  - {name: only, kind: FINISHED, where: stepId > 3}
                """);
        RuleProgress ofQuiet = new RuleProgress();
        RuleActivity activityOfQuiet = new RuleActivity();
        give(explosive, MilestoneKind.PREEMPTED, 500);
        Milestone end = milestone(MilestoneKind.FINISHED, 9_999);
        explosive.take(progress, end, activity, told::add);
        quiet.take(ofQuiet, end, activityOfQuiet, told::add);
        assertThat(activity.matchedCount).isEqualTo(5);
        assertThat(activity.givenUpCount).isEqualTo(251);
        assertThat(activityOfQuiet.matchedCount).isEqualTo(1);
        assertThat(activityOfQuiet.evaluationsCount).isEqualTo(1);
    }

    private void give(RuleMatcher matcher, MilestoneKind kind, int count) {
        for (int i = 0; i < count; i++) {
            matcher.take(progress, milestone(kind, giveMillis), activity, told::add);
            giveMillis++;
        }
    }

    private static Milestone milestone(MilestoneKind kind, long millis) {
        return new Milestone(
                kind,
                millis,
                null,
                millis * 1_000_000,
                "e",
                "r",
                0,
                0,
                null,
                millis,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                List.of("c/1/" + millis));
    }

    private static RuleMatcher matcher(String caps, String stages) {
        BoundRule rule = RuleBinder.bind(RuleParser.parse("caps.yaml", """
                id: sample
                version: 1
                description: a rule that may explode
                severity: info
                cause: PREEMPTION
                key: request
                %sstages:
                %swithin: 1h
                finding: It happened.
                """.formatted(caps, stages)));
        return new RuleMatcher(rule);
    }
}
