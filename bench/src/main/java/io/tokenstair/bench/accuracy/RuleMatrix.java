package io.tokenstair.bench.accuracy;

import io.tokenstair.cause.Cause;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleOracle;
import io.tokenstair.rule.library.RuleLibrary;
import io.tokenstair.simulate.Layers;
import io.tokenstair.simulate.Scenario;
import io.tokenstair.simulate.Simulation;
import io.tokenstair.simulate.TokenTruth;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Runs simulated engines through the analysis and prints what the built-in rules find in each. A rule is right where the truth has its
 * cause: in the scenarios that are made to show it, and where tokens are slow by it beside what the scenario is made for.
 */
@Command(name = "rule-matrix", description = "Which built-in rule matches on which simulated scenario.")
public final class RuleMatrix implements Callable<Integer> {
    /** By rule the scenarios that are made to show what it finds. */
    static final Map<String, Set<Scenario>> MADE_FOR = madeFor();

    /** By rule the causes of tokens that it may be about. */
    static final Map<String, Set<Cause>> TRUE_CAUSES = trueCauses();

    @Option(names = "--seed", paramLabel = "S", defaultValue = "1001", description = "the first one")
    long firstSeed = AttributionAccuracy.HELD_OUT_SEED;

    @Option(names = "--runs", paramLabel = "N", defaultValue = "3", description = "of each scenario")
    int runsPerScenario = 3;

    @Option(names = "--scenario", paramLabel = "NAME", description = "this one only; may be repeated")
    List<String> scenarioNames = new ArrayList<>();

    @Option(names = "--kinds", description = "also prints the milestones of each scenario by kind and cause")
    boolean kinds;

    @Spec
    @SuppressWarnings("NullAway.Init")
    CommandSpec spec;

    /**
     * What came of a run.
     *
     * @param tokens tokens that were made
     * @param milestones what the rules saw
     * @param matches matches by rule; rules without any are not in it
     * @param truth tokens by the cause that they are mainly slow by in truth
     */
    record Run(long tokens, List<Milestone> milestones, Map<String, Integer> matches, Map<Cause, Long> truth) {
        /** Tokens that are slow in truth by a cause that this rule may be about. */
        long trueTokens(String rule) {
            return TRUE_CAUSES.getOrDefault(rule, Set.of()).stream()
                    .mapToLong(cause -> truth.getOrDefault(cause, 0L))
                    .sum();
        }
    }

