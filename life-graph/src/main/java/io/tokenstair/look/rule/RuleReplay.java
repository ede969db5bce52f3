package io.tokenstair.look.rule;

import io.tokenstair.look.archive.RowCursor;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.MilestoneOrder;
import io.tokenstair.rule.match.RuleActivity;
import io.tokenstair.rule.match.RuleMatcher;
import io.tokenstair.rule.match.RuleProgress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * Rules over the milestones of an archive, each from beginning to end, as a job would match them. Holds the matches that are open and
 * nothing else.
 */
final class RuleReplay {
    private static final int SWEEP_KEYS = 4096;

    private final List<OfRule> rules;

    /** Takes matches. */
    interface Matches {
        /**
         * Takes a match.
         *
         * @param rule the rule
         * @param key the key its milestones have in common
         * @param byStage the milestones each stage took
         */
        void take(BoundRule rule, String key, List<List<Milestone>> byStage);
    }

    private RuleReplay(List<BoundRule> rules, Matches matches) {
        this.rules = rules.stream().map(rule -> new OfRule(rule, matches)).toList();
    }

    /**
     * Runs rules.
     *
     * @param rules the rules
     * @param milestones by event time; inside a millisecond in any order
     * @param complete true where nothing comes after the last, false where matches may still be open
     * @param matches takes what is found
     * @return what became of the matches of each rule, in the order of the rules
     */
    static List<RuleActivity> run(
            List<BoundRule> rules, RowCursor<Milestone> milestones, boolean complete, Matches matches) {
        RuleReplay replay = new RuleReplay(rules, matches);
        List<Milestone> sameTime = new ArrayList<>();
        while (milestones.hasNext()) {
            Milestone next = milestones.next();
            if (!sameTime.isEmpty() && sameTime.get(0).coarseEpochMillis() != next.coarseEpochMillis()) {
                replay.take(sameTime);
                sameTime.clear();
            }
            sameTime.add(next);
        }
        replay.take(sameTime);
        if (complete) {
            replay.rules.forEach(rule -> rule.passTime(Long.MAX_VALUE));
        }
        return replay.rules.stream().map(rule -> rule.activity).toList();
    }

    private void take(List<Milestone> sameTime) {
        sameTime.sort(new MilestoneOrder());
        for (OfRule rule : rules) {
            sameTime.forEach(rule::take);
        }
    }

    /** One rule over all keys. */
    private static final class OfRule {
        private final RuleMatcher matcher;
        private final Matches matches;
        private final RuleActivity activity = new RuleActivity();
        private final Map<String, RuleProgress> progressByKey = new HashMap<>();
        private int sweepAt = SWEEP_KEYS;

        OfRule(BoundRule rule, Matches matches) {
            this.matcher = new RuleMatcher(rule);
            this.matches = matches;
        }

        void take(Milestone milestone) {
            String key = matcher.rule().key().of(milestone);
            if (key == null || !matcher.takesPart(milestone)) {
                return;
            }
            RuleProgress progress = progressByKey.computeIfAbsent(key, begun -> new RuleProgress());
            matcher.take(progress, milestone, activity, found -> matches.take(matcher.rule(), key, found));
            if (progress.open.isEmpty()) {
                progressByKey.remove(key);
            } else if (progressByKey.size() > sweepAt) {
                passTime(milestone.coarseEpochMillis());
                sweepAt = Math.max(SWEEP_KEYS, 2 * progressByKey.size());
            }
        }

        void passTime(long millis) {
            Iterator<Map.Entry<String, RuleProgress>> keys =
                    progressByKey.entrySet().iterator();
            while (keys.hasNext()) {
                Map.Entry<String, RuleProgress> key = keys.next();
                matcher.passTime(
                        key.getValue(), millis, activity, found -> matches.take(matcher.rule(), key.getKey(), found));
                if (key.getValue().open.isEmpty()) {
                    keys.remove();
                }
            }
        }
    }
}
