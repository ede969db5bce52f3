package io.tokenstair.live;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * A process that a test starts and ends, with all it started itself; its output goes to a file. It ends with this JVM, and where that is
 * killed, after three quarters of an hour: {@code setsid} makes a process group of it, and {@code timeout} stands
 * between.
 */
record ChildProcess(Process process, Path log) implements AutoCloseable {
    private static final String MOST_SECONDS = "2700";
    private static final Set<ChildProcess> OPEN = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> OPEN.forEach(ChildProcess::kill), "end-children"));
    }

    /** Starts it in the folder of its log. */
    static ChildProcess start(Path log, Map<String, String> environment, List<String> command) throws IOException {
        List<String> bounded = new ArrayList<>(List.of("setsid", "timeout", "--foreground", "-k", "20", MOST_SECONDS));
        bounded.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(bounded)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .directory(log.toAbsolutePath().getParent().toFile());
        builder.environment().putAll(environment);
        ChildProcess child = new ChildProcess(builder.start(), log);
        OPEN.add(child);
        return child;
    }

    /** A main of this test's class path. */
    static ChildProcess java(Path log, String main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx1g",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--add-opens",
                "java.base/java.util=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                main));
        command.addAll(List.of(arguments));
        return start(log, Map.of(), command);
    }

    /** Its exit code, within this time. */
    int await(long seconds) throws InterruptedException, IOException {
        if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
            throw new IOException("Still running after " + seconds + " s: " + output());
        }
        return process.exitValue();
    }

    /** Sends a signal to it and all it started. */
    void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-s", name, "--", "-" + process.pid())
                .start()
                .waitFor();
    }

    /** The end of what it wrote. */
    String output() throws IOException {
        byte[] all = Files.readAllBytes(log);
        int from = Math.max(0, all.length - 4_000);
        return new String(all, from, all.length - from, StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws InterruptedException {
        if (!OPEN.remove(this)) {
            // Ended before: its number may be another's by now.
            return;
        }
        process.destroy();
        boolean ended = process.waitFor(40, TimeUnit.SECONDS);
        kill();
        if (!ended) {
            process.waitFor(20, TimeUnit.SECONDS);
        }
    }

    /** Ends the whole group at once; what has ended already is passed over. */
    private void kill() {
        try {
            new ProcessBuilder("kill", "-s", "KILL", "--", "-" + process.pid())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor(10, TimeUnit.SECONDS);
        } catch (IOException gone) {
            process.destroyForcibly();
        } catch (InterruptedException impatient) {
            Thread.currentThread().interrupt();
        }
    }
}
