package io.tokenstair.collect.importer;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads inputs of one format into a folder log. The same inputs give the same bytes. */
public interface Importer {
    /**
     * Imports the inputs into a log that has no partition yet.
     *
     * @throws ImportException when an input or the log cannot be used at all; bad records are counted and logged as rejects instead
     */
    ImportSummary run(List<Path> inputs, Path log) throws ImportException, IOException;

    /** Refuses a log that holds events already, or is none. */
    static void refuseUsedLog(Path log) throws ImportException {
        if (Files.exists(log) && !Files.isDirectory(log)) {
            throw new ImportException(log + ": a file, not a folder; name a new folder for --log");
        }
        if (Files.exists(log.resolve("partition-0000"))) {
            throw new ImportException(
                    log.resolve("partition-0000") + ": this log already holds events; name a new folder for --log");
        }
    }

    /** The one line that tells a user what went wrong with a file. */
    static String problem(IOException e) {
        @Nullable String message = e.getMessage();
        if (e instanceof AccessDeniedException) {
            return message + ": no permission to read or write it; change its owner or mode";
        }
        if (e instanceof NoSuchFileException) {
            return message + ": no such file or folder; check the path and that it can be made";
        }
        return (message == null ? e.getClass().getSimpleName() : message) + "; check the file system and import again";
    }
}