    /** Analyses a run of a scenario and matches the built-in rules. */
    static Run run(Scenario scenario, long seed) {
        Simulation simulation = Simulation.run(scenario, seed, scenario.defaultRequests(), Layers.ALL);
        LogAnalysis analysis = LogAnalysis.of(simulation.events());
        Map<String, Integer> matches = new TreeMap<>();
        for (BoundRule rule : RuleLibrary.builtIn().rules()) {
            int count = RuleOracle.matches(rule, analysis.milestones).size();
            if (count > 0) {
                matches.put(rule.id(), count);
            }
        }
        Map<Cause, Long> truth = new EnumMap<>(Cause.class);
        for (TokenTruth token : simulation.tokens()) {
            if (token.dominantCause() != null) {
                truth.merge(token.dominantCause(), 1L, Long::sum);
            }
        }
        return new Run(simulation.tokens().size(), analysis.milestones, matches, truth);
    }

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        out.printf(
                "%d runs of each scenario, from seed %d%n%n"
                        + "| scenario | rules it is made for | also matched | milestones per 1000 tokens |%n|---|---|---|---|%n",
                runsPerScenario, firstSeed);
        for (Scenario scenario : Scenario.values()) {
            if (scenarioNames.isEmpty() || scenarioNames.contains(scenario.scenarioName())) {
                print(out, scenario);
                out.flush();
            }
        }
        return 0;
    }

    private void print(PrintWriter out, Scenario scenario) {
        Map<String, Integer> matchedRuns = new TreeMap<>();
        Map<String, Long> trueTokens = new TreeMap<>();
        Map<String, Integer> byKind = new TreeMap<>();
        long tokens = 0;
        long milestones = 0;
        for (int i = 0; i < runsPerScenario; i++) {
            Run run = run(scenario, firstSeed + i);
            tokens += run.tokens();
            milestones += run.milestones().size();
            run.matches().keySet().forEach(rule -> matchedRuns.merge(rule, 1, Integer::sum));
            for (String rule : TRUE_CAUSES.keySet()) {
                trueTokens.merge(rule, run.trueTokens(rule), Long::sum);
            }
            for (Milestone milestone : run.milestones()) {
                String kind = milestone.milestoneKind()
                        + (milestone.requestId() == null ? " of the engine" : "")
                        + (milestone.cause() == null ? "" : " " + milestone.cause());
                byKind.merge(kind, 1, Integer::sum);
            }
        }
        StringBuilder made = new StringBuilder();
        StringBuilder also = new StringBuilder();
        for (BoundRule rule : RuleLibrary.builtIn().rules()) {
            String id = rule.id();
            int runs = matchedRuns.getOrDefault(id, 0);
            if (MADE_FOR.getOrDefault(id, Set.of()).contains(scenario)) {
                made.append(made.isEmpty() ? "" : ", ").append(id).append(' ').append(runs);
            } else if (runs > 0) {
                also.append(also.isEmpty() ? "" : ", ")
                        .append(id)
                        .append(' ')
                        .append(runs)
                        .append(" (")
                        .append(trueTokens.getOrDefault(id, 0L))
                        .append(')');
            }
        }
        out.printf(
                Locale.ROOT,
                "| %s | %s | %s | %.2f |%n",
                scenario.scenarioName(),
                made,
                also,
                tokens == 0 ? 0 : 1000.0 * milestones / tokens);
        if (kinds) {
            out.printf("  %s%n", byKind);
        }
    }

    private static Map<String, Set<Scenario>> madeFor() {
        Map<String, Set<Scenario>> made = new TreeMap<>();
        made.put("alloc-stall-with-sync", EnumSet.of(Scenario.ALLOC_STALL, Scenario.MIXED));
        made.put("batch-oscillation-felt", EnumSet.of(Scenario.BATCH_OSCILLATION));
        made.put("context-expansion-staircase", EnumSet.of(Scenario.KV_PRESSURE, Scenario.CONTEXT_STAIRCASE));
        made.put("decode-starved", EnumSet.of(Scenario.DECODE_STARVATION));
        made.put("driver-error-after-stall", EnumSet.of(Scenario.DRIVER_ERROR));
        made.put("first-use-jit", EnumSet.of(Scenario.JIT, Scenario.MIXED));
        made.put("gateway-buffering-felt", EnumSet.of(Scenario.GATEWAY_BUFFERING));
        made.put("graph-fallback", EnumSet.of(Scenario.GRAPH_FALLBACK, Scenario.EAGER));
        made.put("host-pause", EnumSet.of(Scenario.HOST_PAUSE, Scenario.EVENT_LOSS, Scenario.MIXED));
        made.put(
                "kv-pressure-then-recompute",
                EnumSet.of(
                        Scenario.KV_PRESSURE,
                        Scenario.PREEMPTION_LOOP,
                        Scenario.PREEMPTION_STORM,
                        Scenario.PRIORITY,
                        Scenario.OVERTAKEN));
        made.put("output-stall", EnumSet.of(Scenario.OUTPUT_STALL, Scenario.MIXED));
        made.put("overtaken-after-preemption", EnumSet.of(Scenario.OVERTAKEN));
        made.put("preemption-loop-begins", EnumSet.of(Scenario.PREEMPTION_LOOP));
        made.put("preemption-storm-begins", EnumSet.of(Scenario.PREEMPTION_STORM));
        made.put(
                "prefill-interference",
                EnumSet.of(
                        Scenario.PREFILL_INTERFERENCE,
                        Scenario.PREFIX_COLLAPSE,
                        Scenario.DUPLICATES_AND_REORDERING,
                        Scenario.MIXED,
                        Scenario.ASYNC_SCHEDULING,
                        Scenario.SEVERAL_SEQUENCES,
                        Scenario.DATA_PARALLEL));
        made.put("prefix-hit-collapse-begins", EnumSet.of(Scenario.PREFIX_COLLAPSE));
        made.put("priority-inversion", EnumSet.noneOf(Scenario.class));
        made.put("remote-kv-admission", EnumSet.of(Scenario.REMOTE_KV));
        made.put("seat-limit", EnumSet.of(Scenario.SEAT_LIMIT));
        made.put("thermal-slowdown", EnumSet.of(Scenario.THERMAL));
        made.put("token-budget-starvation", EnumSet.of(Scenario.BUDGET_STARVATION));
        made.put("ttft-breach", EnumSet.of(Scenario.QUEUE_WAIT, Scenario.SEAT_LIMIT, Scenario.KV_PRESSURE));
        return made;
    }

    private static Map<String, Set<Cause>> trueCauses() {
        Map<String, Set<Cause>> causes = new TreeMap<>();
        causes.put("alloc-stall-with-sync", EnumSet.of(Cause.ALLOC_STALL));
        causes.put("batch-oscillation-felt", EnumSet.of(Cause.BATCH_GROWTH));
        causes.put("context-expansion-staircase", EnumSet.of(Cause.KERNEL_SLOW));
        causes.put("decode-starved", EnumSet.of(Cause.DECODE_STARVED_BY_PREFILL));
        causes.put("driver-error-after-stall", EnumSet.of(Cause.DRIVER_ERROR));
        causes.put("first-use-jit", EnumSet.of(Cause.JIT_COMPILE));
        causes.put("gateway-buffering-felt", EnumSet.of(Cause.GATEWAY_BUFFERING));
        causes.put("graph-fallback", EnumSet.of(Cause.KERNEL_FALLBACK));
        causes.put("host-pause", EnumSet.of(Cause.HOST_PAUSE));
        for (String rule : List.of(
                "kv-pressure-then-recompute",
                "overtaken-after-preemption",
                "preemption-loop-begins",
                "preemption-storm-begins")) {
            causes.put(rule, EnumSet.of(Cause.PREEMPTION));
        }
        causes.put("output-stall", EnumSet.of(Cause.OUTPUT_STALL));
        causes.put("prefill-interference", EnumSet.of(Cause.PREFILL_INTERFERENCE));
        causes.put("prefix-hit-collapse-begins", EnumSet.of(Cause.PREFILL_INTERFERENCE));
        causes.put("priority-inversion", EnumSet.of(Cause.QUEUE_WAIT));
        causes.put("remote-kv-admission", EnumSet.of(Cause.REMOTE_KV_ADMISSION));
        causes.put("seat-limit", EnumSet.of(Cause.SEAT_LIMIT));
        causes.put("thermal-slowdown", EnumSet.of(Cause.THERMAL_CLOCK));
        causes.put("token-budget-starvation", EnumSet.of(Cause.TOKEN_BUDGET_STARVATION));
        causes.put("ttft-breach", EnumSet.of(Cause.QUEUE_WAIT, Cause.SEAT_LIMIT, Cause.KV_PRESSURE));
        return causes;
    }

    /** Prints the matrix. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new RuleMatrix()).execute(arguments));
    }
}
