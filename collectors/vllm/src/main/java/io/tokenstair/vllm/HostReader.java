package io.tokenstair.vllm;

import io.tokenstair.clock.ElapsedClock;
import io.tokenstair.clock.HostClocks;
import io.tokenstair.collect.live.EventOut;
import io.tokenstair.event.HostSampled;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
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

    /** The kernel counts steal in ticks of 10 ms, and makes the whole of /proc/stat for whoever asks. */
    private static final long STEAL_EVERY_NANOS = 100_000_000L;

    /** Servers are on no engine's critical path: how they fare is read more rarely. */
    private static final long SERVERS_EVERY_NANOS = 100_000_000L;

    private static final int TOTALS_BYTES = 128;

    private final String collectorId;
    private final EventOut out;
    private final Path proc;
    private final @Nullable String processNamespace;
    private final Map<Long, Observed> observed = new ConcurrentHashMap<>();
    private final Thread clock;
    private volatile boolean closing;
    private final boolean countsBlockIo;
    private boolean readsTcp;
    private long tcpReadNanos = ElapsedClock.system().elapsedNanos() - TCP_EVERY_NANOS;

    private @Nullable Long stealNanos;
    private long stealReadNanos = ElapsedClock.system().elapsedNanos() - STEAL_EVERY_NANOS;
    private long serversReadNanos = stealReadNanos;
    private final ByteBuffer totals = ByteBuffer.allocateDirect(TOTALS_BYTES);

    /** A process, and its schedstat, which stays open: it is read a hundred times a second. */
    private record Observed(long pid, String role, @Nullable String engineId, String machine, FileChannel schedstat) {
        Observed as(ProbeSources.ObservedProcess told) {
            return new Observed(pid, told.role(), told.engineId(), told.machine(), schedstat);
        }

        void forget() {
            try {
                schedstat.close();
            } catch (IOException gone) {
                // Nothing was written to it.
            }
        }
    }

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
        long everyNanos = every.toNanos();
        this.clock = new Thread(() -> readEvery(everyNanos), "tokenstair-vllm-host");
        clock.setDaemon(true);
        clock.start();
    }

    /** A thread that parks wakes with less to do than one of an executor, and it wakes often. */
    private void readEvery(long everyNanos) {
        long due = ElapsedClock.system().elapsedNanos() + everyNanos;
        while (!closing) {
            long rest = due - ElapsedClock.system().elapsedNanos();
            if (rest > 0) {
                LockSupport.parkNanos(rest);
                continue;
            }
            // What was missed is not made up for.
            due = Math.max(due + everyNanos, due - rest);
            readAll();
        }
        observed.values().forEach(Observed::forget);
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
        Observed known = observed.get(pid);
        if (known != null) {
            // What was removed meanwhile ended.
            observed.replace(pid, known, known.as(process));
            return;
        }
        try {
            FileChannel schedstat =
                    FileChannel.open(proc.resolve(String.valueOf(pid)).resolve("schedstat"));
            observed.put(pid, new Observed(pid, process.role(), process.engineId(), process.machine(), schedstat));
        } catch (IOException ended) {
            // There is nothing to read any more.
        }
    }

    private void readAll() {
        long now = ElapsedClock.system().elapsedNanos();
        if (now - stealReadNanos >= STEAL_EVERY_NANOS) {
            stealReadNanos = now;
            stealNanos = stealNanos();
        }
        boolean readsServers = now - serversReadNanos >= SERVERS_EVERY_NANOS;
        if (readsServers) {
            serversReadNanos = now;
            readsTcp = now - tcpReadNanos >= TCP_EVERY_NANOS;
            tcpReadNanos = readsTcp ? now : tcpReadNanos;
        }
        for (Observed process : observed.values()) {
            if ((readsServers || !process.role().equals("api")) && !read(process)) {
                observed.remove(process.pid());
                process.forget();
            }
        }
    }

    private boolean read(Observed process) {
        boolean alive = readTotals(process.schedstat());
        long now = ElapsedClock.system().elapsedNanos();
        if (!alive) {
            return false;
        }
        Long onCore = nextNumber(totals);
        Long waited = nextNumber(totals);
        TcpConnections.Sum tcp = readsTcp && process.role().equals("api") ? TcpConnections.of(process.pid()) : null;
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

    /** Reads what the file says now; false when its process has ended. */
    private boolean readTotals(FileChannel schedstat) {
        try {
            totals.clear();
            int length = schedstat.read(totals, 0);
            totals.flip();
            return length > 0;
        } catch (IOException ended) {
            return false;
        }
    }

    /** The next number of a line of them, up to the blank behind it; absent where there is none. */
    static @Nullable Long nextNumber(ByteBuffer line) {
        long value = 0;
        int digits = 0;
        while (line.hasRemaining()) {
            int digit = line.get() - '0';
            if (digit < 0 || digit > 9 || digits == 18) {
                break;
            }
            value = 10 * value + digit;
            digits++;
        }
        return digits == 0 ? null : Long.valueOf(value);
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
        closing = true;
        LockSupport.unpark(clock);
    }
}
