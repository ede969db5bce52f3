package io.tokenstair.job.rule;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.RandomRules;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleKey;
import io.tokenstair.rule.bound.RuleOracle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.heap.HeapKeyedStateBackend;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedBroadcastOperatorTestHarness;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The operator that matches revised rules, by itself. */
class RunRulesHarnessTest {
    private static final long HOLD = RuleStates.HOLD;

    private final List<String> found = new ArrayList<>();
    private final TreeMap<String, ActivityPart> activity = new TreeMap<>();

    private static void rule(
            KeyedBroadcastOperatorTestHarness<String, Milestone, ScheduledRule, Finding> harness, ScheduledRule rule)
            throws Exception {
        harness.processBroadcastElement(new StreamRecord<>(rule));
    }

    private static void give(
            KeyedBroadcastOperatorTestHarness<String, Milestone, ScheduledRule, Finding> harness, Milestone milestone)
            throws Exception {
        harness.processElement(new StreamRecord<>(milestone, milestone.coarseEpochMillis()));
    }

    private void take(KeyedBroadcastOperatorTestHarness<String, Milestone, ScheduledRule, Finding> harness) {
        for (Finding finding : harness.extractOutputValues()) {
            found.add(finding.rule() + " " + finding.ruleRevision() + " " + finding.evidence());
        }
        harness.getOutput().clear();
        var parts = harness.getSideOutput(RunRules.ACTIVITY);
        if (parts != null) {
            for (StreamRecord<ActivityPart> part : parts) {
                activity.merge(
                        part.getValue().ruleId + " " + part.getValue().version, part.getValue(), (left, right) -> {
                            left.add(right);
                            return left;
                        });
            }
            parts.clear();
        }
    }

    private static int entries(KeyedBroadcastOperatorTestHarness<String, Milestone, ScheduledRule, Finding> harness) {
        return ((HeapKeyedStateBackend<?>) Objects.requireNonNull(
                        ((AbstractStreamOperator<?>) harness.getOperator()).getKeyedStateBackend()))
                .numKeyValueStateEntries();
    }

    private static Milestone lost(long millis, @Nullable String request) {
        return RuleTexts.milestone(MilestoneKind.PREEMPTED, millis, "e", request, 0);
    }

    private static Milestone back(long millis, @Nullable String request, int tokens) {
        return RuleTexts.milestone(MilestoneKind.RECOMPUTED, millis, "e", request, tokens);
    }

    @Test
    void aRequestKeepsTheRevisionOfItsFirstMilestone() throws Exception {
        var harness = RuleStates.running(RuleKey.REQUEST, null);
        rule(harness, RuleTexts.scheduled(RuleTexts.text("a", 1, "request", 1), 0, 0));
        rule(harness, RuleTexts.scheduled(RuleTexts.text("a", 2, "request", 100), 1, 2_000));
        give(harness, lost(1_900, "old"));
        give(harness, back(2_100, "old", 50));
        give(harness, lost(2_000, "new"));
        give(harness, back(2_100, "new", 50));
        give(harness, lost(2_500, "old"));
        give(harness, back(2_600, "old", 50));
        give(harness, lost(2_500, "new"));
        give(harness, back(2_601, "new", 500));
        harness.watermark(Long.MAX_VALUE);
        take(harness);

        assertThat(found)
                .containsExactlyInAnyOrder(
                        "a 1 [c/1/1900, c/1/2100]",
                        "a 1 [c/1/2500, c/1/2600]",
                        "a 2 [c/1/2000, c/1/2601]",
                        "a 2 [c/1/2500, c/1/2601]");
        assertThat(entries(harness)).isZero();
        harness.close();
    }

    @Test
    void anEngineSwitchesAtTheInstantAndWhatHadBegunIsDroppedAndCounted() throws Exception {
        var harness = RuleStates.running(RuleKey.ENGINE, null);
        rule(harness, RuleTexts.scheduled(RuleTexts.text("a", 1, "engine", 1), 0, 0));
        give(harness, lost(1_000, null));
        give(harness, back(1_001, null, 5));
        give(harness, lost(1_900, null));
        harness.watermark(1_950 + HOLD);
        rule(harness, RuleTexts.scheduled(RuleTexts.text("a", 2, "engine", 1), 1, 2_451));
        give(harness, back(2_451, null, 5));
        give(harness, lost(2_452, null));
        give(harness, back(2_453, null, 5));
        harness.watermark(Long.MAX_VALUE);
        take(harness);

        assertThat(found).containsExactly("a 1 [c/1/1000, c/1/1001]", "a 2 [c/1/2452, c/1/2453]");
        assertThat(activity.get("a 1").droppedCount).isEqualTo(1);
        assertThat(activity.get("a 1").reachedCounts).containsExactly(2L, 1L);
        assertThat(activity.get("a 2").milestonesCount).isEqualTo(3);
        assertThat(entries(harness)).isZero();
        harness.close();
    }

    @Test
    void aRetiredRulesStateIsClearedWhenItsTimeIsOver() throws Exception {
        var harness = RuleStates.running(RuleKey.ENGINE, null);
        rule(harness, RuleTexts.scheduled(RuleTexts.text("a", 1, "engine", 1), 0, 0));
        give(harness, lost(1_000, null));
        harness.watermark(1_100 + HOLD);
        assertThat(entries(harness)).isEqualTo(1);
        rule(harness, RuleTexts.retired("a", 1, 1_601));
        harness.watermark(2_100 + HOLD);
        take(harness);

        assertThat(found).isEmpty();
        assertThat(activity.get("a 1").droppedCount).isEqualTo(1);
        assertThat(activity.get("a 1").expiredCount).isZero();
        assertThat(entries(harness)).isZero();
        give(harness, lost(2_200, null));
        give(harness, back(2_201, null, 5));
        harness.watermark(Long.MAX_VALUE);
        take(harness);
        assertThat(found).isEmpty();
        harness.close();
    }

