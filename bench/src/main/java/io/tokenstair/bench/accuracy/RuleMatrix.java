package io.tokenstair.bench.accuracy;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleOracle;
import io.tokenstair.rule.library.RuleLibrary;
import io.tokenstair.simulate.Layers;
import io.tokenstair.simulate.Scenario;
import io.tokenstair.simulate.Simulation;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Runs simulated engines through the analysis and prints what the built-in rules find in each, against what the truth of the same run
 * contains. Exits with 1 where a cell is wrong.
 */
@Command(
        name = "rule-matrix",
        description = "Which built-in rule matches on which simulated scenario, and whether it is to.")
public final class RuleMatrix implements Callable<Integer> {
    @Option(names = "--seed", paramLabel = "S", defaultValue = "4001", description = "the first one")
    long firstSeed = 4_001;

    @Option(names = "--runs", paramLabel = "N", defaultValue = "3", description = "of each scenario")
    int runsPerScenario = 3;

    @Option(names = "--scenario", paramLabel = "NAME", description = "this one only; may be repeated")
    List<String> scenarioNames = new ArrayList<>();

    @Option(names = "--kinds", description = "also prints the milestones of each scenario by kind and cause")
    boolean kinds;

    @Spec
    @SuppressWarnings("NullAway.Init")
    CommandSpec spec;

    /** A rule against the truth of a run. */
    enum Verdict {
        /** The truth has it clearly and the rule matches. */
        FOUND,
        /** The truth has it near a limit: the rule may match. */
        NEAR_AND_MATCHED,
        /** The same, and it is silent. */
        NEAR_AND_SILENT,
        /** The truth has nothing of it and the rule is silent. */
        SILENT,
        /** Wrong: the truth has it clearly and the rule is silent. */
        MISSED,
        /** Wrong: the truth has nothing of it and the rule matches. */
        FALSE_ALARM;

        static Verdict of(RuleTruth.Contained contained, boolean matched) {
            if (contained.clear() > 0) {
                return matched ? FOUND : MISSED;
            }
            if (contained.possible() > 0) {
                return matched ? NEAR_AND_MATCHED : NEAR_AND_SILENT;
            }
            return matched ? FALSE_ALARM : SILENT;
        }

        boolean isWrong() {
            return this == MISSED || this == FALSE_ALARM;
        }
    }

    /**
     * What came of a run.
     *
     * @param tokens tokens that were made
     * @param milestones what the rules saw
     * @param matches matches by rule; rules without any are not in it
     * @param contained what the truth has, by rule
     */
    record Run(
            long tokens,
            List<Milestone> milestones,
            Map<String, Integer> matches,
            Map<String, RuleTruth.Contained> contained) {
        Verdict verdict(String rule) {
            return Verdict.of(contained.getOrDefault(rule, new RuleTruth.Contained(0, 0)), matches.containsKey(rule));
        }
    }

    /** Analyses a run of a scenario and matches the built-in rules. */
    static Run run(Scenario scenario, long seed) {
        Simulation simulation = Simulation.run(scenario, seed, scenario.defaultRequests(), Layers.ALL);
        LogAnalysis analysis = LogAnalysis.of(simulation.events());
        Map<String, Integer> matches = new TreeMap<>();
        Map<String, RuleTruth.Contained> contained = new TreeMap<>();
        for (BoundRule rule : RuleLibrary.builtIn().rules()) {
            int count = RuleOracle.matches(rule, analysis.milestones).size();
            if (count > 0) {
                matches.put(rule.id(), count);
            }
        }
        RuleTruth.OF_RULE.forEach((rule, truth) -> contained.put(rule, truth.apply(simulation)));
        return new Run(simulation.tokens().size(), analysis.milestones, matches, contained);
    }

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        out.printf(
                "%d runs of each scenario, from seed %d%n%n"
                        + "| scenario | contains, and the rule matched | near a limit, and the rule matched | wrong"
                        + " | milestones per 1000 tokens |%n|---|---|---|---|---|%n",
                runsPerScenario, firstSeed);
        TreeSet<String> named = new TreeSet<>();
        int wrong = 0;
        for (Scenario scenario : Scenario.values()) {
            if (scenarioNames.isEmpty() || scenarioNames.contains(scenario.scenarioName())) {
                wrong += print(out, scenario, named);
                out.flush();
            }
        }
        TreeSet<String> nowhere = new TreeSet<>(RuleTruth.OF_RULE.keySet());
        nowhere.removeAll(named);
        out.printf("%n%d wrong cells; rules that no run contains clearly: %s%n", wrong, nowhere);
        return wrong == 0 ? 0 : 1;
    }

    private int print(PrintWriter out, Scenario scenario, TreeSet<String> named) {
        List<Run> runs = new ArrayList<>();
        for (int i = 0; i < runsPerScenario; i++) {
            runs.add(run(scenario, firstSeed + i));
        }
        List<String> contains = new ArrayList<>();
        List<String> near = new ArrayList<>();
        List<String> wrong = new ArrayList<>();
        for (String rule : RuleTruth.OF_RULE.keySet()) {
            long clear = 0;
            int clearRuns = 0;
            int found = 0;
            int nearMatched = 0;
            for (int i = 0; i < runs.size(); i++) {
                RuleTruth.Contained contained = runs.get(i).contained().get(rule);
                Verdict verdict = runs.get(i).verdict(rule);
                clear += contained == null ? 0 : contained.clear();
                clearRuns += verdict == Verdict.FOUND || verdict == Verdict.MISSED ? 1 : 0;
                found += verdict == Verdict.FOUND ? 1 : 0;
                nearMatched += verdict == Verdict.NEAR_AND_MATCHED ? 1 : 0;
                if (verdict.isWrong()) {
                    wrong.add((verdict == Verdict.MISSED ? "missed " : "false ") + rule + " (seed " + (firstSeed + i)
                            + ")");
                }
            }
            if (clearRuns > 0) {
                named.add(rule);
                contains.add(rule + " " + clear + ": " + found + " of " + clearRuns);
            }
            if (nearMatched > 0) {
                near.add(rule + " " + nearMatched);
            }
        }
        long tokens = runs.stream().mapToLong(Run::tokens).sum();
        long milestones =
                runs.stream().mapToLong(run -> run.milestones().size()).sum();
        out.printf(
                Locale.ROOT,
                "| %s | %s | %s | %s | %.2f |%n",
                scenario.scenarioName(),
                String.join(", ", contains),
                String.join(", ", near),
                String.join(", ", wrong),
                tokens == 0 ? 0 : 1000.0 * milestones / tokens);
        if (kinds) {
            out.printf("  %s%n", byKind(runs));
        }
        return wrong.size();
    }

    private static Map<String, Integer> byKind(List<Run> runs) {
        Map<String, Integer> byKind = new TreeMap<>();
        for (Run run : runs) {
            for (Milestone milestone : run.milestones()) {
                String kind = milestone.milestoneKind()
                        + (milestone.requestId() == null ? " of the engine" : "")
                        + (milestone.cause() == null ? "" : " " + milestone.cause());
                byKind.merge(kind, 1, Integer::sum);
            }
        }
        return byKind;
    }

    /** Prints the matrix. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new RuleMatrix()).execute(arguments));
    }
}
