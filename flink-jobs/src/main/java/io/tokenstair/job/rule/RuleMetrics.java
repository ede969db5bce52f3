package io.tokenstair.job.rule;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/**
 * What each rule does in a subtask, as metrics: a group {@code rule.ID} with {@code matches}, {@code matchesOpen}, {@code matchesCut} and
 * {@code evaluationsFailed}. At most {@link #MAX_RULES} rules have one of their own, in the order in which they first did something; Flink cannot
 * give a group back, so a retired rule keeps its. The rules after them share the group {@link #OTHERS}.
 */
final class RuleMetrics {
    /** Most rules with a group of their own. */
    static final int MAX_RULES = 200;

    /** Name of the group that all further rules share; no rule's id, for those have no such sign. */
    static final String OTHERS = "(others)";

    private final MetricGroup parent;
    private final Map<String, OfRule> groups = new HashMap<>();
    private final Map<String, Long> restored = new TreeMap<>();

    /** Metrics below those of an operator. */
    RuleMetrics(MetricGroup parent, Iterable<OpenMatches> before) {
        this.parent = parent;
        for (OpenMatches open : before) {
            restored.merge(open.ruleId, open.count, Long::sum);
        }
        restored.keySet().stream().limit(MAX_RULES).toList().forEach(this::of);
    }

    /** The group of a rule. */
    private static final class OfRule {
        private final Counter matches;
        private final Counter cut;
        private final Counter failed;
        private long openCount;

        OfRule(MetricGroup group) {
            matches = group.counter("matches");
            cut = group.counter("matchesCut");
            failed = group.counter("evaluationsFailed");
            group.gauge("matchesOpen", (Gauge<Long>) () -> openCount);
        }
    }

    /** Counts what a revision of a rule did. */
    void count(ActivityPart part) {
        OfRule group = of(part.ruleId);
        group.matches.inc(part.matchedCount);
        group.cut.inc(part.cutCount + part.givenUpCount + part.cutWaysCount);
        group.failed.inc(part.failedEvaluationsCount);
        long begun = part.reachedCounts.isEmpty() ? 0 : part.reachedCounts.get(0);
        group.openCount += begun
                - part.matchedCount
                - part.expiredCount
                - part.brokenCount
                - part.givenUpCount
                - part.droppedCount;
    }

    private OfRule of(String ruleId) {
        OfRule known = groups.get(ruleId);
        if (known == null) {
            boolean own = ruleId.equals(OTHERS) || groups.size() < MAX_RULES;
            known = own ? made(ruleId) : of(OTHERS);
        }
        return known;
    }

    private OfRule made(String name) {
        OfRule made = new OfRule(parent.addGroup("rule", name));
        Long before = restored.remove(name);
        made.openCount = before == null ? 0 : before;
        groups.put(name, made);
        return made;
    }

    /** The open matches to keep: those of no rule are left out. */
    List<OpenMatches> open() {
        List<OpenMatches> open = new ArrayList<>();
        groups.forEach((name, group) -> {
            if (group.openCount != 0) {
                OpenMatches kept = new OpenMatches();
                kept.ruleId = name;
                kept.count = group.openCount;
                open.add(kept);
            }
        });
        return open;
    }
}
