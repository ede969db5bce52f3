package io.tokenstair.job.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.collect.ImportMain;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The recorded runs that lie in the repository, and their way into a log by the product's own import. */
public final class Captures {
    private Captures() {}

    /** The folder of recorded runs. */
    public static Path folder() {
        for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
            if (Files.isDirectory(at.resolve("captures"))) {
                return at.resolve("captures");
            }
        }
        throw new IllegalStateException(
                "Cannot find the folder captures above " + Path.of("").toAbsolutePath());
    }

    /** Names of all recorded runs. */
    public static List<String> names() throws IOException {
        try (Stream<Path> entries = Files.list(folder())) {
            return entries.filter(Files::isDirectory)
                    .map(entry -> entry.getFileName().toString())
                    .sorted()
                    .toList();
        }
    }

    /** Imports a run into a new folder log and returns it. */
    public static Path log(String name, Path log) {
        return importInto(folder().resolve(name), log);
    }

    /** Imports a capture folder into a new folder log and returns it. */
    public static Path importInto(Path capture, Path log) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = ImportMain.run(
                new PrintWriter(out, true),
                new PrintWriter(err, true),
                false,
                "vllm-capture",
                capture.toString(),
                "--log",
                log.toString());
        assertThat(code).as("%s %s", out, err).isZero();
        return log;
    }
}
