package io.tokenstair.job.rule;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.job.source.RawRecord;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** From when a revision holds, and what is refused. */
class RuleSchedulingTest {
    private final SchedulingState state = new SchedulingState();
    private final List<ScheduledRule> scheduled = new ArrayList<>();
    private final List<LoggedEvent> archived = new ArrayList<>();
    private long sequence;

    private RuleScheduling scheduling() {
        return new RuleScheduling(state, new RuleScheduling.Output() {
            @Override
            public void scheduled(ScheduledRule rule) {
                scheduled.add(rule);
            }

            @Override
            public void archived(LoggedEvent event) {
                archived.add(event);
            }
        });
    }

    private void set(String text, @Nullable Long from) {
        take(RuleTexts.event(sequence++, RuleTexts.bound(text).id(), RuleRevised.SET, text, from));
    }

    private void retire(String id) {
        take(RuleTexts.event(sequence++, id, RuleRevised.RETIRE, null, null));
    }

    private void take(LoggedEvent event) {
        scheduling().take(RuleTexts.record(event));
    }

    /** The reason of the last refusal; the last message must be one. */
    private String refusal() {
        return ((Rejected) archived.get(archived.size() - 1).event()).reason();
    }

    private List<String> instants() {
        return scheduled.stream()
                .map(rule -> rule.ruleId() + " " + rule.version() + " @" + rule.effectiveMillis())
                .toList();
    }

    @Test
    void aRevisionHoldsBehindAllCompleteEventTimeAndNotBeforeItsSenderWantsIt() {
        set(RuleTexts.text("a", 1, "engine", 1), null);
        state.watermarkMillis = 5_000;
        set(RuleTexts.text("a", 2, "engine", 2), null);
        set(RuleTexts.text("a", 3, "engine", 3), 4_000L);
        set(RuleTexts.text("a", 4, "engine", 4), 9_000L);

        assertThat(instants()).containsExactly("a 1 @0", "a 2 @5001", "a 3 @5001", "a 4 @9000");
        assertThat(scheduled).extracting(ScheduledRule::scheduleIndex).containsExactly(0L, 1L, 2L, 3L);
        assertThat(archived)
                .extracting(event -> ((RuleRevised) event.event()).effectiveMillis())
                .containsExactly(0L, 5_001L, 5_001L, 9_000L);
        assertThat(archived)
                .extracting(event -> event.header().eventId())
                .containsExactly("apply/1/0", "apply/1/1", "apply/1/2", "apply/1/3");
    }

    @Test
    void anOlderVersionComesBackWithItsOwnTextAndWithNoOther() {
        String first = RuleTexts.text("a", 1, "engine", 1);
        set(first, null);
        set(RuleTexts.text("a", 3, "engine", 3), null);
        set(first, null);
        set(RuleTexts.text("a", 1, "engine", 7), null);
        assertThat(refusal()).contains("version 1 of rule a has another text");
        set(RuleTexts.text("a", 2, "engine", 2), null);
        assertThat(refusal()).contains("is below version 3 and was never in force");

        assertThat(instants()).containsExactly("a 1 @0", "a 3 @0", "a 1 @0");
    }

    @Test
    void whatIsNoRuleIsRefusedWithItsReasonAndNothingElseChanges() {
        set(RuleTexts.text("a", 1, "engine", 1), null);
        take(RuleTexts.event(1, "a", RuleRevised.SET, "id: a\nversion: 2\nnonsense: 1\n", null));
        assertThat(refusal()).contains("record 1: rule.yaml:3:1:").doesNotContain("\n");
        take(RuleTexts.event(2, "a", RuleRevised.SET, null, null));
        assertThat(refusal()).contains("needs its text");
        take(RuleTexts.event(3, "b", RuleRevised.SET, RuleTexts.text("a", 2, "engine", 1), null));
        assertThat(refusal()).contains("the text is of rule a, not of b");
        take(RuleTexts.event(4, "a", "explode\u001b[2J", null, null));
        assertThat(refusal()).contains("neither set nor retire").doesNotContain("\u001b");
        retire("unknown");
        assertThat(refusal()).endsWith("there is no rule unknown");
        set(RuleTexts.text("overlong", 1, "engine", 1), null);
        retire("overlnog");
        assertThat(refusal()).endsWith("there is no rule overlnog. Did you mean overlong?");
        scheduling().take(RawRecord.of(new byte[] {1, 2, 3}, "control", 6));
        assertThat(refusal()).contains("record 6");
        scheduling()
                .take(RuleTexts.record(
                        new LoggedEvent(new EventHeader("c", 1, 7, "none", null, null), new CollectorGap("s", 0, 1))));
        assertThat(refusal()).contains("CollectorGap is no revision of a rule");
        take(RuleTexts.event(8, "big", RuleRevised.SET, "#".repeat(300 * 1024), null));
        assertThat(refusal()).contains("bytes");
        take(RuleTexts.event(9, "deep", RuleRevised.SET, "id: " + "[".repeat(50_000), null));
        assertThat(archived).hasSize(12);

        assertThat(instants()).containsExactly("a 1 @0", "overlong 1 @0");
        assertThat(archived.get(1).event()).isInstanceOf(Rejected.class);
    }

