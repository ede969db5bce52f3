package io.tokenstair.bench.accuracy;

import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.job.step.StepExpectation;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

/**
 * How well the step time is expected: on simulated engines with measured kernel tables, on the recorded runs beside an offline fit
 * that has seen all of the run, and on profiled kernels. Prints the tables of docs/accuracy.md.
 */
public final class StepTimeAccuracy {
    private static final int FIRST_SEED = 7_000;
    private static final int SIMULATED_STEPS = 12_000;

    private StepTimeAccuracy() {}

    /** {@code simulated [SEEDS]}, {@code captures FOLDER}, or {@code kernels FOLDER}. */
    public static void main(String[] args) throws IOException, WireException {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        String what = args.length == 0 ? "" : args[0];
        switch (what) {
            case "simulated" -> simulated(out, args.length > 1 ? Integer.parseInt(args[1]) : 3);
            case "captures" -> captures(out, Path.of(args.length > 1 ? args[1] : "captures"));
            case "kernels" -> KernelProfiles.print(out, args.length > 1 ? Path.of(args[1]) : null);
            default -> {
                out.println("usage: StepTimeAccuracy simulated [SEEDS] | captures [FOLDER] | kernels [FOLDER]");
                System.exit(2);
            }
        }
    }

    // ---- simulated engines

    /** The engines that are simulated: each table with graphs reported, graphs not reported, and eager. */
    static List<SimulatedSteps.Engine> engines() {
        List<SimulatedSteps.Engine> engines = new ArrayList<>();
        for (GemmTable table : GemmTable.values()) {
            for (double noise : new double[] {0.01, 0.02}) {
                engines.add(new SimulatedSteps.Engine(table, true, true, noise, 256));
                engines.add(new SimulatedSteps.Engine(table, true, false, noise, 256));
                engines.add(new SimulatedSteps.Engine(table, false, true, noise, 256));
            }
        }
        return engines;
    }

    /**
     * What was expected of one engine.
     *
     * @param decodeOnly errors of decode-only steps
     * @param floor errors that someone who knows the engine would make on the same steps
     * @param prompts errors of steps with prompt tokens
     * @param unseen errors of decode-only steps whose batch size or graph mode was new
     */
    record Simulated(ErrorSum decodeOnly, ErrorSum floor, ErrorSum prompts, ErrorSum unseen, int versions) {}

    /** Judges and learns the steps of an engine, over so many seeds from the first. */
    static Simulated simulate(SimulatedSteps.Engine engine, int steps, int firstSeed, int seeds) {
        ErrorSum decodeOnly = new ErrorSum();
        ErrorSum floor = new ErrorSum();
        ErrorSum prompts = new ErrorSum();
        ErrorSum unseen = new ErrorSum();
        int versions = 0;
        for (int seed = firstSeed; seed < firstSeed + seeds; seed++) {
            ModelRun run = new ModelRun();
            for (SimulatedSteps.Step step : SimulatedSteps.of(engine, steps, seed)) {
                if (run.knows(step.load())) {
                    StepExpectation expectation = run.expect(step.load());
                    boolean ofPrompts = step.load().promptTokens() > 0;
                    (ofPrompts ? prompts : decodeOnly).add(expectation.expectedNanos(), step.stepNanos());
                    if (!ofPrompts) {
                        floor.add(step.meanNanos(), step.stepNanos());
                        if (expectation.basis() != StepExpectation.Basis.LEARNT) {
                            unseen.add(expectation.expectedNanos(), step.stepNanos());
                        }
                    }
                }
                run.learn(step.load(), step.stepNanos());
            }
            versions += run.versions();
        }
        return new Simulated(decodeOnly, floor, prompts, unseen, versions);
    }

