package io.tokenstair.collector;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tokenstair.collector.reach.Engine;
import io.tokenstair.collector.reach.FoundServer;
import io.tokenstair.collector.reach.LogLook;
import io.tokenstair.collector.reach.Look;
import io.tokenstair.collector.reach.Looks;
import io.tokenstair.collector.reach.PortLook;
import io.tokenstair.collector.reach.Seen;
import io.tokenstair.collector.reach.UsualPorts;
import io.tokenstair.gpu.Check;
import io.tokenstair.gpu.Doctor;
import io.tokenstair.gpu.GpuProbe;
import io.tokenstair.gpu.GpuState;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code tokenstair doctor}: what this machine has, what runs on it, and what collectors of a file can reach. */
@Command(
        name = "tokenstair doctor",
        sortOptions = false,
        description = {
            "What this machine has and lacks, what runs on it that can be collected from,",
            "and what to do. With --config: whether all that collectors need can be reached.",
            "Sends no prompt."
        },
        footer = {
            "",
            "Exit codes: 0 done; 1 done, and --fail-on found such; 2 wrong usage or unreadable input.",
            "",
            "Examples:",
            "  tokenstair doctor",
            "  tokenstair doctor --config collect.yaml --fail-on failed"
        })
public final class DoctorMain implements Callable<Integer> {

    /** How the answer is printed. */
    enum Format {
        text,
        json
    }

    /** The worst that is borne, to exit with 0. */
    enum FailOn {
        warning,
        failed
    }

    /**
     * The answer as JSON.
     *
     * @param ready true when nothing is missing and nothing failed
     * @param checks of the machine, in the order of the text; absent with a file
     * @param gpu what the driver answered; absent with a file
     * @param running what was found at the usual ports; absent with a file
     * @param commands what to type to collect from it; absent with a file
     * @param reach what the collectors of a file need; absent without a file
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Report(
            boolean ready,
            @Nullable List<Check> checks,
            @Nullable GpuState gpu,
            @Nullable List<AtPort> running,
            @Nullable List<String> commands,
            @Nullable List<ReachRow> reach) {}

    /**
     * Who is at a usual port of 127.0.0.1, as JSON.
     *
     * @param port its number
     * @param usually whom it usually belongs to
     * @param taken true when somebody takes connections there
     * @param found who, in words
     * @param engine which engine; absent where none is known
     * @param version its version; absent where it does not say
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record AtPort(
            int port,
            String usually,
            boolean taken,
            String found,
            @Nullable String engine,
            @Nullable String version) {
        static AtPort of(UsualPorts.Found found) {
            FoundServer server = found.server();
            return new AtPort(
                    found.usual().port(),
                    found.usual().whose(),
                    found.isTaken(),
                    found.found(),
                    server == null ? null : server.engine().name().toLowerCase(Locale.ROOT),
                    server == null ? null : server.version());
        }
    }

    private final List<Collector> known;
    private final List<UsualPorts.Usual> usualPorts;
    private final Supplier<GpuState> gpu;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "look at what the collectors of this file need, and at nothing else")
    private @Nullable Path config;

    @Option(
            names = "--to",
            paramLabel = "LOG",
            description = "the log, instead of what the file says; in the commands shown")
    private @Nullable String to;

    @Option(names = "--format", paramLabel = "text|json", description = "how to print it (default: text)")
    private Format format = Format.text;

    @Option(
            names = "--fail-on",
            paramLabel = "warning|failed",
            description = "exit 1 where something is so bad, or worse; what is missing counts as failed")
    private @Nullable FailOn failOn;

    @Option(names = "--help", usageHelp = true, description = "print this")
    @SuppressWarnings("UnusedVariable") // read by picocli, which prints the help itself
    private boolean help;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private CommandSpec spec;

    private DoctorMain(List<Collector> known, List<UsualPorts.Usual> usualPorts, Supplier<GpuState> gpu) {
        this.known = known;
        this.usualPorts = usualPorts;
        this.gpu = gpu;
    }

    /** Runs the command: exit 0, 1 where it is asked for, or 2 for a wrong use. */
    public static void main(String[] arguments) {
        CommandLine line = commandLine(
                Collectors.all(), UsualPorts.ALL, () -> GpuProbe.ofThisMachine().detect());
        System.exit(line.execute(arguments));
    }

    static CommandLine commandLine(List<Collector> known, List<UsualPorts.Usual> usualPorts, Supplier<GpuState> gpu) {
        return new CommandLine(new DoctorMain(known, usualPorts, gpu))
                .setParameterExceptionHandler(
                        (problem, arguments) -> refuse(problem.getCommandLine(), String.valueOf(problem.getMessage())));
    }

