package io.tokenstair.job.rule;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.job.JobEnvironment;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.RandomRules;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.library.RuleLibrary;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Matches that have begun when the job is stopped end after it was restored: the state of flink-cep, rule by rule. */
class RuleMatchesHarnessTest {
    private static final int SEQUENCES = 60;
    private static final int RESTORE_EVERY = 37;

    @Test
    void aRestoreInTheMiddleOfMatchesChangesNone() throws Exception {
        List<Milestone> milestones = new ArrayList<>();
        IntStream.range(0, SEQUENCES)
                .forEach(i -> milestones.addAll(RandomRules.milestones(110_000L + i, "e" + i, false)));
        milestones.sort(Comparator.comparingLong(milestone -> milestone.coarseEpochMillis()));
        List<BoundRule> rules = new ArrayList<>(RandomRules.rules(11, 24));
        rules.addAll(RuleLibrary.builtIn().rules());
        // One operator each; what follows where a rule may go several ways has a harness of its own.
        rules.removeIf(rule -> !RulePattern.hasOneWay(rule));

        int matches = 0;
        for (BoundRule rule : rules) {
            List<String> whole = matches(rule, milestones, Integer.MAX_VALUE);
            assertThat(matches(rule, milestones, RESTORE_EVERY)).as(rule.id()).isEqualTo(whole);
            matches += whole.size();
        }
        assertThat(matches).as("the rules meet the milestones").isGreaterThan(SEQUENCES / 2);
    }

    private static List<String> matches(BoundRule rule, List<Milestone> milestones, int restoreEvery) throws Exception {
        List<String> said = new ArrayList<>();
        KeyedOneInputStreamOperatorTestHarness<String, Milestone, RuleMatch> harness =
                harness(rule, milestones.get(0), null);
        int fed = 0;
        for (Milestone milestone : milestones) {
            boolean takesPart = rule.seesEveryKind() || rule.milestoneKinds().contains(milestone.milestoneKind());
            if (!takesPart || rule.key().of(milestone) == null) {
                continue;
            }
            harness.processElement(new StreamRecord<>(milestone, milestone.coarseEpochMillis()));
            fed++;
            if (fed % 10 == 0) {
                harness.processWatermark(milestone.coarseEpochMillis() - 1);
            }
            if (fed % restoreEvery == 0) {
                OperatorSubtaskState stopped = harness.snapshot(fed, fed);
                take(harness, said);
                harness.close();
                harness = harness(rule, milestones.get(0), stopped);
            }
        }
        harness.processWatermark(Long.MAX_VALUE);
        take(harness, said);
        harness.close();
        Collections.sort(said);
        return said;
    }

    private static void take(
            KeyedOneInputStreamOperatorTestHarness<String, Milestone, RuleMatch> harness, List<String> said) {
        harness.extractOutputValues().forEach(match -> said.add(match.key() + " " + match.matched()));
        harness.getOutput().clear();
    }

    /** The operator of a rule, as the job has it. */
    @SuppressWarnings("unchecked") // a transformation forgets its types
    private static KeyedOneInputStreamOperatorTestHarness<String, Milestone, RuleMatch> harness(
            BoundRule rule, Milestone some, @Nullable OperatorSubtaskState restored) throws Exception {
        StreamExecutionEnvironment environment = JobEnvironment.local(RuntimeExecutionMode.STREAMING, 1);
        OneInputTransformation<Milestone, RuleMatch> operator =
                (OneInputTransformation<Milestone, RuleMatch>) RuleMatches.of(
                                environment
                                        .fromData(TypeInformation.of(Milestone.class), some)
                                        .uid("milestones"),
                                List.of(rule))
                        .getTransformation();
        KeyedOneInputStreamOperatorTestHarness<String, Milestone, RuleMatch> harness =
                new KeyedOneInputStreamOperatorTestHarness<>(
                        operator.getOperatorFactory(),
                        (KeySelector<Milestone, String>) operator.getStateKeySelector(),
                        Types.STRING,
                        JobEnvironment.MAX_PARALLELISM,
                        1,
                        0);
        harness.setup();
        if (restored != null) {
            harness.initializeState(restored);
        }
        harness.open();
        return harness;
    }
}
