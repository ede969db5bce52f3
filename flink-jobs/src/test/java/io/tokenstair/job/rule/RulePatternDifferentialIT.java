package io.tokenstair.job.rule;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.RandomRules;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.MilestoneOrder;
import io.tokenstair.rule.bound.RuleOracle;
import io.tokenstair.rule.library.RuleLibrary;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** flink-cep finds exactly what the oracle says, in both modes, at any parallelism, in any order of arrival. */
class RulePatternDifferentialIT {
    private static final int SEQUENCES = 200;
    private static final long LATENESS_MILLIS = 5;
    private static final int RULES = 16;

    @ParameterizedTest
    @CsvSource({"STREAMING, 1, 11", "STREAMING, 4, 12", "BATCH, 2, 11"})
    void cepFindsWhatTheOracleSays(RuntimeExecutionMode mode, int parallelism, int seed) throws Exception {
        List<BoundRule> rules = new ArrayList<>(RandomRules.rules(seed, RULES));
        rules.addAll(RuleLibrary.builtIn().rules());
        List<Milestone> milestones = new ArrayList<>();
        IntStream.range(0, SEQUENCES)
                .forEach(i -> milestones.addAll(RandomRules.milestones(seed * 10_000L + i, "e" + i, false)));
        Collections.shuffle(milestones, new Random(seed));

        List<String> expected = expected(rules, milestones);
        assertThat(expected).as("the rules meet the milestones").hasSizeGreaterThan(SEQUENCES);
        // Arrival is shuffled over the whole input: nothing may be late.
        assertThat(run(
                        mode,
                        parallelism,
                        milestones,
                        rules,
                        WatermarkStrategy.forBoundedOutOfOrderness(Duration.ofHours(1))))
                .isEqualTo(expected);
    }

    @Test
    void whatTheWatermarkHasPassedTakesNoPart() throws Exception {
        List<BoundRule> rules = RandomRules.rules(13, RULES);
        Random random = new Random(13);
        Map<Milestone, Long> arrival = new IdentityHashMap<>();
        IntStream.range(0, SEQUENCES)
                .forEach(i -> RandomRules.milestones(130_000L + i, "e" + i, false)
                        .forEach(milestone ->
                                arrival.put(milestone, milestone.coarseEpochMillis() + random.nextInt(12))));
        List<Milestone> milestones = arrival.keySet().stream()
                .sorted(Comparator.comparing((Milestone milestone) -> arrival.getOrDefault(milestone, 0L))
                        .thenComparing(new MilestoneOrder()))
                .toList();
        List<Milestone> inTime = new ArrayList<>();
        long watermark = Long.MIN_VALUE;
        for (Milestone milestone : milestones) {
            if (milestone.coarseEpochMillis() > watermark) {
                inTime.add(milestone);
            }
            watermark = Math.max(watermark, milestone.coarseEpochMillis() - LATENESS_MILLIS);
        }
        assertThat(milestones.size() - inTime.size()).as("late ones").isGreaterThan(100);

        List<String> expected = expected(rules, inTime);
        assertThat(expected).isNotEqualTo(expected(rules, milestones));
        assertThat(run(
                        RuntimeExecutionMode.STREAMING,
                        1,
                        milestones,
                        rules,
                        WatermarkStrategy.forGenerator(context -> new WatermarkPerMilestone())))
                .isEqualTo(expected);
    }

    private static List<String> expected(List<BoundRule> rules, List<Milestone> milestones) {
        return rules.stream()
                .flatMap(rule -> RuleOracle.matches(rule, milestones).stream()
                        .map(match -> rule.id() + " " + match.key() + " " + match.matched()))
                .sorted()
                .toList();
    }

    private static List<String> run(
            RuntimeExecutionMode mode,
            int parallelism,
            List<Milestone> milestones,
            List<BoundRule> rules,
            WatermarkStrategy<Milestone> watermarks)
            throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(PipelineOptions.GENERIC_TYPES, false);
        configuration.set(PipelineOptions.AUTO_GENERATE_UIDS, false);
        configuration.set(ExecutionOptions.RUNTIME_MODE, mode);
        // Each rule is an exchange of its own here, or two: more than the default has buffers for.
        configuration.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(256));
        configuration.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(256));
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment(configuration);
        environment.setParallelism(parallelism);
        DataStream<Milestone> input = environment
                .fromData(TypeInformation.of(Milestone.class), milestones.toArray(Milestone[]::new))
                .uid("milestones")
                .assignTimestampsAndWatermarks(
                        watermarks.withTimestampAssigner((milestone, before) -> milestone.coarseEpochMillis()))
                .uid("event-time");
        CollectedMatches sink = new CollectedMatches(mode + "-" + parallelism + "-" + milestones.size());
        RuleMatches.of(input, rules).sinkTo(sink).uid("collect");
        environment.execute();
        return sink.matches().stream()
                .map(match -> match.ruleId() + " " + match.key() + " " + match.matched())
                .sorted()
                .toList();
    }

    /** A watermark after each milestone, so that what is late is the same in every run. */
    private static final class WatermarkPerMilestone implements WatermarkGenerator<Milestone> {
        @Override
        public void onEvent(Milestone milestone, long epochMillis, WatermarkOutput output) {
            output.emitWatermark(new Watermark(epochMillis - LATENESS_MILLIS));
        }

        @Override
        public void onPeriodicEmit(WatermarkOutput output) {}
    }
}
