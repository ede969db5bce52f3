package io.tokenstair.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Processor time of this process's threads by what they do, as Linux tells it in ticks of 10 ms. Threads that ended between two
 * readings are missing from the later one; the compiler's and the collector's live as long as the process.
 */
final class ThreadTimes {
    private static final long TICK_NANOS = 10_000_000;
    private static final Path TASKS = Path.of("/proc/self/task");

    private final Map<String, Long> ticksByThread;

    private ThreadTimes(Map<String, Long> ticksByThread) {
        this.ticksByThread = ticksByThread;
    }

    /** What every thread has used so far; nothing where the system does not tell. */
    static ThreadTimes now() {
        Map<String, Long> ticks = new HashMap<>();
        if (Files.isDirectory(TASKS)) {
            try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
                for (Path task : tasks) {
                    read(task, ticks);
                }
            } catch (IOException e) {
                return new ThreadTimes(Map.of());
            }
        }
        return new ThreadTimes(ticks);
    }

    private static void read(Path task, Map<String, Long> ticks) {
        try {
            String line = Files.readString(task.resolve("stat"), StandardCharsets.UTF_8);
            int nameEnds = line.lastIndexOf(')');
            String name = line.substring(line.indexOf('(') + 1, nameEnds);
            String[] fields = line.substring(nameEnds + 2).split(" ");
            // Fields 14 and 15 of the line: ticks in user and in system mode.
            ticks.put(name + ' ' + task.getFileName(), Long.parseLong(fields[11]) + Long.parseLong(fields[12]));
        } catch (IOException e) {
            // A thread that has ended since.
            return;
        }
    }

    /** What compiling took since an earlier reading, ns. */
    long compilerNanosSince(ThreadTimes before) {
        return nanosSince(before, "C1 Compiler", "C2 Compiler");
    }

    /** What collecting garbage took since an earlier reading, ns. */
    long collectorNanosSince(ThreadTimes before) {
        return nanosSince(before, "GC Thread", "G1 ", "ParGC");
    }

    private long nanosSince(ThreadTimes before, String... names) {
        long ticks = 0;
        for (Map.Entry<String, Long> thread : ticksByThread.entrySet()) {
            for (String name : names) {
                if (thread.getKey().startsWith(name)) {
                    ticks += thread.getValue() - before.ticksByThread.getOrDefault(thread.getKey(), 0L);
                }
            }
        }
        return ticks * TICK_NANOS;
    }
}
