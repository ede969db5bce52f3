package io.tokenstair.job.rule;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundRule;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.TwoInputStreamOperatorTestHarness;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The operator that gives revisions their instants, by itself. */
class ScheduleRulesHarnessTest {
    private static final BoundRule ONE = RuleTexts.bound(RuleTexts.text("one", 1, "engine", 1));
    private static final BoundRule TWO = RuleTexts.bound(RuleTexts.text("two", 1, "engine", 1));

    private static TwoInputStreamOperatorTestHarness<Milestone, RawRecord, ScheduledRule> harness(
            ScheduleRules operator, @Nullable OperatorSubtaskState restored) throws Exception {
        TwoInputStreamOperatorTestHarness<Milestone, RawRecord, ScheduledRule> harness =
                new TwoInputStreamOperatorTestHarness<>(operator);
        ((SerializerConfigImpl) harness.getExecutionConfig().getSerializerConfig()).setGenericTypes(false);
        harness.setup();
        if (restored != null) {
            harness.initializeState(restored);
        }
        harness.open();
        return harness;
    }

    private static StreamRecord<RawRecord> set(long sequence, String text, @Nullable Long from) {
        return new StreamRecord<>(
                RuleTexts.record(RuleTexts.event(sequence, RuleTexts.bound(text).id(), RuleRevised.SET, text, from)));
    }

    /** What was said since, in order: rules with their instants, watermarks, idleness. */
    private static List<String> said(TwoInputStreamOperatorTestHarness<Milestone, RawRecord, ScheduledRule> harness) {
        List<String> said = new ArrayList<>();
        for (Object output : harness.getOutput()) {
            if (output instanceof Watermark watermark) {
                said.add("time " + watermark.getTimestamp());
            } else if (output instanceof WatermarkStatus status) {
                said.add(status.isIdle() ? "idle" : "active");
            } else if (output instanceof StreamRecord<?> record && record.getValue() instanceof ScheduledRule rule) {
                said.add(rule.ruleId() + " " + rule.version() + " @" + rule.effectiveMillis());
            }
        }
        harness.getOutput().clear();
        return said;
    }

    @Test
    void aRevisionGoesBeforeTheWatermarkThatReachesItsInstantAndRevisionsNeverHoldTimeBack() throws Exception {
        try (var harness = harness(new ScheduleRules(false, false, List.of(ONE)), null)) {
            harness.processWatermark1(new Watermark(1_000));
            harness.processElement2(set(0, RuleTexts.text("one", 2, "engine", 1), null));
            harness.processWatermark1(new Watermark(1_001));
            harness.processWatermark2(new Watermark(Long.MAX_VALUE));
            harness.processWatermarkStatus2(WatermarkStatus.IDLE);
            harness.processWatermarkStatus1(WatermarkStatus.IDLE);
            harness.processWatermarkStatus1(WatermarkStatus.ACTIVE);
            harness.processWatermark1(new Watermark(1_002));

            assertThat(said(harness))
                    .containsExactly(
                            "one 1 @0", "time 1000", "one 2 @1001", "time 1001", "idle", "active", "time 1002");
            assertThat(harness.getSideOutput(ScheduleRules.ARCHIVE)).hasSize(2);
        }
    }

    @Test
    void whereRevisionsEndTimeWaitsForThem() throws Exception {
        try (var harness = harness(new ScheduleRules(false, true, List.of()), null)) {
            harness.processWatermark1(new Watermark(1_000));
            // Parts of a control log are read in any order.
            harness.processElement2(set(1, RuleTexts.text("one", 2, "engine", 1), 700L));
            harness.processElement2(set(0, RuleTexts.text("one", 1, "engine", 1), null));
            harness.processWatermark1(new Watermark(2_000));
            assertThat(said(harness)).isEmpty();
            harness.endInput2();
            assertThat(said(harness)).containsExactly("one 1 @0", "one 2 @700", "time 2000");
            harness.processWatermark1(new Watermark(3_000));
            assertThat(said(harness)).containsExactly("time 3000");
        }
    }

    @Test
    void whereRevisionsEndTheyHoldInTheOrderOfTheLogWhateverTheClocksOfTheirSendersSay() throws Exception {
        try (var harness = harness(new ScheduleRules(false, true, List.of()), null)) {
            List<String> texts = new ArrayList<>();
            for (int version = 1; version <= 4; version++) {
                texts.add(RuleTexts.text("one", version, "engine", version));
            }
            // Senders whose clocks go back, in parts of a log that are read in any order.
            send(harness, texts.get(3), "partition-10000", 0, 100);
            send(harness, texts.get(1), "partition-0002", 7, 300);
            send(harness, texts.get(2), "partition-0003", 1, 200);
            send(harness, texts.get(0), "partition-0002", 3, 400);
            harness.endInput2();
            harness.endInput1();

            assertThat(said(harness)).containsExactly("one 1 @0", "one 2 @0", "one 3 @0", "one 4 @0");
        }
    }

    private static void send(
            TwoInputStreamOperatorTestHarness<Milestone, RawRecord, ScheduledRule> harness,
            String text,
            String partition,
            long ordinal,
            long clockMillis)
            throws Exception {
        RuleRevised revised = new RuleRevised("one", null, RuleRevised.SET, text, null, null, null, "one.yaml");
        byte[] bytes = EventCodec.encode(
                new LoggedEvent(new EventHeader("rules-apply", clockMillis, 0, "none", null, clockMillis), revised));
        harness.processElement2(new StreamRecord<>(RawRecord.of(bytes, partition, ordinal)));
    }

    @Test
    void aJobRestoredWithOtherRulesSchedulesTheDifferenceBehindTheTimeItWasSavedAt() throws Exception {
        OperatorSubtaskState saved;
        try (var harness = harness(new ScheduleRules(false, false, List.of(ONE)), null)) {
            harness.processWatermark1(new Watermark(1_000));
            harness.processElement2(set(0, RuleTexts.text("three", 1, "engine", 1), null));
            saved = harness.snapshot(1, 1);
        }
        try (var harness = harness(new ScheduleRules(false, false, List.of(TWO)), saved)) {
            harness.processWatermark1(new Watermark(900));
            assertThat(said(harness)).containsExactly("two 1 @1001", "one 0 @1001", "time 900");
            OperatorSubtaskState again = harness.snapshot(2, 2);
            try (var same = harness(new ScheduleRules(false, false, List.of(TWO)), again)) {
                same.processWatermark1(new Watermark(1_100));
                assertThat(said(same)).containsExactly("time 1100");
            }
        }
    }

    @Test
    void inBatchNothingIsSaidBeforeAllRevisionsAreKnown() throws Exception {
        try (var harness = harness(new ScheduleRules(true, false, List.of(ONE)), null)) {
            harness.endInput1();
            harness.processWatermark1(Watermark.MAX_WATERMARK);
            assertThat(said(harness)).isEmpty();
            harness.endInput2();
            assertThat(said(harness)).containsExactly("one 1 @0", "time " + Long.MAX_VALUE);
        }
    }
}
