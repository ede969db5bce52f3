package io.tokenstair.look;

import java.io.OutputStream;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The reading commands of the command line: findings, explain, view. */
@Command(
        name = "tokenstair",
        description = "Reads the results of an archive.",
        footer = {"", "Example:", "  tokenstair findings --archive out"})
public final class LookMain implements Runnable {
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
        CommandProcess.end(LookMain::run, arguments);
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
        CommandLine commandLine = new CommandLine(new LookMain())
                .addSubcommand(new FindingsCommand(output))
                .addSubcommand(new ExplainCommand(output))
                .addSubcommand(new ViewCommand(output));
        return CommandFailures.toldIn(commandLine, out, err).execute(arguments);
    }

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "Missing command: findings, explain or view");
    }
}
