package io.tokenstair.look.otlp;

import io.tokenstair.look.CommandFailures;
import io.tokenstair.look.CommandOutput;
import io.tokenstair.look.CommandProcess;
import java.io.OutputStream;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command that gives an archive to other tools. */
@Command(
        name = "tokenstair export",
        description = "Gives an archive to other tools.",
        synopsisSubcommandLabel = "FORM",
        footer = {"", "Example:", "  tokenstair export otlp --archive out --to http://127.0.0.1:4318"})
public final class ExportMain implements Runnable {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help and exit.")
    @SuppressWarnings("UnusedVariable") // picocli prints the help when it sees the option
    private boolean helpAsked;

    private ExportMain() {}

    /** Exports once and ends the process with its exit code. */
    public static void main(String[] arguments) {
        CommandProcess.end(ExportMain::run, arguments);
    }

    /**
     * Exports once.
     *
     * @param arguments the form and its options
     * @param out standard output
     * @param err standard error
     * @param environment environment variables: NO_COLOR, TERM, COLUMNS, LANG
     * @return 0 or 2, as the command line's contract says
     */
    static int run(String[] arguments, OutputStream out, OutputStream err, Map<String, String> environment) {
        CommandLine commandLine = new CommandLine(new ExportMain())
                .addSubcommand(new OtlpExportCommand(CommandOutput.ofProcess(out, environment), environment));
        return CommandFailures.toldIn(commandLine, out, err).execute(arguments);
    }

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "Missing form: otlp");
    }
}
