package io.tokenstair.job.rule;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.RandomRules;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleOracle;
import io.tokenstair.rule.library.RuleLibrary;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** flink-cep finds exactly what the oracle says, in both modes, at any parallelism, in any order of arrival. */
class RulePatternDifferentialIT {
    private static final int SEQUENCES = 300;
    private static final int RULES = 9;

    @ParameterizedTest
    @CsvSource({"STREAMING, 1, 11", "STREAMING, 4, 12", "BATCH, 2, 11"})
    void cepFindsWhatTheOracleSays(RuntimeExecutionMode mode, int parallelism, int seed) throws Exception {
        List<BoundRule> rules = new ArrayList<>(RandomRules.rules(seed, RULES));
        rules.addAll(RuleLibrary.builtIn().rules());
        List<Milestone> milestones = new ArrayList<>();
        IntStream.range(0, SEQUENCES)
                .forEach(i -> milestones.addAll(RandomRules.milestones(seed * 10_000L + i, "e" + i, false)));
        Collections.shuffle(milestones, new Random(seed));

        List<String> expected = new ArrayList<>();
        for (BoundRule rule : rules) {
            List<RuleOracle.Match> matches = RuleOracle.matches(rule, milestones);
            matches.forEach(match -> expected.add(rule.id() + " " + match.key() + " " + match.matched()));
        }
        assertThat(expected).as("the rules meet the milestones").hasSizeGreaterThan(SEQUENCES);

        List<String> found = new ArrayList<>();
        for (RuleMatch match : run(mode, parallelism, milestones, rules)) {
            found.add(match.ruleId() + " " + match.key() + " " + match.matched());
        }
        Collections.sort(expected);
        Collections.sort(found);
        assertThat(found).isEqualTo(expected);
    }

    private static List<RuleMatch> run(
            RuntimeExecutionMode mode, int parallelism, List<Milestone> milestones, List<BoundRule> rules)
            throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(PipelineOptions.GENERIC_TYPES, false);
        configuration.set(PipelineOptions.AUTO_GENERATE_UIDS, false);
        configuration.set(ExecutionOptions.RUNTIME_MODE, mode);
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment(configuration);
        environment.setParallelism(parallelism);
        DataStream<Milestone> input = environment
                .fromData(TypeInformation.of(Milestone.class), milestones.toArray(Milestone[]::new))
                .uid("milestones")
                // Arrival is shuffled over the whole input: nothing may be late.
                .assignTimestampsAndWatermarks(
                        WatermarkStrategy.<Milestone>forBoundedOutOfOrderness(Duration.ofHours(1))
                                .withTimestampAssigner((milestone, before) -> milestone.coarseEpochMillis()))
                .uid("event-time");
        CollectedMatches sink = new CollectedMatches(mode + "-" + parallelism);
        RuleMatches.of(input, rules).sinkTo(sink).uid("collect");
        environment.execute();
        return List.copyOf(sink.matches());
    }
}
