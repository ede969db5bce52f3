package io.tokenstair.simulate;

import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.log.FolderLogWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code simulate}: a run of an engine that does not exist, as a log, with the truth beside it. */
@Command(
        name = "tokenstair simulate",
        description = {
            "Simulates an inference engine and writes what its collectors would log to DIR/log,",
            "and the truth about every token to DIR/truth, which nothing of Tokenstair reads.",
            "The same scenario, seed and number of requests give the same bytes.",
            ""
        },
        customSynopsis = {
            "tokenstair simulate --scenario NAME --seed N [--requests N] [--layers all|basic] --out DIR",
            "       tokenstair simulate --list"
        },
        footer = {
            "",
            "Exit codes: 0 done; 2 wrong usage or a folder that cannot be written.",
            "",
            "Example:",
            "  tokenstair simulate --scenario kv-pressure --seed 7 --out /tmp/sim",
            "  tokenstair run --once --from /tmp/sim/log --archive /tmp/sim/results"
        })
public final class SimulateMain implements Callable<Integer> {
    private static final int DONE = 0;
    private static final int UNUSABLE = 2;
    private static final int MOST_REQUESTS = 5_000;

    @Spec
    private CommandSpec spec;

    @Option(names = "--scenario", paramLabel = "NAME", description = "What happens; --list shows the names.")
    private @Nullable String scenarioName;

    @Option(names = "--seed", paramLabel = "N", description = "Which of all such runs; any whole number.")
    private @Nullable Long seed;

    @Option(
            names = "--requests",
            paramLabel = "N",
            description = "Requests, 1 to 5000 (default: as the scenario needs).")
    private @Nullable Integer requests;

    @Option(names = "--layers", paramLabel = "L", description = "all, or basic: steps, waits, flags and chunks only.")
    private String layersName = Layers.ALL.layersName();

    @Option(names = "--out", paramLabel = "DIR", description = "Where to write; new or empty.")
    private @Nullable Path out;

    @Option(names = "--list", description = "List the scenarios, one a line.")
    private boolean list;

    @Option(names = "--debug", description = "Show stack traces.")
    private boolean debug;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli reads it.
    private boolean help;

    @SuppressWarnings("NullAway.Init") // picocli sets the fields.
    private SimulateMain() {}

    /** What is wrong with the command line, in one line. */
    private static final class UsageException extends Exception {
        private static final long serialVersionUID = 1L;

        UsageException(String problem) {
            super(problem);
        }
    }

    /** Runs the command and exits with its code. */
    public static void main(String[] args) {
        PrintWriter out = new PrintWriter(System.out, true, Charset.defaultCharset());
        PrintWriter err = new PrintWriter(System.err, true, Charset.defaultCharset());
        System.exit(run(out, err, args));
    }

    /** Runs the command and returns its exit code. */
    public static int run(PrintWriter out, PrintWriter err, String... args) {
        CommandLine commandLine = new CommandLine(new SimulateMain())
                .setOut(out)
                .setErr(err)
                .setParameterExceptionHandler((problem, given) -> {
                    problem.getCommandLine()
                            .getErr()
                            .println("simulate: " + firstLine(problem) + "; see tokenstair simulate --help");
                    return UNUSABLE;
                });
        if (args.length == 0) {
            commandLine.usage(out);
            return UNUSABLE;
        }
        return commandLine.execute(args);
    }

    private static String firstLine(Exception problem) {
        String message = String.valueOf(problem.getMessage());
        return message.lines().findFirst().orElse(message);
    }

    @Override
    public Integer call() {
        PrintWriter err = spec.commandLine().getErr();
        try {
            if (list) {
                for (Scenario scenario : Scenario.values()) {
                    spec.commandLine()
                            .getOut()
                            .println(String.format(
                                    Locale.ROOT, "%-26s %s", scenario.scenarioName(), scenario.description()));
                }
                return DONE;
            }
            simulate();
            return DONE;
        } catch (UsageException e) {
            return failed(err, "simulate: " + e.getMessage() + "; see tokenstair simulate --help", e);
        } catch (AccessDeniedException e) {
            return failed(err, e.getMessage() + ": no permission to write; name another folder with --out", e);
        } catch (FileAlreadyExistsException e) {
            return failed(err, e.getMessage() + ": a file, not a folder; name a new folder with --out", e);
        } catch (IOException e) {
            return failed(err, e.getMessage() + ": cannot be written; check the file system and try again", e);
        }
    }

    private int failed(PrintWriter err, String message, Exception cause) {
        err.println(message);
        if (debug) {
            cause.printStackTrace(err);
        }
        return UNUSABLE;
    }

    private void simulate() throws UsageException, IOException {
        if (scenarioName == null) {
            throw new UsageException("--scenario NAME is missing");
        }
        Scenario scenario = Scenario.named(scenarioName);
        if (scenario == null) {
            throw new UsageException(
                    "unknown scenario: " + shown(scenarioName) + ", tokenstair simulate --list shows the names");
        }
        if (seed == null) {
            throw new UsageException("--seed N is missing");
        }
        if (out == null) {
            throw new UsageException("--out DIR is missing");
        }
        int count = requests == null ? scenario.defaultRequests() : requests;
        if (count < 1 || count > MOST_REQUESTS) {
            throw new UsageException("--requests must be 1 to " + MOST_REQUESTS + ", not " + count);
        }
        Layers layers = layers();
        refuseUsed(out);
        Simulation run = Simulation.run(scenario, seed, count, layers);
        Path log = out.resolve("log");
        Files.createDirectories(log);
        try (FolderLogWriter writer = new FolderLogWriter(log, 0)) {
            for (LoggedEvent event : run.events()) {
                writer.append(EventCodec.encode(event));
            }
        }
        new TruthFolder(out.resolve("truth")).write(run);
        PrintWriter printed = spec.commandLine().getOut();
        printed.println(String.format(
                Locale.ROOT,
                "%s, seed %d: %d requests, %d tokens, %d slow, %d records",
                scenario.scenarioName(),
                seed,
                count,
                run.tokens().size(),
                run.tokens().stream()
                        .filter(token -> token.dominantCause() != null)
                        .count(),
                run.events().size()));
    }

    private Layers layers() throws UsageException {
        for (Layers layers : Layers.values()) {
            if (layers.layersName().equals(layersName)) {
                return layers;
            }
        }
        throw new UsageException("--layers must be all or basic, not " + shown(layersName));
    }

    private static void refuseUsed(Path folder) throws UsageException, IOException {
        if (Files.exists(folder) && !Files.isDirectory(folder)) {
            throw new UsageException(folder + " is a file; name a new folder with --out");
        }
        if (Files.isDirectory(folder)) {
            try (Stream<Path> inside = Files.list(folder)) {
                if (inside.findAny().isPresent()) {
                    throw new UsageException(folder + " is not empty; name a new folder with --out");
                }
            }
        }
    }

    private static String shown(String text) {
        String printable = text.codePoints()
                .limit(80)
                .mapToObj(point -> Character.isISOControl(point) ? "?" : Character.toString(point))
                .reduce("", String::concat);
        return '"' + printable + '"';
    }
}
