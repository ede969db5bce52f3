package io.tokenstair.gpu;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Finds out what GPU this machine has, from a process of its own: a driver that hangs, or that ends the process calling it, costs
 * an answer and nothing else. That process unpacks JCuda's native library into a folder only its user can read, since JCuda loads
 * whatever file of the right name it finds in its temporary folder.
 */
public final class GpuProbe {

    /** Starts the line that holds the answer; drivers print lines of their own. */
    static final String ANSWER_PREFIX = "tokenstair-gpu ";

    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final Map<String, String> environment;

    private GpuProbe(Map<String, String> environment) {
        this.environment = environment;
    }

    /** A probe of this machine as it is. */
    public static GpuProbe ofThisMachine() {
        return new GpuProbe(Map.of());
    }

    /** A probe whose process sees these variables besides its own: where another driver library lies, for example. */
    static GpuProbe withEnvironment(Map<String, String> environment) {
        return new GpuProbe(Map.copyOf(environment));
    }

    /** Asks the driver. Takes at most 30 seconds; never throws for what the driver does. */
    public GpuState detect() {
        try {
            // createTempDirectory makes it with mode 0700.
            Path folder = Files.createTempDirectory("tokenstair-gpu");
            try {
                return answerOf(CommandProbe.of(command(folder))
                        .withEnvironment(environment)
                        .withTimeout(TIMEOUT)
                        .run());
            } finally {
                delete(folder);
            }
        } catch (IOException e) {
            return unusable("Cannot write to the temporary folder: " + e.getMessage());
        }
    }

    private static List<String> command(Path folder) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Djava.io.tmpdir=" + folder,
                "-cp",
                System.getProperty("java.class.path"),
                GpuProbeMain.class.getName());
    }

    private static GpuState answerOf(CommandProbe.Outcome outcome) {
        if (outcome instanceof CommandProbe.TimedOut) {
            return unusable("The CUDA driver did not answer within " + TIMEOUT.toSeconds() + " s");
        }
        if (!(outcome instanceof CommandProbe.Ended ended)) {
            return unusable("Cannot start a Java process for the GPU probe");
        }
        Optional<String> answer = ended.output()
                .lines()
                .filter(line -> line.startsWith(ANSWER_PREFIX))
                .findFirst();
        if (ended.exitCode() != 0 || answer.isEmpty()) {
            return unusable("The CUDA driver ended the process that asked it (exit " + ended.exitCode() + ")");
        }
        try {
            return new ObjectMapper().readValue(answer.get().substring(ANSWER_PREFIX.length()), GpuState.class);
        } catch (JsonProcessingException e) {
            return unusable("Cannot read the answer of the GPU probe: " + e.getOriginalMessage());
        }
    }

    private static GpuState unusable(String why) {
        return new GpuState.Unusable(null, why, null);
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }
}