    private static int refuse(CommandLine line, String problem) {
        line.getErr()
                .println("tokenstair doctor: " + problem.replace("\n", "\ntokenstair doctor: ")
                        + (problem.endsWith("?") ? "" : ".") + " See: tokenstair doctor --help");
        line.getErr().flush();
        return CommandLine.ExitCode.USAGE;
    }

    @Override
    public Integer call() throws JsonProcessingException, InterruptedException {
        Path file = config;
        if (file == null) {
            return machine();
        }
        List<ReachRow> rows;
        try {
            rows = reach(ConfigFile.read(file, known, to));
        } catch (CollectorException unusable) {
            return refuse(spec.commandLine(), String.valueOf(unusable.getMessage()));
        }
        boolean ready = rows.stream().noneMatch(row -> row.status() == Seen.Status.FAILED);
        print(new Report(ready, null, null, null, null, rows), () -> DoctorText.reach(rows, colours(), width()));
        return exit(ready, rows.stream().anyMatch(row -> row.status() == Seen.Status.WARNING));
    }

    private List<ReachRow> reach(Plan plan) throws CollectorException, InterruptedException {
        List<ReachRow> rows = new ArrayList<>();
        List<Look> looks = new ArrayList<>();
        List<String> collectors = new ArrayList<>();
        looks.add(LogLook.at(plan.to()));
        collectors.add("");
        String page = plan.metricsListen();
        if (page != null) {
            String address = Plan.metricsAddress(page);
            looks.add(PortLook.at(Plan.METRICS_LISTEN, OptionKind.host(address), OptionKind.port(address)));
            collectors.add("");
        }
        for (Plan.Planned planned : plan.collectors()) {
            for (Look look : planned.collector().looks(planned.values())) {
                looks.add(look);
                collectors.add(planned.name());
            }
        }
        List<Seen> seen = Looks.all(looks, Looks.DEADLINE);
        for (int i = 0; i < looks.size(); i++) {
            rows.add(ReachRow.of(collectors.get(i), looks.get(i), seen.get(i)));
        }
        return rows;
    }

    private int machine() throws JsonProcessingException, InterruptedException {
        CompletableFuture<GpuState> driver = CompletableFuture.supplyAsync(gpu);
        List<UsualPorts.Found> running = UsualPorts.look(usualPorts);
        GpuState state;
        try {
            state = driver.get();
        } catch (ExecutionException failed) {
            throw new CompletionException("Cannot ask for a GPU", failed);
        }
        List<Check> checks = new Doctor(Path.of("").toAbsolutePath(), state).checks();
        List<String> commands = commands(running);
        boolean ready = checks.stream().noneMatch(check -> check.status() == Check.Status.MISSING);
        print(
                new Report(
                        ready, checks, state, running.stream().map(AtPort::of).toList(), commands, null),
                () -> DoctorText.machine(checks, colours(), width())
                        + DoctorText.running(running, commands, colours(), width()));
        return exit(ready, false);
    }

    /** What to type to collect from what was found. */
    private List<String> commands(List<UsualPorts.Found> running) {
        String log = to != null ? to : "./log";
        for (UsualPorts.Found found : running) {
            FoundServer server = found.server();
            if (to == null && server != null && server.engine() == Engine.KAFKA) {
                log = "kafka://127.0.0.1:" + found.usual().port() + "/tokenstair";
            }
        }
        List<String> commands = new ArrayList<>();
        for (UsualPorts.Found found : running) {
            FoundServer server = found.server();
            if (server != null) {
                for (Collector collector : known) {
                    String options = collector.optionsFor(server);
                    if (options != null) {
                        commands.add("tokenstair collect " + collector.type() + " --to " + log + " " + options);
                    }
                }
            }
        }
        boolean otlpFree =
                running.stream().noneMatch(found -> found.usual().kind() == UsualPorts.Kind.OTLP && found.isTaken());
        if (otlpFree && !commands.isEmpty()) {
            commands.add("tokenstair collect otlp --to " + log);
        }
        return commands;
    }

    private void print(Report report, Supplier<String> text) throws JsonProcessingException {
        PrintWriter out = spec.commandLine().getOut();
        if (format == Format.json) {
            out.println(new ObjectMapper().writeValueAsString(report));
        } else {
            out.print(text.get());
        }
        out.flush();
    }

    private int exit(boolean ready, boolean warned) {
        boolean fails = failOn != null && (!ready || (failOn == FailOn.warning && warned));
        return fails ? 1 : CommandLine.ExitCode.OK;
    }

    private static boolean colours() {
        String noColour = System.getenv("NO_COLOR");
        return Boolean.getBoolean("tokenstair.terminal") && (noColour == null || noColour.isEmpty());
    }

    private static int width() {
        String columns = System.getenv("COLUMNS");
        return columns != null && columns.matches("\\d{2,4}") ? Math.max(60, Integer.parseInt(columns)) : 80;
    }
}
