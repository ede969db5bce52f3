package io.tokenstair.vllm;

import io.tokenstair.clock.ElapsedClock;
import io.tokenstair.clock.HostClocks;
import io.tokenstair.collect.live.EventOut;
import io.tokenstair.event.HostSampled;
import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What the kernel says of the processes that the probe told of: time on a core and time ready without one, waits for block I/O where
 * the kernel counts them, and the TCP connections of the API server where {@code ss} is installed. Read beside the engine, so that it
 * costs the engine nothing. Processes of another machine, or of another process namespace, cannot be read from here and are
 * left out. Reads at most {@value #MAX_PROCESSES} processes.
 */
final class HostReader implements Closeable {
    private static final int MAX_PROCESSES = 256;
    private static final long TICK_NANOS = 10_000_000L;
    private static final long TCP_EVERY_NANOS = 5_000_000_000L;

    private final String collectorId;
    private final EventOut out;
    private final Path proc;
    private final @Nullable String processNamespace;
    private final Map<Long, Observed> observed = new ConcurrentHashMap<>();
    private final ScheduledExecutorService clock;
    private final boolean countsBlockIo;
    private boolean readsTcp;
    private long tcpReadNanos = ElapsedClock.system().elapsedNanos() - TCP_EVERY_NANOS;

    private record Observed(long pid, String role, @Nullable String engineId, String machine) {}

    HostReader(String collectorId, Duration every, EventOut out) {
        this(collectorId, every, out, Path.of("/proc"));
    }

    HostReader(String collectorId, Duration every, EventOut out, Path proc) {
        this.collectorId = collectorId;
        this.out = out;
        this.proc = proc;
        this.processNamespace = link(proc.resolve("self/ns/pid"));
        String counts = text(proc.resolve("sys/kernel/task_delayacct"));
        this.countsBlockIo = counts != null && counts.strip().equals("1");
        this.clock = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "tokenstair-vllm-host");
            thread.setDaemon(true);
            return thread;
        });
        clock.scheduleAtFixedRate(this::readAll, every.toMillis(), every.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static @Nullable String link(Path path) {
        try {
            return Files.readSymbolicLink(path).toString();
        } catch (IOException | UnsupportedOperationException unreadable) {
            return null;
        }
    }

    /** Reads this process from now on, where it can be. */
    void observe(ProbeSources.ObservedProcess process) {
        Long pid = EngineSteps.count(process.facts(), "pid");
        boolean here = HostClocks.elapsedId().equals("monotonic@" + process.machine())
                && processNamespace != null
                && processNamespace.equals(process.facts().get("pidNamespace"));
        if (pid == null || !here || (observed.size() >= MAX_PROCESSES && !observed.containsKey(pid))) {
            return;
        }
        observed.put(pid, new Observed(pid, process.role(), process.engineId(), process.machine()));
    }

    private void readAll() {
        Long steal = stealNanos();
        long now = ElapsedClock.system().elapsedNanos();
        readsTcp = now - tcpReadNanos >= TCP_EVERY_NANOS;
        if (readsTcp) {
            tcpReadNanos = now;
        }
        for (Observed process : observed.values()) {
            if (!read(process, steal)) {
                observed.remove(process.pid());
            }
        }
    }

    private boolean read(Observed process, @Nullable Long stealNanos) {
        String totals = text(proc.resolve(String.valueOf(process.pid())).resolve("schedstat"));
        long now = ElapsedClock.system().elapsedNanos();
        if (totals == null) {
            return false;
        }
        TcpConnections.Sum tcp = readsTcp && process.role().equals("api") ? TcpConnections.of(process.pid()) : null;
        String[] words = totals.strip().split(" ", -1);
        Long onCore = words.length > 1 ? number(words[0]) : null;
        Long waited = words.length > 1 ? number(words[1]) : null;
        out.accept(
                collectorId,
                HostClocks.elapsedId(),
                now,
                new HostSampled(
                        process.machine(),
                        process.role(),
                        "main",
                        onCore,
                        waited,
                        stealNanos,
                        process.engineId(),
                        blockIoWaitNanos(process.pid()),
                        tcp == null ? null : Long.valueOf(tcp.retransmitCount()),
                        tcp == null ? null : tcp.roundTripNanos()));
        return true;
    }

    /** Running total of waits for block I/O; absent where the kernel does not count them. */
    private @Nullable Long blockIoWaitNanos(long pid) {
        if (!countsBlockIo) {
            return null;
        }
        String stat = text(proc.resolve(String.valueOf(pid)).resolve("stat"));
        return stat == null ? null : blockIoWaitNanos(stat);
    }

    /** Of a line of /proc/PID/stat: the 42nd field, in ticks; the second is a name in brackets that may hold anything. */
    static @Nullable Long blockIoWaitNanos(String stat) {
        String[] words = stat.substring(stat.lastIndexOf(')') + 1).trim().split("\\s+", -1);
        Long ticks = words.length > 39 ? number(words[39]) : null;
        return ticks == null ? null : Long.valueOf(ticks * TICK_NANOS);
    }

    private @Nullable Long stealNanos() {
        String stat = text(proc.resolve("stat"));
        if (stat == null) {
            return null;
        }
        String[] words = stat.lines().findFirst().orElse("").trim().split("\\s+", -1);
        Long ticks = words.length > 8 ? number(words[8]) : null;
        return ticks == null ? null : Long.valueOf(ticks * TICK_NANOS);
    }

    private static @Nullable Long number(String digits) {
        if (digits.isEmpty() || digits.length() > 18 || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return null;
        }
        return Long.valueOf(digits);
    }

    private static @Nullable String text(Path path) {
        try {
            return Files.readString(path, StandardCharsets.US_ASCII);
        } catch (IOException gone) {
            return null;
        }
    }

    @Override
    public void close() {
        clock.shutdownNow();
    }
}