    private static void simulated(PrintStream out, int seeds) {
        out.println(
                "| table | graphs | noise | decode-only: steps, MAPE %, p95 % | knowing the engine % | with prompts: steps,"
                        + " MAPE % | size not seen: steps, MAPE % | versions per 1000 steps |");
        out.println("|---|---|---|---|---|---|---|---|");
        for (SimulatedSteps.Engine engine : engines()) {
            Simulated done = simulate(engine, SIMULATED_STEPS, FIRST_SEED, seeds);
            out.printf(
                    Locale.ROOT,
                    "| %s | %s | %.0f %% | %d, %.2f, %.2f | %.2f | %d, %.2f | %d, %.2f | %.0f |%n",
                    engine.table(),
                    !engine.graphs() ? "eager" : engine.reported() ? "reported" : "not reported",
                    100 * engine.noise(),
                    done.decodeOnly().count(),
                    done.decodeOnly().meanPercent(),
                    done.decodeOnly().quantilePercent(0.95),
                    done.floor().meanPercent(),
                    done.prompts().count(),
                    done.prompts().meanPercent(),
                    done.unseen().count(),
                    done.unseen().count() == 0 ? 0 : done.unseen().meanPercent(),
                    1e3 * done.versions() / seeds / SIMULATED_STEPS);
        }
    }

    // ---- recorded runs

    /**
     * One recorded run, decode-only steps, judged by the product before it learnt them, beside offline fits over the same steps.
     *
     * @param online what the product expected
     * @param line offline: fixed, per sequence, per resident token
     * @param table offline: a constant per batch size, per resident token
     * @param prompts steps with prompt tokens, by the product
     */
    record Recorded(ErrorSum online, ErrorSum line, ErrorSum table, ErrorSum prompts) {
        /** Online error over that of the better offline fit. */
        double ratio() {
            return online.meanPercent() / Math.min(line.meanPercent(), table.meanPercent());
        }
    }

    /** Judges a recorded run. */
    static Recorded recorded(List<StepAnalysis> steps) {
        ErrorSum online = new ErrorSum();
        ErrorSum prompts = new ErrorSum();
        List<StepAnalysis> decodeOnly = new ArrayList<>();
        TreeSet<Integer> sizes = new TreeSet<>();
        for (StepAnalysis step : steps) {
            if (step.batchSequences() == 0 || step.stepNanos() <= 0) {
                continue;
            }
            boolean ofPrompts = step.prefillTokens() + step.recomputeTokens() > 0;
            Long expected = step.expectedNanos();
            if (!ofPrompts) {
                decodeOnly.add(step);
                sizes.add(step.batchSequences());
            }
            if (expected != null && !"prompts-unknown".equals(step.expectedBasis())) {
                (ofPrompts ? prompts : online).add(expected, step.stepNanos());
            }
        }
        List<Integer> rows = new ArrayList<>(sizes);
        int count = decodeOnly.size();
        double[] nanos = new double[count];
        double[][] line = new double[count][];
        double[][] table = new double[count][];
        for (int i = 0; i < count; i++) {
            StepAnalysis step = decodeOnly.get(i);
            nanos[i] = step.stepNanos();
            line[i] = new double[] {1, step.batchSequences(), step.residentTokens()};
            table[i] = new double[rows.size() + 1];
            table[i][rows.indexOf(step.batchSequences())] = 1;
            table[i][rows.size()] = step.residentTokens();
        }
        return new Recorded(online, judged(decodeOnly, line, nanos), judged(decodeOnly, table, nanos), prompts);
    }

    private static ErrorSum judged(List<StepAnalysis> steps, double[][] regressors, double[] nanos) {
        double[] fitted = RobustFit.fitted(regressors, nanos);
        ErrorSum errors = new ErrorSum();
        for (int i = 0; i < fitted.length; i++) {
            if (steps.get(i).expectedNanos() != null) {
                errors.add(fitted[i], nanos[i]);
            }
        }
        return errors;
    }

    private static void captures(PrintStream out, Path folder) throws IOException, WireException {
        out.println(
                "| run | decode-only steps | online MAPE %, median % | offline line % | offline table % | online over the"
                        + " better one | with prompts: steps, MAPE % |");
        out.println("|---|---|---|---|---|---|---|");
        for (String name : CaptureSteps.names(folder)) {
            Recorded run = recorded(CaptureSteps.of(folder.resolve(name)));
            out.printf(
                    Locale.ROOT,
                    "| %s | %d | %.1f, %.1f | %.1f | %.1f | %.2f | %d, %.1f |%n",
                    name,
                    run.online().count(),
                    run.online().meanPercent(),
                    run.online().quantilePercent(0.5),
                    run.line().meanPercent(),
                    run.table().meanPercent(),
                    run.ratio(),
                    run.prompts().count(),
                    run.prompts().meanPercent());
        }
    }
}
