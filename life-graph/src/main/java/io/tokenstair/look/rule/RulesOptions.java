package io.tokenstair.look.rule;

import io.tokenstair.look.CommandFailures;
import picocli.CommandLine.Option;

/** The options every command about rules has. */
final class RulesOptions implements CommandFailures.Debugging {
    /** How results are printed. */
    enum Format {
        /** For a terminal. */
        text,
        /** A JSON object a line. */
        json
    }

    @Option(names = "--format", paramLabel = "text|json", description = "text (default), or json: one object a line.")
    private Format format = Format.text;

    @Option(names = "--debug", description = "Show the stack trace of a failure.")
    private boolean debug;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help and exit.")
    @SuppressWarnings("UnusedVariable") // picocli prints the help when it sees the option
    private boolean helpAsked;

    boolean json() {
        return format == Format.json;
    }

    @Override
    public boolean debug() {
        return debug;
    }
}
