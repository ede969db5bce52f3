package io.tokenstair.look;

import io.tokenstair.look.archive.ResultArchive;
import io.tokenstair.look.archive.UnusableInputException;
import io.tokenstair.look.text.Terminal;
import io.tokenstair.narrative.Language;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options every reading command has. */
public final class ReadingOptions implements CommandFailures.Debugging {
    /** How results are printed. */
    enum Format {
        /** For a terminal. */
        text,
        /** A JSON object a line. */
        json
    }

    /** What {@code --lang} takes. */
    enum Lang {
        en(Language.EN),
        zh(Language.ZH);

        private final Language language;

        Lang(Language language) {
            this.language = language;
        }

        Language language() {
            return language;
        }
    }

    @Option(
            names = "--archive",
            required = true,
            paramLabel = "DIR",
            description = "A folder that replay or run wrote.")
    private Path archive = Path.of(".");

    @Option(names = "--debug", description = "Show the stack trace of a failure.")
    private boolean debug;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help and exit.")
    @SuppressWarnings("UnusedVariable") // picocli prints the help when it sees the option
    private boolean helpAsked;

    /** The archive that is read. */
    public Path archive() {
        return archive;
    }

    @Override
    public boolean debug() {
        return debug;
    }

    ResultArchive open() {
        return ResultArchive.open(archive);
    }

    /** Refuses a request that the archive does not know, naming those that look like it. */
    public static void demandKnown(ResultArchive archive, @Nullable String request) {
        if (request != null && !archive.knowsRequest(request)) {
            throw unknown(archive, request);
        }
    }

    /** What is said of a request that is in no table. */
    public static UnusableInputException unknown(ResultArchive archive, String request) {
        List<String> similar = archive.similarRequests(request);
        String hint = similar.isEmpty()
                ? "List them with: tokenstair explain --archive DIR"
                : "Close to it: " + String.join(", ", similar);
        return new UnusableInputException(Terminal.safe("Cannot find request " + request + " in archive "
                + archive.directory() + ", neither as an id nor as an alias. " + hint));
    }
}
