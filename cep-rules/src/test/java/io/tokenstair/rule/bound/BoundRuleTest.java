package io.tokenstair.rule.bound;

import static io.tokenstair.milestone.MilestoneKind.PREEMPTED;
import static io.tokenstair.milestone.MilestoneKind.RECOMPUTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.cause.Cause;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.RuleException;
import io.tokenstair.rule.syntax.RuleParser;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a bound rule says and how it travels. */
class BoundRuleTest {
    private static final BoundRule RULE = RuleBinder.bind(RuleParser.parse("sample.yaml", """
            id: sample
            version: 3
            description: preempted, then computed again
            severity: warning
            cause: PREEMPTION
            key: request
            stages:
              - {name: preempted, kind: PREEMPTED}
              - {name: again, kind: RECOMPUTED, where: gap > preempted.gap}
            within: 100ms
            finding:
              - "{preempted.requestId} stopped at {preempted.kvUsedRatio} of KV, gap {preempted.gap}, token {preempted.tokenIndex}."
              - "It came back after {again.gap}."
              - "Both are of one request."
            """));

    private static final Milestone FIRST = Milestones.milestone(PREEMPTED, 0, 1, "r\u001b[31m\u202e", 950L);
    private static final Milestone SECOND = Milestones.milestone(RECOMPUTED, 50, 2, "r", 1_234_567_890L);

    @Test
    void eachSentenceCitesTheEventsOfTheStagesItNames() {
        assertThat(RULE.narrative(List.of(List.of(FIRST), List.of(SECOND))))
                .isEqualTo("r\\u{1b}[31m\\u{202e} stopped at 75.0 % of KV, gap 1.0 us, token unknown [c/1/1]."
                        + " It came back after 1.235 s [c/1/2]. Both are of one request [c/1/1, c/1/2].");
    }

    @Test
    void theCauseIsTheNamedOneOrThatOfTheMilestone() {
        BoundRule named = rule("{slowed.cause}", "cause in [\"QUEUE_WAIT\", \"SEAT_LIMIT\"]");

        assertThat(RULE.causeText()).isEqualTo("PREEMPTION");
        assertThat(RULE.cause(List.of(List.of(FIRST), List.of(SECOND)))).isEqualTo(Cause.PREEMPTION);
        assertThat(named.causeText()).isEqualTo("{slowed.cause}");
        for (RuleExample example : named.examples()) {
            for (RuleOracle.Match match : RuleOracle.matches(named, example.given())) {
                assertThat(named.cause(match.matched()).name()).isEqualTo(example.name());
            }
        }
        assertThat(named.examples()).hasSize(3);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "has(cause)",
                "gap > 1ms && cause == \"SEAT_LIMIT\"",
                "cause != \"QUEUE_WAIT\"",
                "cause in [\"QUEUE_WAIT\"]"
            })
    void aStageThatAsksForACauseNamesIt(String where) {
        assertThat(rule("{slowed.cause}", where).causeText()).isEqualTo("{slowed.cause}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"has(gap)", "gap > 1ms || has(cause)", "!has(cause)"})
    void aStageThatMayTakeAMilestoneWithoutACauseDoesNot(String where) {
        assertThatThrownBy(() -> rule("{slowed.cause}", where))
                .hasMessageContaining("Cannot take the cause from stage");
    }

    private static BoundRule rule(String cause, String where) {
        return RuleBinder.bind(RuleParser.parse("named.yaml", """
                id: named
                version: 1
                description: slow for whatever
                severity: warning
                cause: "%s"
                key: request
                stages:
                  - name: slowed
                    kind: SLOWED
                    where: |
                      %s
                within: 1s
                finding: "{slowed.requestId} is slow by {slowed.cause}."
                examples:
                  - name: QUEUE_WAIT
                    given:
                      - {kind: SLOWED, at: 0s, requestId: a, cause: QUEUE_WAIT}
                    expect: match
                  - name: SEAT_LIMIT
                    given:
                      - {kind: SLOWED, at: 0s, requestId: a, cause: SEAT_LIMIT}
                    expect: match
                  - name: none
                    given:
                      - {kind: SLOWED, at: 0s, requestId: a}
                    expect: no-match
                """.formatted(cause, where)));
    }

    @Test
    void sentenceCitesAtMostEightEvents() {
        List<String> evidence = IntStream.range(0, 11).mapToObj(i -> "c/1/" + i).toList();
        Milestone many = new Milestone(
                RECOMPUTED,
                0,
                null,
                1,
                "e0",
                "r",
                0,
                0,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                evidence);
        assertThat(RULE.narrative(List.of(List.of(FIRST), List.of(many))))
                .contains("after unknown [c/1/0, c/1/1, c/1/2, c/1/3, c/1/4, c/1/5, c/1/6, c/1/7 and 3 more].");
    }

    @Test
    void narrativeWantsWhatEachStageTook() {
        assertThatThrownBy(() -> RULE.narrative(List.of(List.of(FIRST))))
                .hasMessage("Cannot tell a match of 2 stages from what stages took: 1");
    }

    @Test
    void ruleTravelsAsItsTextAndMeansTheSameThere() throws IOException, ClassNotFoundException {
        BoundRule there = sent(RULE);
        List<Milestone> milestones = List.of(Milestones.milestone(PREEMPTED, 0, 1, "r", 5L), SECOND);
        assertThat(there.revision()).isEqualTo(3);
        assertThat(RuleOracle.matches(there, milestones)).hasSize(1).isEqualTo(RuleOracle.matches(RULE, milestones));
    }

    @Test
    void aTextIsBoundOnceInAProcessAndAnotherTextOrFileForItself() throws IOException, ClassNotFoundException {
        BoundRule there = sent(RULE);
        String text = RULE.source().text();
        assertThat(sent(RULE)).isSameAs(there).isSameAs(RuleBinder.bind("sample.yaml", text));
        BoundRule revised = RuleBinder.bind("sample.yaml", text.replace("version: 3", "version: 4"));
        assertThat(revised.revision()).isEqualTo(4);
        assertThat(RuleBinder.bind("other.yaml", text).source().file()).isEqualTo("other.yaml");
    }

    @Test
    void allWhoAskAtOnceGetTheSameRule() {
        String text = RULE.source().text();
        assertThat(IntStream.range(0, 64)
                        .parallel()
                        .mapToObj(i -> RuleBinder.bind("at-once.yaml", text))
                        .distinct())
                .hasSize(1);
    }

    @Test
    void rulesThatWereGivenUpAreBoundAgain() {
        String text = RULE.source().text();
        BoundRule first = RuleBinder.bind("given-up.yaml", text);
        for (int i = 0; i < LatelyBound.MAX_RULES; i++) {
            RuleBinder.bind("given-up-" + i + ".yaml", text);
        }
        BoundRule again = RuleBinder.bind("given-up.yaml", text);
        assertThat(again).isNotSameAs(first);
        assertThat(again.source().text()).isEqualTo(text);
    }

    @Test
    void aTextThatIsNoRuleIsRefusedEachTime() {
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> RuleBinder.bind("none.yaml", "id: none"))
                    .isInstanceOf(RuleException.class)
                    .hasMessageContaining("none.yaml");
        }
    }

    private static BoundRule sent(BoundRule rule) throws IOException, ClassNotFoundException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(rule);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            return (BoundRule) in.readObject();
        }
    }
}
