package io.tokenstair.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Measures the whole job beside one that only ships tokens. All variants run in one process and take turns, so that they meet the
 * same machine; compare ratios and processor time per token, never bare speeds of different days.
 */
@Command(
        name = "bench",
        description = "Measures the whole job over a synthetic fleet in memory, beside a job that only ships tokens.",
        footer = {"", "Example:", "  bench/run.sh --tokens 8000000 --parallelism 1 --variants noop,job"})
public final class WholeJobBench implements Callable<Integer> {
    @Option(names = "--tokens", paramLabel = "N", defaultValue = "10000000", description = "output tokens in all")
    long tokens;

    @Option(names = "--batch", paramLabel = "B", defaultValue = "64", description = "sequences per step")
    int sequencesPerStep;

    @Option(names = "--requests", paramLabel = "R", defaultValue = "10000", description = "requests open at once")
    int requests;

    @Option(
            names = "--parallelism",
            paramLabel = "P",
            split = ",",
            defaultValue = "1,2",
            description = "subtasks; several, one after the other")
    List<Integer> parallelisms = List.of();

    @Option(names = "--repetitions", paramLabel = "K", defaultValue = "3", description = "after the warm-ups")
    int repetitions;

    @Option(
            names = "--warm-ups",
            paramLabel = "W",
            defaultValue = "3",
            description = "runs of every variant that are not counted: most compiling is done in them")
    int warmUps;

    @Option(
            names = "--variants",
            paramLabel = "V",
            split = ",",
            defaultValue = "noop,noop-tokens,job,job+raw,job+raw+tokens",
            description =
                    "of noop, noop-tokens, job, job-rules, job+30rules, job+30rules+explosive, job+30rules+reload, cep-raw, job+raw, job+raw+tokens")
    List<String> variants = List.of();

    @Option(
            names = "--checkpoint-millis",
            paramLabel = "T",
            defaultValue = "0",
            description = "take checkpoints that often, and say how large they and the heap are; 0 for none")
    long checkpointMillis;

    @Option(names = "--each", description = "print every run too")
    boolean each;

    @Option(
            names = "--gaps",
            description = "print the longest gap of each subtask too, which a thread looks for every 2 ms; with --each")
    boolean gaps;

