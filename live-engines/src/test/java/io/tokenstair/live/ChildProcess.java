package io.tokenstair.live;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A process that a test starts and ends, with all it started itself; its output goes to a file. */
record ChildProcess(Process process, Path log) implements AutoCloseable {
    static ChildProcess start(Path log, Map<String, String> environment, List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().putAll(environment);
        return new ChildProcess(builder.start(), log);
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

    void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid())).start().waitFor();
    }

    /** The end of what it wrote. */
    String output() throws IOException {
        String all = Files.readString(log, StandardCharsets.UTF_8);
        return all.substring(Math.max(0, all.length() - 4_000));
    }

    @Override
    public void close() throws InterruptedException {
        List<ProcessHandle> all = new ArrayList<>(process.descendants().toList());
        all.add(process.toHandle());
        all.forEach(ProcessHandle::destroy);
        if (!process.waitFor(20, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
        all.forEach(ProcessHandle::destroyForcibly);
    }
}
