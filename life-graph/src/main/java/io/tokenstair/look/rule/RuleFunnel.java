package io.tokenstair.look.rule;

import io.tokenstair.archive.result.RuleMinute;
import io.tokenstair.look.archive.RowCursor;
import io.tokenstair.look.archive.RuleQueries;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.match.RuleActivity;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How far the matches of a revision of a rule got, summed over keys and time.
 *
 * @param ruleId the rule
 * @param ruleRevision its revision
 * @param rule the rule; absent where its text is not known
 * @param milestones milestones looked at
 * @param reached how often each stage was reached, in stage order; the first is the number of matches begun
 * @param matched matches found
 * @param expired matches that ran out of time
 * @param broken matches that another milestone ended
 * @param cut what caps cut: matches not begun, given up, or not followed all ways
 * @param givenUp matches given up, which are part of what caps cut
 * @param failed conditions that could not be evaluated: a division by zero, a number beyond 64 bits; absent where it was not counted
 */
record RuleFunnel(
        String ruleId,
        int ruleRevision,
        @Nullable BoundRule rule,
        long milestones,
        List<Long> reached,
        long matched,
        long expired,
        long broken,
        long cut,
        long givenUp,
        @Nullable Long failed) {

    /** The sums a job wrote down, by rule and revision; empty where the archive has none. */
    static List<RuleFunnel> archived(RuleQueries queries, ArchivedRules rules) {
        Map<String, Map<Integer, RuleFunnel>> sums = new TreeMap<>();
        try (RowCursor<RuleMinute> minutes = queries.activity()) {
            while (minutes.hasNext()) {
                RuleMinute minute = minutes.next();
                sums.computeIfAbsent(minute.ruleId(), id -> new TreeMap<>())
                        .merge(minute.ruleRevision(), of(minute, rules), RuleFunnel::plus);
            }
        }
        List<RuleFunnel> funnels = new ArrayList<>();
        sums.values().forEach(ofRule -> funnels.addAll(ofRule.values()));
        return List.copyOf(funnels);
    }

    private static RuleFunnel of(RuleMinute minute, ArchivedRules rules) {
        BoundRule known = rules.revisions().stream()
                .map(ArchivedRules.Revision::rule)
                .filter(Objects::nonNull)
                .filter(rule -> rule.id().equals(minute.ruleId()) && rule.revision() == minute.ruleRevision())
                .findFirst()
                .orElse(null);
        return new RuleFunnel(
                minute.ruleId(),
                minute.ruleRevision(),
                known,
                minute.milestonesCount(),
                minute.reachedCounts(),
                minute.matchedCount(),
                minute.expiredCount(),
                minute.brokenCount() + minute.droppedCount(),
                minute.cutCount() + minute.givenUpCount() + minute.cutWaysCount(),
                minute.givenUpCount(),
                minute.failedEvaluationsCount());
    }

    private RuleFunnel plus(RuleFunnel other) {
        List<Long> sum = new ArrayList<>();
        for (int stage = 0; stage < Math.max(reached.size(), other.reached.size()); stage++) {
            sum.add(at(reached, stage) + at(other.reached, stage));
        }
        return new RuleFunnel(
                ruleId,
                ruleRevision,
                rule,
                milestones + other.milestones,
                sum,
                matched + other.matched,
                expired + other.expired,
                broken + other.broken,
                cut + other.cut,
                givenUp + other.givenUp,
                failed == null ? other.failed : other.failed == null ? failed : Long.valueOf(failed + other.failed));
    }

    private static long at(List<Long> counts, int stage) {
        return stage < counts.size() ? counts.get(stage) : 0;
    }

    /** The same, worked out from the milestones of an archive. */
    static List<RuleFunnel> workedOut(RuleQueries queries, List<BoundRule> rules) {
        List<RuleFunnel> funnels = new ArrayList<>();
        try (RowCursor<Milestone> milestones = queries.milestones()) {
            List<RuleActivity> activities = RuleReplay.run(rules, milestones, false, (rule, key, found) -> {});
            for (int i = 0; i < rules.size(); i++) {
                RuleActivity activity = activities.get(i);
                funnels.add(new RuleFunnel(
                        rules.get(i).id(),
                        rules.get(i).revision(),
                        rules.get(i),
                        activity.milestonesCount,
                        List.copyOf(activity.reachedCounts),
                        activity.matchedCount,
                        activity.expiredCount,
                        activity.brokenCount,
                        activity.cutCount + activity.givenUpCount + activity.cutWaysCount,
                        activity.givenUpCount,
                        activity.failedEvaluationsCount));
            }
        }
        return List.copyOf(funnels);
    }

    /** Matches begun. */
    long begun() {
        return at(reached, 0);
    }

    /** Matches that had begun and have not ended, as far as the job has told. */
    long open() {
        return Math.max(0, begun() - matched - expired - broken - givenUp);
    }

    /** How often a stage was reached. */
    long reached(int stage) {
        return at(reached, stage);
    }
}
