package io.tokenstair.job.rule;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RuleMinute;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.job.JobEnvironment;
import io.tokenstair.job.KeyedRun;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.co.CoBroadcastWithKeyedOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedBroadcastOperatorTestHarness;
import org.apache.flink.streaming.util.TwoInputStreamOperatorTestHarness;
import org.jspecify.annotations.Nullable;

/** The operators of revised rules, stopped in the middle of a fixed input and gone on: for states that earlier builds saved. */
public final class RuleStates {
    /** How far milestones may come behind the watermark, in ms. */
    static final long HOLD = 500;

    private static final BoundRule ONE = RuleTexts.bound(RuleTexts.text("one", 1, "engine", 1));
    private static final BoundRule TWO = RuleTexts.bound(RuleTexts.text("two", 1, "engine", 1));

    private RuleStates() {}

    private static TwoInputStreamOperatorTestHarness<Milestone, RawRecord, ScheduledRule> scheduling(
            ScheduleRules operator, @Nullable OperatorSubtaskState stopped) throws Exception {
        TwoInputStreamOperatorTestHarness<Milestone, RawRecord, ScheduledRule> harness =
                new TwoInputStreamOperatorTestHarness<>(operator);
        ((SerializerConfigImpl) harness.getExecutionConfig().getSerializerConfig()).setGenericTypes(false);
        harness.setup();
        if (stopped != null) {
            harness.initializeState(stopped);
        }
        harness.open();
        return harness;
    }

    private static StreamRecord<RawRecord> revision(
            long sequence, String id, @Nullable String text, @Nullable Long fromMillis) {
        String action = text == null ? RuleRevised.RETIRE : RuleRevised.SET;
        return new StreamRecord<>(RuleTexts.record(RuleTexts.event(sequence, id, action, text, fromMillis)));
    }

    private static List<String> said(TwoInputStreamOperatorTestHarness<Milestone, RawRecord, ScheduledRule> harness) {
        List<String> said = new ArrayList<>();
        for (Object output : harness.getOutput()) {
            said.add(
                    output instanceof StreamRecord<?> record && record.getValue() instanceof ScheduledRule rule
                            ? rule.toString()
                            : output.toString());
        }
        said.add("archived: "
                + Objects.requireNonNull(harness.getSideOutput(ScheduleRules.ARCHIVE))
                        .size());
        return said;
    }

    /** Rules of the start, set, revised and retired, some of them in times to come. */
    public static OperatorSubtaskState stopScheduling() throws Exception {
        try (var harness = scheduling(new ScheduleRules(false, false, List.of(ONE)), null)) {
            harness.processWatermark1(new Watermark(1_000));
            harness.processElement2(revision(0, "three", RuleTexts.text("three", 1, "request", 1), null));
            harness.processElement2(revision(1, "three", RuleTexts.text("three", 2, "request", 5), 5_000L));
            harness.processElement2(revision(2, "gone", RuleTexts.text("gone", 1, "engine", 1), null));
            harness.processWatermark1(new Watermark(2_000));
            harness.processElement2(revision(3, "gone", null, null));
            harness.processElement2(revision(4, "broken", "id: broken\n", null));
            return harness.snapshot(1, 1);
        }
    }

    /** Goes on with other rules of the start; an older version comes back, and another text of it is refused. */
    public static List<String> goOnScheduling(OperatorSubtaskState stopped) throws Exception {
        try (var harness = scheduling(new ScheduleRules(false, false, List.of(TWO)), stopped)) {
            harness.processWatermark1(new Watermark(2_100));
            harness.processElement2(revision(5, "three", RuleTexts.text("three", 1, "request", 7), null));
            harness.processElement2(revision(6, "three", RuleTexts.text("three", 1, "request", 1), null));
            harness.processElement2(revision(7, "gone", RuleTexts.text("gone", 1, "engine", 1), 9_000L));
            harness.processElement2(revision(8, "one", null, null));
            harness.processWatermark1(new Watermark(3_000));
            return said(harness);
        }
    }

    /** Revisions that wait for the end of their log. */
    public static OperatorSubtaskState stopWaiting() throws Exception {
        try (var harness = scheduling(new ScheduleRules(false, true, List.of(ONE)), null)) {
            harness.processWatermark1(new Watermark(1_000));
            harness.processElement2(revision(1, "three", RuleTexts.text("three", 2, "engine", 1), 700L));
            return harness.snapshot(1, 1);
        }
    }

    /** The rest of the log, and its end. */
    public static List<String> goOnWaiting(OperatorSubtaskState stopped) throws Exception {
        try (var harness = scheduling(new ScheduleRules(false, true, List.of(ONE)), stopped)) {
            harness.processElement2(revision(0, "three", RuleTexts.text("three", 1, "engine", 1), null));
            harness.processWatermark1(new Watermark(2_000));
            harness.endInput2();
            List<String> said = said(harness);
            assertThat(said).hasSize(4);
            return said;
        }
    }

