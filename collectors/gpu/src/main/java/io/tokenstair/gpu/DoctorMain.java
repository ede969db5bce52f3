package io.tokenstair.gpu;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code tokenstair doctor}. */
@Command(
        name = "tokenstair doctor",
        sortOptions = false,
        description = "What this machine has and lacks, and what to do.",
        footer = {"", "Example:", "  tokenstair doctor --format json"})
public final class DoctorMain implements Callable<Integer> {

    private static final String GREEN = "\u001b[32m";
    private static final String YELLOW = "\u001b[33m";
    private static final String DIM = "\u001b[2m";
    private static final String PLAIN = "\u001b[0m";

    /** How the answer is printed. */
    enum Format {
        text,
        json
    }

    /**
     * The answer as JSON.
     *
     * @param ready true when nothing is missing
     * @param checks in the order of the text
     * @param gpu what the driver answered
     */
    record Report(boolean ready, List<Check> checks, GpuState gpu) {}

    @Option(names = "--format", paramLabel = "text|json", description = "how to print it (default: text)")
    private Format format = Format.text;

    @Option(names = "--help", usageHelp = true, description = "print this")
    @SuppressWarnings("UnusedVariable") // read by picocli, which prints the help itself
    private boolean help;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private CommandSpec spec;

    private DoctorMain() {}

    /** Runs the command: exit 0, or 2 for a wrong use. */
    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        return new CommandLine(new DoctorMain()).setParameterExceptionHandler((problem, arguments) -> {
            problem.getCommandLine()
                    .getErr()
                    .println("tokenstair doctor: " + problem.getMessage() + ". See: tokenstair doctor --help");
            return CommandLine.ExitCode.USAGE;
        });
    }

    @Override
    public Integer call() throws JsonProcessingException {
        GpuState gpu = GpuProbe.ofThisMachine().detect();
        List<Check> checks = new Doctor(Path.of("").toAbsolutePath(), gpu).checks();
        PrintWriter out = spec.commandLine().getOut();
        if (format == Format.json) {
            boolean ready = checks.stream().noneMatch(check -> check.status() == Check.Status.MISSING);
            out.println(new ObjectMapper().writeValueAsString(new Report(ready, checks, gpu)));
        } else {
            out.print(text(checks, coloured()));
        }
        out.flush();
        return CommandLine.ExitCode.OK;
    }

    static String text(List<Check> checks, boolean coloured) {
        int width =
                checks.stream().mapToInt(check -> check.name().length()).max().orElse(0);
        StringBuilder text = new StringBuilder();
        int missing = 0;
        for (Check check : checks) {
            String mark = switch (check.status()) {
                case OK -> coloured ? GREEN + "ok     " + PLAIN : "ok     ";
                case MISSING -> coloured ? YELLOW + "missing" + PLAIN : "missing";
                case OPTIONAL -> coloured ? DIM + "-      " + PLAIN : "-      ";
            };
            text.append(mark)
                    .append("  ")
                    .append(check.name())
                    .append(" ".repeat(width - check.name().length() + 2))
                    .append(check.found())
                    .append('\n');
            if (check.advice() != null) {
                text.append(" ".repeat(9 + width + 2))
                        .append("-> ")
                        .append(check.advice())
                        .append('\n');
            }
            missing += check.status() == Check.Status.MISSING ? 1 : 0;
        }
        text.append(missing == 0 ? "\nReady: ./tokenstair demo\n" : "\nMissing: " + missing + ", see above.\n");
        return text.toString();
    }

    private static boolean coloured() {
        String noColour = System.getenv("NO_COLOR");
        return Boolean.getBoolean("tokenstair.terminal") && (noColour == null || noColour.isEmpty());
    }
}
