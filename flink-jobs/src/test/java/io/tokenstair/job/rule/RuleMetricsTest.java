package io.tokenstair.job.rule;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.testutils.MetricListener;
import org.junit.jupiter.api.Test;

/** What each rule does, as metrics. */
class RuleMetricsTest {
    private final MetricListener listener = new MetricListener();
    private final RuleMetrics metrics = new RuleMetrics(listener.getMetricGroup(), List.of());

    private static ActivityPart part(String ruleId, int version, long begun, long matched) {
        ActivityPart part = new ActivityPart();
        part.ruleId = ruleId;
        part.version = version;
        part.reachedCounts.add(begun);
        part.matchedCount = matched;
        return part;
    }

    private static long counted(MetricListener from, String ruleId, String name) {
        Optional<Counter> counter = from.getCounter("rule", ruleId, name);
        return counter.orElseThrow().getCount();
    }

    private static long open(MetricListener from, String ruleId) {
        Optional<Gauge<Long>> gauge = from.getGauge("rule", ruleId, "matchesOpen");
        return gauge.orElseThrow().getValue();
    }

    @Test
    void everyRuleHasItsCountersOverAllItsRevisions() {
        ActivityPart first = part("one", 1, 9, 2);
        first.expiredCount = 1;
        first.brokenCount = 1;
        first.givenUpCount = 1;
        first.cutCount = 4;
        first.cutWaysCount = 5;
        first.failedEvaluationsCount = 7;
        metrics.count(first);
        ActivityPart second = part("one", 2, 1, 1);
        second.droppedCount = 2;
        metrics.count(second);
        metrics.count(part("two", 1, 3, 0));

        assertThat(counted(listener, "one", "matches")).isEqualTo(3);
        assertThat(counted(listener, "one", "matchesCut")).isEqualTo(10);
        assertThat(counted(listener, "one", "evaluationsFailed")).isEqualTo(7);
        assertThat(open(listener, "one")).isEqualTo(2);
        assertThat(open(listener, "two")).isEqualTo(3);
    }

    @Test
    void theOpenMatchesAreRightAfterARestart() {
        metrics.count(part("one", 1, 9, 2));
        metrics.count(part("two", 1, 3, 3));
        List<OpenMatches> saved = new ArrayList<>(metrics.open());
        assertThat(saved)
                .singleElement()
                .satisfies(open -> assertThat(open.count).isEqualTo(7));
        saved.addAll(metrics.open());

        MetricListener later = new MetricListener();
        RuleMetrics restored = new RuleMetrics(later.getMetricGroup(), saved);
        assertThat(open(later, "one")).as("of two subtasks that became one").isEqualTo(14);
        restored.count(part("one", 1, 0, 4));
        assertThat(open(later, "one")).isEqualTo(10);
        assertThat(counted(later, "one", "matches")).isEqualTo(4);
    }

    @Test
    void noMoreRulesHaveAGroupThanTheBoundAllows() {
        for (int i = 0; i < 3 * RuleMetrics.MAX_RULES; i++) {
            metrics.count(part("rule-" + i, 1, 2, 1));
        }
        assertThat(open(listener, "rule-" + (RuleMetrics.MAX_RULES - 1))).isEqualTo(1);
        Optional<Counter> beyond = listener.getCounter("rule", "rule-" + RuleMetrics.MAX_RULES, "matches");
        assertThat(beyond).isEmpty();
        assertThat(counted(listener, RuleMetrics.OTHERS, "matches")).isEqualTo(2L * RuleMetrics.MAX_RULES);
        assertThat(open(listener, RuleMetrics.OTHERS)).isEqualTo(2L * RuleMetrics.MAX_RULES);
        assertThat(metrics.open()).hasSize(RuleMetrics.MAX_RULES + 1);
    }
}
