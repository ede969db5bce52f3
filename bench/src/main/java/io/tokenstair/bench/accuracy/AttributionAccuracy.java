package io.tokenstair.bench.accuracy;

import io.tokenstair.cause.Cause;
import io.tokenstair.simulate.Layers;
import io.tokenstair.simulate.Scenario;
import io.tokenstair.simulate.Simulation;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Lets the product judge simulated runs, whose truth is known, and prints the tables of docs/accuracy.md. */
@Command(
        name = "attribution-accuracy",
        description = "How often the cause that is said of a slow token is the true one, on simulated runs.")
public final class AttributionAccuracy implements Callable<Integer> {
    /** The product was worked on with seeds 1 to 3; figures are taken on seeds from here on. */
    static final long HELD_OUT_SEED = 1_001;

    @Option(names = "--layers", paramLabel = "L", defaultValue = "all", description = "all or basic")
    String layersName = "all";

    @Option(names = "--seed", paramLabel = "S", defaultValue = "1001", description = "the first one")
    long firstSeed = HELD_OUT_SEED;

    @Option(names = "--runs", paramLabel = "N", defaultValue = "3", description = "of each scenario")
    int runsPerScenario = 3;

    @Option(names = "--requests", paramLabel = "N", description = "a run; each scenario's own number by default")
    @Nullable
    Integer requests;

    @Option(names = "--scenario", paramLabel = "NAME", description = "this one only; may be repeated")
    List<String> scenarioNames = new ArrayList<>();

    @Spec
    @SuppressWarnings("NullAway.Init")
    CommandSpec spec;

    /** Runs scenarios and counts. */
    static AttributionScore score(
            Layers layers, List<Scenario> scenarios, long firstSeed, int runsPerScenario, @Nullable Integer requests) {
        AttributionScore score = new AttributionScore(layers);
        for (Scenario scenario : scenarios) {
            int count = requests == null ? scenario.defaultRequests() : requests;
            for (int i = 0; i < runsPerScenario; i++) {
                Simulation run = Simulation.run(scenario, firstSeed + i, count, layers);
                score.add(scenario, run, LogAnalysis.of(run.events()));
            }
        }
        return score;
    }

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        Layers layers = layersName.equals(Layers.BASIC.layersName()) ? Layers.BASIC : Layers.ALL;
        List<Scenario> scenarios = new ArrayList<>();
        for (Scenario scenario : Scenario.values()) {
            if (scenarioNames.isEmpty() || scenarioNames.contains(scenario.scenarioName())) {
                scenarios.add(scenario);
            }
        }
        print(out, score(layers, scenarios, firstSeed, runsPerScenario, requests));
        out.flush();
        return 0;
    }

    private void print(PrintWriter out, AttributionScore score) {
        out.printf(
                Locale.ROOT,
                "layers %s, %d runs from seed %d, %d tokens%n%n",
                score.layers.layersName(),
                score.runs,
                firstSeed,
                score.tokens);
        out.printf("| figure | |%n|---|---|%n");
        out.printf(Locale.ROOT, "| cause at rank 1 | %.4f of %d tokens |%n", score.all.share(), score.all.compared);
        double sum = 0;
        int scenarios = 0;
        for (AttributionScore.Count count : score.byScenario.values()) {
            sum += count.compared == 0 ? 0 : count.share();
            scenarios += count.compared == 0 ? 0 : 1;
        }
        out.printf(
                Locale.ROOT,
                "| mean over the %d scenarios with such tokens | %.4f |%n",
                scenarios,
                scenarios == 0 ? 1 : sum / scenarios);
        out.printf(
                Locale.ROOT,
                "| mean over the %d true causes | %.4f |%n",
                score.confusion.size(),
                score.meanOverCauses());
        out.printf(
                Locale.ROOT,
                "| slow in truth, not called slow | %.2f %% of %d |%n",
                score.slowInTruth == 0 ? 0 : 100.0 * score.all.missed / score.slowInTruth,
                score.slowInTruth);
        out.printf(Locale.ROOT, "| tokens whose parts do not sum exactly | %d |%n", score.inexact);
        out.printf(Locale.ROOT, "| left out: slow by what lasts to the end | %d |%n", score.leftOut);
        out.printf(Locale.ROOT, "| left out: their steps were lost | %d |%n", score.notAnalysed);

        long blamed = 0;
        long rightly = 0;
        for (AttributionScore.Count count : score.culprits.values()) {
            blamed += count.compared;
            rightly += count.right;
        }
        out.printf(
                Locale.ROOT,
                "| culprit at rank 1, where the cause is right and another request did it | %.4f of %d tokens |%n",
                blamed == 0 ? 1 : (double) rightly / blamed,
                blamed);

        out.printf("%n| cause with a culprit | tokens | the true culprit said | none said |%n|---|---|---|---|%n");
        score.culprits.forEach((cause, count) -> out.printf(
                Locale.ROOT, "| %s | %d | %.3f | %d |%n", cause, count.compared, count.share(), count.missed));

        out.printf(
                "%n| scenario | compared | rank 1 | not called slow | usual in truth, called slow |%n|---|---|---|---|---|%n");
        score.byScenario.forEach((scenario, count) -> out.printf(
                Locale.ROOT,
                "| %s | %d | %s | %d | %d of %d |%n",
                scenario.scenarioName(),
                count.compared,
                count.compared == 0 ? "" : String.format(Locale.ROOT, "%.3f", count.share()),
                count.missed,
                count.usualCalledSlow,
                count.usual));

        out.printf("%n| true cause | tokens | said |%n|---|---|---|%n");
        score.confusion.forEach((truth, said) -> {
            long total = said.values().stream().mapToLong(Long::longValue).sum();
            StringBuilder list = new StringBuilder();
            said.entrySet().stream()
                    .sorted(Map.Entry.<Cause, Long>comparingByValue().reversed())
                    .forEach(entry -> list.append(list.isEmpty() ? "" : ", ")
                            .append(entry.getKey() == truth ? "**" + entry.getKey() + "**" : entry.getKey())
                            .append(' ')
                            .append(entry.getValue()));
            out.printf("| %s | %d | %s |%n", truth, total, list);
        });

        printFindings(out, score);
    }

    /** Runs of each scenario in which each finding was said; in bold those that are made to show it. */
    private static void printFindings(PrintWriter out, AttributionScore score) {
        out.printf("%n| scenario |");
        AttributionScore.FINDINGS.keySet().forEach(cause -> out.printf(" %s |", cause));
        out.printf("%n|---|%s%n", "---|".repeat(AttributionScore.FINDINGS.size()));
        for (Scenario scenario : score.byScenario.keySet()) {
            StringBuilder row = new StringBuilder();
            boolean any = false;
            for (Map.Entry<Cause, Set<Scenario>> made : AttributionScore.FINDINGS.entrySet()) {
                int found = score.runsWithFinding
                        .getOrDefault(made.getKey(), Map.of())
                        .getOrDefault(scenario, 0);
                boolean wanted = made.getValue().contains(scenario);
                any |= found > 0 || wanted;
                row.append(wanted ? " **" + found + "** |" : found == 0 ? "  |" : " " + found + " |");
            }
            if (any) {
                out.printf("| %s |%s%n", scenario.scenarioName(), row);
            }
        }
    }

    /** Prints the tables. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new AttributionAccuracy()).execute(arguments));
    }
}
