package io.tokenstair.look;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.util.Map;

/** A command as a process: its arguments, its streams, its environment, its exit code. */
public final class CommandProcess {
    private CommandProcess() {}

    /** Runs one command. */
    public interface Command {
        /** Gives the exit code. */
        int run(String[] arguments, OutputStream out, OutputStream err, Map<String, String> environment);
    }

    /** Runs a command with what this process has, and ends the process with its exit code. */
    public static void end(Command command, String[] arguments) {
        System.exit(command.run(
                arguments,
                new FileOutputStream(FileDescriptor.out),
                new FileOutputStream(FileDescriptor.err),
                System.getenv()));
    }
}
