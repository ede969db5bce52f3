package io.tokenstair.look;

import io.tokenstair.look.archive.UnusableInputException;
import io.tokenstair.look.text.Terminal;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** How every command complains: one line on standard error and exit code 2, a stack trace only where it was asked for. */
public final class CommandFailures {
    /** Wrong usage or unreadable input. */
    public static final int UNUSABLE = 2;

    private CommandFailures() {}

    /** Options that can ask for a stack trace; a command has them as the mixin {@code options}. */
    public interface Debugging {
        /** True where the stack trace of a failure is wanted. */
        boolean debug();
    }

    /**
     * Makes a command line and its subcommands complain so.
     *
     * @param commandLine the command, its subcommands added
     * @param out standard output, for help
     * @param err standard error
     */
    public static CommandLine toldIn(CommandLine commandLine, OutputStream out, OutputStream err) {
        PrintStream errors = new PrintStream(err, true, StandardCharsets.UTF_8);
        return commandLine
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
    }

    private static boolean wantsTrace(CommandLine command) {
        CommandLine.Model.CommandSpec options =
                command.getCommandSpec().mixins().get("options");
        return options != null && options.userObject() instanceof Debugging asked && asked.debug();
    }

    private static String oneLine(@Nullable String message) {
        List<String> lines = message == null ? List.of() : message.lines().toList();
        return lines.isEmpty() ? "Cannot go on: unknown reason" : Terminal.safe(lines.get(0));
    }
}
