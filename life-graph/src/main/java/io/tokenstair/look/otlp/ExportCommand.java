package io.tokenstair.look.otlp;

import io.tokenstair.look.CommandOutput;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Gives an archive to other tools. */
@Command(
        name = "export",
        description = "Gives an archive to other tools.",
        footer = {"", "Example:", "  tokenstair export otlp --archive out --to http://127.0.0.1:4318"})
public final class ExportCommand implements Runnable {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help and exit.")
    @SuppressWarnings("UnusedVariable") // picocli prints the help when it sees the option
    private boolean helpAsked;

    private ExportCommand() {}

    /** The command with the forms there are. */
    public static CommandLine line(CommandOutput output) {
        return new CommandLine(new ExportCommand()).addSubcommand(new OtlpExportCommand(output));
    }

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "Missing form: otlp");
    }
}
