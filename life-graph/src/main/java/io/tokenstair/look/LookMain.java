package io.tokenstair.look;

import io.tokenstair.look.archive.UnusableInputException;
import io.tokenstair.look.text.Terminal;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The reading commands of the command line: findings, explain, view. */
@Command(
        name = "tokenstair",
        description = "Reads the results of an archive.",
        footer = {"", "Example:", "  tokenstair findings --archive out"})
public final class LookMain implements Runnable {
    /** Wrong usage or unreadable input. */
    static final int UNUSABLE = 2;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    @CommandLine.Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help and exit.")
    @SuppressWarnings("UnusedVariable") // picocli prints the help when it sees the option
    private boolean helpAsked;

    private LookMain() {}

    /** Runs one command and ends the process with its exit code. */
    public static void main(String[] arguments) {
        int exitCode = run(
                arguments,
                new FileOutputStream(FileDescriptor.out),
                new FileOutputStream(FileDescriptor.err),
                System.getenv());
        System.exit(exitCode);
    }

    /**
     * Runs one command.
     *
     * @param arguments the command's name and options
     * @param out standard output
     * @param err standard error
     * @param environment environment variables: NO_COLOR, TERM, COLUMNS, LANG
     * @return 0, 1 or 2, as the command line's contract says
     */
    static int run(String[] arguments, OutputStream out, OutputStream err, Map<String, String> environment) {
        CommandOutput output = CommandOutput.ofProcess(out, environment);
        PrintStream errors = new PrintStream(err, true, StandardCharsets.UTF_8);
        CommandLine commandLine = new CommandLine(new LookMain())
                .addSubcommand(new FindingsCommand(output))
                .addSubcommand(new ExplainCommand(output))
                .addSubcommand(new ViewCommand(output))
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setOut(new PrintWriter(out, true, StandardCharsets.UTF_8))
                .setErr(new PrintWriter(err, true, StandardCharsets.UTF_8))
                .setParameterExceptionHandler((failure, given) -> {
                    String command = failure.getCommandLine().getCommandSpec().qualifiedName();
                    errors.println(oneLine(failure.getMessage()) + ". See: " + command + " --help");
                    return UNUSABLE;
                })
                .setExecutionExceptionHandler((failure, command, given) -> {
                    errors.println(oneLine(failure.getMessage()));
                    if (wantsTrace(command)) {
                        failure.printStackTrace(errors);
                    } else if (!(failure instanceof UnusableInputException)) {
                        errors.println("This is a fault of the program. Run again with --debug to see where.");
                    }
                    return UNUSABLE;
                });
        commandLine.getSubcommands().values().forEach(command -> command.setCaseInsensitiveEnumValuesAllowed(true));
        return commandLine.execute(arguments);
    }

    private static boolean wantsTrace(CommandLine command) {
        CommandLine.Model.CommandSpec options =
                command.getCommandSpec().mixins().get("options");
        return options != null && options.userObject() instanceof ReadingOptions reading && reading.debug();
    }

    private static String oneLine(@Nullable String message) {
        List<String> lines = message == null ? List.of() : message.lines().toList();
        return lines.isEmpty() ? "Cannot go on: unknown reason" : Terminal.safe(lines.get(0));
    }

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "Missing command: findings, explain or view");
    }
}
