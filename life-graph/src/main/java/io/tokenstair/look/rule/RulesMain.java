package io.tokenstair.look.rule;

import io.tokenstair.clock.EpochClock;
import io.tokenstair.look.CommandFailures;
import io.tokenstair.look.CommandOutput;
import io.tokenstair.look.CommandProcess;
import java.io.OutputStream;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The commands about rules. */
@Command(
        name = "tokenstair rules",
        description =
                "Rules: what there is, whether it is right, what it finds, and how to change it while the job runs.",
        synopsisSubcommandLabel = "COMMAND",
        footer = {"", "How to write one: docs/rules.md", "", "Example:", "  tokenstair rules test my-rule.yaml"})
public final class RulesMain implements Runnable {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    @CommandLine.Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help and exit.")
    @SuppressWarnings("UnusedVariable") // picocli prints the help when it sees the option
    private boolean helpAsked;

    private RulesMain() {}

    /** Runs one command and ends the process with its exit code. */
    public static void main(String[] arguments) {
        CommandProcess.end(RulesMain::run, arguments);
    }

    /**
     * Runs one command.
     *
     * @param arguments the command's name and options
     * @param out standard output
     * @param err standard error
     * @param environment environment variables: NO_COLOR, TERM, COLUMNS, LANG
     * @return 0 or 2, as the command line's contract says
     */
    public static int run(String[] arguments, OutputStream out, OutputStream err, Map<String, String> environment) {
        CommandOutput output = CommandOutput.ofProcess(out, environment);
        CommandLine commandLine = new CommandLine(new RulesMain())
                .addSubcommand(new RulesListCommand(output))
                .addSubcommand(new RulesLintCommand(output))
                .addSubcommand(new RulesTestCommand(output))
                .addSubcommand(new RulesExplainCommand(output))
                .addSubcommand(new RulesBacktestCommand(output))
                .addSubcommand(new RulesApplyCommand(output, EpochClock.system()));
        return CommandFailures.toldIn(commandLine, out, err).execute(arguments);
    }

    @Override
    public void run() {
        throw new CommandLine.ParameterException(
                spec.commandLine(),
                "Missing command: " + String.join(", ", spec.subcommands().keySet()));
    }
}
