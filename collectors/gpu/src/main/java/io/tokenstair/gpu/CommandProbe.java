package io.tokenstair.gpu;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One run of another program, bounded in time and in what is read of it. Its two outputs are read as one. */
final class CommandProbe {

    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(20);
    private static final int MAX_OUTPUT_BYTES = 64 * 1024;

    private final List<String> command;
    private final Map<String, String> environment;
    private final Duration timeout;

    private CommandProbe(List<String> command, Map<String, String> environment, Duration timeout) {
        this.command = command;
        this.environment = environment;
        this.timeout = timeout;
    }

    static CommandProbe of(List<String> command) {
        return new CommandProbe(List.copyOf(command), Map.of(), DEFAULT_TIMEOUT);
    }

    CommandProbe withEnvironment(Map<String, String> variables) {
        return new CommandProbe(command, Map.copyOf(variables), timeout);
    }

    CommandProbe withTimeout(Duration limit) {
        return new CommandProbe(command, environment, limit);
    }

    /** Runs the program and waits for its end; ends it where it takes too long. */
    Outcome run() {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            return new NotFound();
        }
        try {
            process.getOutputStream().close();
            CompletableFuture<String> output = CompletableFuture.supplyAsync(() -> read(process.getInputStream()));
            // The reader ends with the program's output; a child of its own that holds the pipe open is not waited for.
            if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                return new TimedOut();
            }
            return new Ended(process.exitValue(), output.get(1, TimeUnit.SECONDS));
        } catch (IOException | ExecutionException | TimeoutException e) {
            return new TimedOut();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new TimedOut();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private static String read(InputStream stream) {
        try (stream) {
            String head = new String(stream.readNBytes(MAX_OUTPUT_BYTES), StandardCharsets.UTF_8);
            stream.transferTo(OutputStream.nullOutputStream());
            return head;
        } catch (IOException e) {
            return "";
        }
    }

    /** How a run went. */
    sealed interface Outcome {}

    /** No such program, or not one that can be started. */
    record NotFound() implements Outcome {}

    /** Ended by us. */
    record TimedOut() implements Outcome {}

    /**
     * Ended by itself.
     *
     * @param exitCode 128 and more for a signal
     * @param output what it printed, the first 64 KiB
     */
    record Ended(int exitCode, String output) implements Outcome {}
}
