package io.tokenstair.rule.bound;

import static io.tokenstair.milestone.MilestoneKind.PREEMPTED;
import static io.tokenstair.milestone.MilestoneKind.RECOMPUTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.syntax.RuleParser;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

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
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(RULE);
        }
        BoundRule there;
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            there = (BoundRule) in.readObject();
        }
        List<Milestone> milestones = List.of(Milestones.milestone(PREEMPTED, 0, 1, "r", 5L), SECOND);
        assertThat(there.revision()).isEqualTo(3);
        assertThat(RuleOracle.matches(there, milestones)).hasSize(1).isEqualTo(RuleOracle.matches(RULE, milestones));
    }
}