    @Option(names = "--host-samples", description = "sample the engines' threads too: steps wait for core records")
    boolean hostSamples;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "show this help")
    boolean help;

    @Spec
    CommandSpec spec;

    @SuppressWarnings("NullAway.Init") // picocli sets the spec
    WholeJobBench() {}

    /** Runs the measurement. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new WholeJobBench()).execute(arguments));
    }

    @Override
    public Integer call() throws Exception {
        List<Variant> chosen = variants.stream().map(Variant::of).toList();
        PrintWriter print = spec.commandLine().getOut();
        print.println(machine());
        Path scratch = Files.createTempDirectory("tokenstair-bench");
        for (int parallelism : parallelisms) {
            Fleet fleet = Fleet.of(new FleetSize(tokens, sequencesPerStep, requests, parallelism, hostSamples));
            print.printf(
                    Locale.ROOT,
                    "%nparallelism %d: %d tokens, %d engines of %d sequences, %.1f log bytes per token%s%n",
                    parallelism,
                    fleet.size().exactTokens(),
                    fleet.size().engines(),
                    sequencesPerStep,
                    (double) fleet.bytes() / fleet.size().exactTokens(),
                    hostSamples ? ", with core records" : "");
            print.flush();
            try (FleetRun run = new FleetRun(fleet, parallelism, scratch, checkpointMillis, gaps)) {
                measure(fleet, run, chosen, print);
            }
        }
        Files.delete(scratch);
        return 0;
    }

    private void measure(Fleet fleet, FleetRun run, List<Variant> chosen, PrintWriter print) throws Exception {
        Map<Variant, List<Measurement>> measured = new EnumMap<>(Variant.class);
        for (int repetition = -warmUps; repetition < repetitions; repetition++) {
            for (Variant variant : chosen) {
                System.gc();
                Measurement measurement = run.of(variant);
                if (measurement.tokens() != fleet.size().exactTokens()) {
                    throw new IllegalStateException("Cannot trust a run of " + variant.variantName() + " with "
                            + measurement.tokens() + " tokens of "
                            + fleet.size().exactTokens());
                }
                if (each) {
                    print.printf(
                            Locale.ROOT,
                            "%s %d: cpu %.0f, of it jit %.0f, gc %.0f ns/token; %.2f M tokens/s; longest pause %d ms, %d revisions%n",
                            variant.variantName(),
                            repetition,
                            measurement.cpuNanosPerToken(),
                            measurement.compilerNanosPerToken(),
                            measurement.collectorNanosPerToken(),
                            measurement.millionTokensPerSecond(),
                            measurement.longestPauseMillis(),
                            measurement.revisions());
                    if (gaps) {
                        print.println("  longest gap of a subtask, ms: "
                                + measurement.subtaskGapMillis().entrySet().stream()
                                        .map(gap -> gap.getKey() + " " + gap.getValue())
                                        .collect(Collectors.joining(", ")));
                    }
                    print.flush();
                }
                if (repetition >= 0) {
                    measured.computeIfAbsent(variant, key -> new ArrayList<>()).add(measurement);
                }
            }
        }
        print.println(
                "variant          M tokens/s min / median / max   cpu ns/token  jit   gc  over noop  over noop-tokens  slow %  B/token");
        for (Variant variant : chosen) {
            List<Measurement> runs = measured.getOrDefault(variant, List.of());
            if (!runs.isEmpty()) {
                print.println(line(variant, runs, measured));
            }
        }
        if (checkpointMillis > 0) {
            for (Map.Entry<Variant, List<Measurement>> runs : measured.entrySet()) {
                runs.getValue().forEach(one -> print.println(state(runs.getKey(), one)));
            }
        }
        print.println("load " + load());
        print.flush();
    }

    private String state(Variant variant, Measurement run) {
        return String.format(
                Locale.ROOT,
                "%s: %d checkpoints, the largest %.1f MB, %.0f bytes per open request; heap after collection %.0f MB beside the log",
                variant.variantName(),
                run.state().checkpoints(),
                run.state().checkpointBytes() / 1e6,
                (double) run.state().checkpointBytes() / requests,
                run.state().heapBytes() / 1e6);
    }

    private static String line(Variant variant, List<Measurement> runs, Map<Variant, List<Measurement>> measured) {
        double[] speeds = sorted(
                runs.stream().mapToDouble(Measurement::millionTokensPerSecond).toArray());
        Measurement last = runs.get(runs.size() - 1);
        return String.format(
                Locale.ROOT,
                "%-16s %11.2f / %6.2f / %5.2f %14.0f %4.0f %4.0f %10s %17s  %6.2f  %7.1f",
                variant.variantName(),
                speeds[0],
                median(speeds),
                speeds[speeds.length - 1],
                median(runs, Measurement::cpuNanosPerToken),
                median(runs, Measurement::compilerNanosPerToken),
                median(runs, Measurement::collectorNanosPerToken),
                speedOver(measured.getOrDefault(Variant.NOOP, List.of()), runs),
                speedOver(measured.getOrDefault(Variant.NOOP_TOKENS, List.of()), runs),
                100.0 * last.slowTokens() / last.tokens(),
                (double) last.archiveBytes() / last.tokens());
    }

    /** The median of the ratios of speed, each of one repetition; "-" where the other was not run. */
    private static String speedOver(List<Measurement> others, List<Measurement> runs) {
        if (others.isEmpty()) {
            return "-";
        }
        double[] ratios = new double[runs.size()];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = runs.get(i).millionTokensPerSecond() / others.get(i).millionTokensPerSecond();
        }
        return String.format(Locale.ROOT, "%.2f", median(ratios));
    }

    private static double median(List<Measurement> runs, ToDoubleFunction<Measurement> figure) {
        return median(runs.stream().mapToDouble(figure).toArray());
    }

    private static double[] sorted(double[] values) {
        double[] copy = values.clone();
        java.util.Arrays.sort(copy);
        return copy;
    }

    private static double median(double[] values) {
        double[] inOrder = sorted(values);
        int half = inOrder.length / 2;
        return inOrder.length % 2 == 1 ? inOrder[half] : (inOrder[half - 1] + inOrder[half]) / 2;
    }

    private static String load() {
        return String.format(
                Locale.ROOT,
                "%.1f",
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }

    private static String machine() {
        return Runtime.getRuntime().availableProcessors() + " cores, " + processor() + ", "
                + System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version") + ", heap "
                + (Runtime.getRuntime().maxMemory() >> 20) + " MiB, load " + load();
    }

    /** The processor's name where the system tells it, else its architecture. */
    private static String processor() {
        Path info = Path.of("/proc/cpuinfo");
        try {
            for (String line : Files.readAllLines(info, StandardCharsets.UTF_8)) {
                if (line.startsWith("model name")) {
                    return line.substring(line.indexOf(':') + 1).strip();
                }
            }
        } catch (IOException e) {
            // Only Linux has it.
        }
        return System.getProperty("os.arch");
    }
}
