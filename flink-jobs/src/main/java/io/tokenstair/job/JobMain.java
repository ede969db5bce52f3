package io.tokenstair.job;

import io.tokenstair.archive.ArchiveException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The commands that run jobs: {@code archive} (the second half of {@code import}), {@code run} and {@code replay}. */
@Command(
        name = "tokenstair",
        description = "Runs the jobs of Tokenstair on this machine.",
        subcommands = {ArchiveCommand.class, RunCommand.class, ReplayCommand.class},
        synopsisSubcommandLabel = "COMMAND")
public final class JobMain implements Callable<Integer> {
    private static final int USAGE = 2;

    @Spec
    CommandSpec spec;

    /** Made by picocli. */
    @SuppressWarnings("NullAway.Init")
    public JobMain() {}

    /** Runs a command and ends the process with its exit code. */
    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    /** Runs a command and returns its exit code. */
    public static int run(String... arguments) {
        boolean debug = List.of(arguments).contains("--debug");
        CommandLine commands = new CommandLine(new JobMain());
        commands.setParameterExceptionHandler((problem, given) -> {
            problem.getCommandLine()
                    .getErr()
                    .println("tokenstair: " + problem.getMessage() + "; see tokenstair "
                            + problem.getCommandLine().getCommandName() + " --help");
            return USAGE;
        });
        commands.setExecutionExceptionHandler((problem, line, given) -> {
            if (debug) {
                problem.printStackTrace(line.getErr());
            } else {
                line.getErr().println("tokenstair: " + reason(problem));
            }
            return USAGE;
        });
        return commands.execute(arguments);
    }

    /** The innermost message that says something a person can act on. */
    private static String reason(Throwable problem) {
        String said = null;
        for (Throwable at = problem; at != null; at = at.getCause()) {
            if (at.getMessage() != null
                    && (said == null || at instanceof ArchiveException || at instanceof IOException)) {
                said = at.getMessage();
            }
            if (at.getCause() == null && at.getMessage() != null && !(problem instanceof IOException)) {
                said = at.getMessage();
            }
        }
        return (said == null
                        ? problem.getClass().getSimpleName()
                        : said.lines().findFirst().orElse(said)) + " (--debug shows more)";
    }

    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getErr());
        return USAGE;
    }
}