    @Test
    void aRetiredRuleIsRetiredOnceAndMayComeBack() {
        String text = RuleTexts.text("a", 1, "engine", 1);
        set(text, null);
        state.watermarkMillis = 10;
        retire("a");
        retire("a");
        assertThat(refusal()).contains("retired already");
        state.watermarkMillis = 20;
        set(text, null);

        assertThat(instants()).containsExactly("a 1 @0", "a 0 @11", "a 1 @21");
    }

    @Test
    void aRestoredJobSchedulesWhatDiffersFromItsLastStart() {
        var one = RuleTexts.bound(RuleTexts.text("one", 1, "engine", 1));
        var two = RuleTexts.bound(RuleTexts.text("two", 1, "engine", 1));
        scheduling().start(List.of(one, two));
        state.watermarkMillis = 100;
        set(RuleTexts.text("one", 2, "engine", 2), null);
        scheduled.clear();

        scheduling().start(List.of(one, two));
        assertThat(scheduled).as("the same rules").isEmpty();
        var twoLater = RuleTexts.bound(RuleTexts.text("two", 2, "engine", 1));
        var three = RuleTexts.bound(RuleTexts.text("three", 1, "engine", 1));
        scheduling().start(List.of(one, twoLater, three));
        assertThat(instants()).containsExactly("two 2 @101", "three 1 @101");
        scheduled.clear();
        scheduling().start(List.of(three));
        assertThat(instants()).as("one was revised since it was started with").containsExactly("two 0 @101");
    }

    @Test
    void nothingCanHoldOnceTheEventsHaveEnded() {
        state.watermarkMillis = Long.MAX_VALUE;
        set(RuleTexts.text("a", 1, "engine", 1), null);
        assertThat(refusal()).contains("the events have ended");
    }

    @Test
    void moreThanAThousandRulesAreRefused() {
        for (int i = 0; i < RuleScheduling.MAX_RULES; i++) {
            KnownRule known = new KnownRule();
            known.textHashes.put(1, "x");
            state.rules.put("r" + i, known);
        }
        set(RuleTexts.text("one-more", 1, "engine", 1), null);
        assertThat(refusal()).contains("1000 rules are in force");
        retire("r7");
        set(RuleTexts.text("one-more", 1, "engine", 1), null);
        assertThat(instants()).containsExactly("r7 0 @0", "one-more 1 @0");
    }

    @Test
    void aReplayTakesTheArchivedInstantsInAnyOrderAndDecidesNothing() {
        set(RuleTexts.text("a", 1, "engine", 1), null);
        state.watermarkMillis = 5_000;
        set(RuleTexts.text("a", 2, "engine", 2), null);
        retire("a");
        List<ScheduledRule> streamed = List.copyOf(scheduled);
        List<LoggedEvent> rows = List.of(archived.get(2), archived.get(0), archived.get(1), archived.get(1));

        scheduled.clear();
        new RuleSchedulingTest.Replay(scheduled).run(rows);
        assertThat(scheduled)
                .containsExactlyInAnyOrderElementsOf(
                        List.of(streamed.get(0), streamed.get(1), streamed.get(1), streamed.get(2)));
    }

    @Test
    void anArchiveWithoutRevisionsIsReplayedWithTheRulesOfTheStart() {
        new Replay(scheduled).run(List.of());
        assertThat(instants()).containsExactly("start 1 @0");
        scheduled.clear();
        new Replay(scheduled)
                .run(List.of(RuleTexts.event(0, "b", RuleRevised.SET, RuleTexts.text("b", 1, "engine", 1), 700L)));
        assertThat(instants()).as("a revision nobody gave an instant").containsExactly("start 1 @0", "b 1 @700");
    }

    /** A replay with a rule to start with. */
    private record Replay(List<ScheduledRule> scheduled) {
        void run(List<LoggedEvent> rows) {
            new RuleScheduling(new SchedulingState(), new RuleScheduling.Output() {
                        @Override
                        public void scheduled(ScheduledRule rule) {
                            scheduled.add(rule);
                        }

                        @Override
                        public void archived(LoggedEvent event) {
                            assertThat(event.event()).isInstanceOf(RuleRevised.class);
                        }
                    })
                    .replay(rows, List.of(RuleTexts.bound(RuleTexts.text("start", 1, "engine", 1))));
        }
    }
}
