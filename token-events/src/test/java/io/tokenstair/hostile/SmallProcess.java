package io.tokenstair.hostile;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A main of the tests in a process of its own with little memory, which ends at once where that is not enough. It is asked a line and
 * answers a line.
 */
public final class SmallProcess implements AutoCloseable {
    private final Process process;
    private final PrintWriter asks;
    private final BufferedReader answers;

    private SmallProcess(Process process) {
        this.process = process;
        this.asks = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
        this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Starts a main with so much heap and as much memory outside of it. */
    public static SmallProcess start(Class<?> main, int mebibytes, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + mebibytes + "m",
                "-XX:MaxDirectMemorySize=" + mebibytes + "m",
                "-XX:+ExitOnOutOfMemoryError",
                "-XX:+UseSerialGC",
                // So that its buffers outside of the heap are those that the machine counts.
                "-Dio.netty.noPreferDirect=false",
                "-Dio.netty.maxDirectMemory=0",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(arguments));
        return new SmallProcess(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start());
    }

    /** Memory that this process uses now: its heap after a collection, and its buffers outside of the heap. */
    public static long usedBytes() {
        System.gc();
        long bytes = Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            bytes += pool.getMemoryUsed();
        }
        return bytes;
    }

    /** Asks a line, and waits for the answer. */
    public String ask(String line) throws IOException {
        asks.println(line);
        return String.valueOf(answers.readLine());
    }

    /** Whether it has not ended. */
    public boolean isAlive() {
        return process.isAlive();
    }

    @Override
    public void close() throws Exception {
        asks.close();
        if (!process.waitFor(20, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
    }
}