    @ParameterizedTest
    @EnumSource(
            value = RuleKey.class,
            names = {"ENGINE", "REQUEST"})
    @Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void whereNothingIsOpenMilestonesThatWaitAreTakenInTheirTime(RuleKey key) throws Exception {
        var harness = RuleStates.running(key, null);
        rule(harness, RuleTexts.scheduled(RuleTexts.text("a", 1, key.name().toLowerCase(Locale.ROOT), 1), 0, 0));
        long later = 1_000 + RuleLife.IDLE_MILLIS + 10_000;
        give(harness, back(1_000, "r", 5));
        give(harness, lost(later, "r"));
        give(harness, back(later + 1, "r", 5));
        harness.watermark(later - 1_000 + HOLD);
        assertThat(harness.numEventTimeTimers()).isEqualTo(1);
        assertThat(entries(harness)).isEqualTo(1);
        harness.watermark(later + 200 + HOLD);
        take(harness);

        assertThat(found).containsExactly("a 1 [c/1/" + later + ", c/1/" + (later + 1) + "]");
        harness.watermark(Long.MAX_VALUE);
        assertThat(entries(harness)).isZero();
        harness.close();
    }

    @Test
    void aMilestoneThatComesLaterThanTheHoldIsCountedAndLeftOut() throws Exception {
        var harness = RuleStates.running(RuleKey.ENGINE, null);
        rule(harness, RuleTexts.scheduled(RuleTexts.text("a", 1, "engine", 1), 0, 0));
        give(harness, lost(1_000, null));
        harness.watermark(1_500 + HOLD);
        give(harness, back(1_400, null, 5));
        give(harness, back(1_501, null, 5));
        harness.watermark(Long.MAX_VALUE);
        take(harness);

        assertThat(found).containsExactly("a 1 [c/1/1000, c/1/1501]");
        harness.close();
    }

    @Test
    void aRequestThatEndedIsForgottenAndOneThatDidNotLater() throws Exception {
        var harness = RuleStates.running(RuleKey.REQUEST, null);
        rule(harness, RuleTexts.scheduled(RuleTexts.text("a", 1, "request", 1), 0, 0));
        give(harness, back(1_000, "open", 5));
        give(harness, RuleTexts.milestone(MilestoneKind.FINISHED, 1_000, "e", "ended", 5));
        harness.watermark(1_000 + HOLD + RuleLife.ENDED_MILLIS + 200);
        assertThat(entries(harness)).isEqualTo(1);
        harness.watermark(1_000 + HOLD + RuleLife.IDLE_MILLIS + 200);
        assertThat(entries(harness)).isZero();
        harness.close();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void whatItFindsIsWhatTheOracleSaysInAnyOrderOfArrivalAndOverRestores(long seed) throws Exception {
        Random random = new Random(seed);
        List<BoundRule> rules = RandomRules.rules(seed, 12);
        List<Milestone> milestones = new ArrayList<>();
        for (int engine = 0; engine < 24; engine++) {
            milestones.addAll(RandomRules.milestones(seed * 100 + engine, "e" + engine, false));
        }
        List<String> expected = new ArrayList<>();
        for (BoundRule rule : rules) {
            RuleOracle.matches(rule, milestones)
                    .forEach(match ->
                            expected.add(RuleFindings.of(rule, match.matched()).toString()));
        }
        assertThat(expected).isNotEmpty();
        List<String> said = new ArrayList<>();
        for (RuleKey key : RuleKey.values()) {
            var harness = RuleStates.running(key, null);
            long index = 0;
            for (BoundRule rule : rules) {
                rule(harness, RuleTexts.scheduled(rule.source().text(), index++, 0));
            }
            // Up to a hold late: the watermark is that far behind the earliest that is still to come.
            List<Milestone> arriving = new ArrayList<>(milestones.stream()
                    .filter(milestone -> key.of(milestone) != null)
                    .toList());
            TreeMap<Long, Milestone> byArrival = new TreeMap<>();
            for (Milestone milestone : arriving) {
                long at = (milestone.coarseEpochMillis() + random.nextLong(HOLD)) * 1_000;
                while (byArrival.containsKey(at)) {
                    at++;
                }
                byArrival.put(at, milestone);
            }
            for (var arrival : byArrival.entrySet()) {
                give(harness, arrival.getValue());
                if (random.nextInt(4) == 0) {
                    harness.watermark(arrival.getKey() / 1_000);
                }
                if (random.nextInt(60) == 0) {
                    OperatorSubtaskState stopped = harness.snapshot(1, 1);
                    harness.extractOutputValues().forEach(finding -> said.add(finding.toString()));
                    harness.close();
                    harness = RuleStates.running(key, stopped);
                }
            }
            harness.watermark(Long.MAX_VALUE);
            harness.extractOutputValues().forEach(finding -> said.add(finding.toString()));
            assertThat(entries(harness)).isZero();
            harness.close();
        }
        Collections.sort(expected);
        Collections.sort(said);
        assertThat(said).isEqualTo(expected);
    }
}
