package io.tokenstair.rule.match;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.RandomRules;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.MilestoneOrder;
import io.tokenstair.rule.bound.RuleKey;
import io.tokenstair.rule.bound.RuleOracle;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** One milestone after another, the matcher finds what the oracle finds, and says what became of the rest. */
class RuleMatcherTest {
    private static final int RULES = 3_000;
    private static final int SEQUENCES_PER_RULE = 4;

    @Test
    void findsWhatTheOracleFinds() {
        Map<RuleKey, Long> matches = new EnumMap<>(RuleKey.class);
        int seed = 0;
        for (BoundRule rule : RandomRules.rules(31, RULES)) {
            for (int i = 0; i < SEQUENCES_PER_RULE; i++) {
                long found = compare(rule, RandomRules.milestones(seed, "e", true), seed++);
                matches.merge(rule.key(), found, Long::sum);
            }
        }
        for (RuleKey key : RuleKey.values()) {
            assertThat(matches.get(key))
                    .as("rules of key %s meet the milestones", key)
                    .isGreaterThan(RULES / 6);
        }
    }

    private static int compare(BoundRule rule, List<Milestone> milestones, int seed) {
        List<Milestone> ordered = new ArrayList<>(milestones);
        ordered.sort(new MilestoneOrder());
        RuleMatcher matcher = new RuleMatcher(rule);
        Map<String, RuleProgress> byKey = new TreeMap<>();
        Map<String, List<List<List<Milestone>>>> found = new TreeMap<>();
        RuleActivity activity = new RuleActivity();
        for (Milestone milestone : ordered) {
            String key = rule.key().of(milestone);
            if (key != null && matcher.takesPart(milestone)) {
                RuleProgress progress = byKey.computeIfAbsent(key, absent -> new RuleProgress());
                List<List<List<Milestone>>> ofKey = found.computeIfAbsent(key, absent -> new ArrayList<>());
                matcher.take(progress, milestone, activity, ofKey::add);
                assertThat(progress.waysCount)
                        .isEqualTo(progress.open.stream()
                                .mapToInt(match -> match.ways.size())
                                .sum());
            }
        }
        List<String> all = new ArrayList<>();
        byKey.forEach((key, progress) -> {
            List<List<List<Milestone>>> ofKey = Objects.requireNonNull(found.get(key));
            matcher.passTime(progress, matcher.nextInstantMillis(progress), activity, ofKey::add);
            matcher.passTime(progress, Long.MAX_VALUE, activity, ofKey::add);
            assertThat(progress.open).isEmpty();
            assertThat(progress.waysCount).isZero();
            ofKey.forEach(match -> all.add(key + " " + match));
        });
        List<RuleOracle.Match> expected = RuleOracle.matches(rule, milestones);
        assertThat(all)
                .as(() -> "seed " + seed + "\n" + rule.source().text())
                .containsExactlyInAnyOrderElementsOf(expected.stream()
                        .map(match -> match.key() + " " + match.matched())
                        .toList());
        assertThat(activity.matchedCount + activity.expiredCount + activity.brokenCount)
                .as("each match begun ends one way")
                .isEqualTo(activity.reachedCounts.isEmpty() ? 0L : activity.reachedCounts.get(0));
        assertThat(activity.cutCount + activity.cutWaysCount + activity.givenUpCount)
                .isZero();
        return expected.size();
    }
}