    /** The operator of a kind of key, opened; with the state of one that was stopped, where there is one. */
    static KeyedBroadcastOperatorTestHarness<String, Milestone, ScheduledRule, Finding> running(
            RuleKey key, @Nullable OperatorSubtaskState stopped) throws Exception {
        KeyedBroadcastOperatorTestHarness<String, Milestone, ScheduledRule, Finding> harness =
                new KeyedBroadcastOperatorTestHarness<>(
                        new CoBroadcastWithKeyedOperator<>(new RunRules(key, false, HOLD), List.of(RunRules.RULES)),
                        milestone -> Objects.requireNonNull(key.of(milestone)),
                        Types.STRING,
                        JobEnvironment.MAX_PARALLELISM,
                        1,
                        0);
        ((SerializerConfigImpl) harness.getExecutionConfig().getSerializerConfig()).setGenericTypes(false);
        harness.setup();
        if (stopped != null) {
            harness.initializeState(stopped);
        }
        harness.open();
        return harness;
    }

    private static String thrice(String key) {
        return "id: thrice\nversion: 1\ndescription: d\nseverity: info\ncause: "
                + (key.equals("engine") ? "KV_PRESSURE" : "PREEMPTION") + "\nkey: " + key
                + "\nstages:\n  - name: gone\n    kind: PREEMPTED\n    times: 1..3\n    distinct: contextTokens\n"
                + "  - name: back\n    kind: RECOMPUTED\n    where: contextTokens > previous.contextTokens\n"
                + "  - name: silent\n    kind: FINISHED\n    absent: true\nwithin: 2s\nafterMatch: no-skip\n"
                + "finding: It came back after {gone.contextTokens}.\n";
    }

    private static void give(
            KeyedBroadcastOperatorTestHarness<String, Milestone, ScheduledRule, Finding> harness,
            MilestoneKind kind,
            long millis,
            String request,
            int contextTokens)
            throws Exception {
        harness.processElement(
                new StreamRecord<>(RuleTexts.milestone(kind, millis, "engine", request, contextTokens), millis));
    }

    /** A key with matches that have begun, milestones that wait, and rules that were revised. */
    public static OperatorSubtaskState stopRunning(RuleKey key) throws Exception {
        String name = key.name().toLowerCase(Locale.ROOT);
        try (var harness = running(key, null)) {
            harness.processBroadcastElement(
                    new StreamRecord<>(RuleTexts.scheduled(RuleTexts.text("kept", 1, name, 1), 0, 0)));
            harness.processBroadcastElement(new StreamRecord<>(RuleTexts.scheduled(thrice(name), 1, 0)));
            harness.processBroadcastElement(
                    new StreamRecord<>(RuleTexts.scheduled(RuleTexts.text("kept", 2, name, 1), 2, 4_000)));
            give(harness, MilestoneKind.PREEMPTED, 1_000, "a", 3);
            give(harness, MilestoneKind.PREEMPTED, 1_100, "a", 4);
            give(harness, MilestoneKind.PREEMPTED, 1_150, "a", 5);
            harness.watermark(1_200 + HOLD);
            give(harness, MilestoneKind.RECOMPUTED, 1_400, "a", 9);
            return harness.snapshot(1, 1);
        }
    }

    /** The matches are found, and one under the later revision. */
    public static List<String> goOnRunning(RuleKey key, OperatorSubtaskState stopped) throws Exception {
        try (var harness = running(key, stopped)) {
            give(harness, MilestoneKind.PREEMPTED, 5_000, "b", 3);
            give(harness, MilestoneKind.RECOMPUTED, 5_100, "b", 2);
            harness.watermark(Long.MAX_VALUE);
            List<String> said = new ArrayList<>();
            harness.extractOutputValues().forEach(finding -> said.add(finding.toString()));
            for (StreamRecord<ActivityPart> part : Objects.requireNonNull(harness.getSideOutput(RunRules.ACTIVITY))) {
                said.add(part.getValue().row().toString());
            }
            assertThat(said)
                    .anyMatch(row -> row.contains("rule=kept, ruleRevision=1") && row.contains("c/1/1000"))
                    .anyMatch(row -> row.contains("rule=kept, ruleRevision=2"))
                    .anyMatch(row -> row.contains("rule=thrice") && row.contains("c/1/1100"));
            return said;
        }
    }

    /** Sums of minutes. */
    public static KeyedRun<ActivityPart, RuleMinute> sums() {
        return new KeyedRun<>(() -> new SumActivity(90_000), SumActivity::key, part -> part.minuteMillis);
    }

    /** Parts of a few minutes of two revisions, in order. */
    public static List<ActivityPart> parts() {
        List<ActivityPart> parts = new ArrayList<>();
        for (int i = 0; i < 90; i++) {
            ActivityPart part = new ActivityPart();
            part.ruleId = "a";
            part.version = 1 + i % 2;
            part.minuteMillis = i / 10 * ActivityPart.MINUTE_MILLIS;
            part.milestonesCount = i;
            part.evaluationsCount = 2L * i;
            part.reachedCounts = new ArrayList<>(List.of(3L * i, (long) i));
            part.matchedCount = i % 3;
            part.expiredCount = i % 4;
            part.brokenCount = i % 5;
            part.cutCount = i % 6;
            part.droppedCount = i % 7;
            part.givenUpCount = i % 8;
            part.cutWaysCount = i % 9;
            parts.add(part);
        }
        return parts;
    }
}
