package io.tokenstair.simulate;

import io.tokenstair.event.HostPaused;
import io.tokenstair.event.HostSampled;
import java.util.ArrayList;
import java.util.List;

/**
 * What the engine's machine says of the threads on the critical path: running totals every 10 ms, and every second pause by name. The
 * threads spin: they are on a core unless they wait for one or their process stands still.
 */
final class HostRecords {
    private static final String HOST_COLLECTOR = "sim-host";
    private static final long SAMPLE_EVERY_NANOS = 10_000_000L;
    /** A thread that nobody disturbs still waits this share of the time. */
    private static final double USUAL_WAIT_SHARE = 0.002;

    private final EngineName name;
    private final Hosts hosts;
    private final EventLog log;
    private final List<StepRun.Stall> engine = new ArrayList<>();
    private final List<StepRun.Stall> worker = new ArrayList<>();
    private int pauses;

    HostRecords(EngineName name, Hosts hosts, EventLog log) {
        this.name = name;
        this.hosts = hosts;
        this.log = log;
    }

    void stepped(StepRun step) {
        for (StepRun.Stall stall : step.stalls) {
            if (stall.kind() == FaultKind.HOST_PAUSE) {
                engine.add(stall);
                if (pauses++ % 2 == 0) {
                    log.add(
                            name.collector(HOST_COLLECTOR),
                            hosts.engine,
                            stall.toNanos(),
                            new HostPaused(
                                    name.engineId(),
                                    Hosts.ENGINE_HOST,
                                    "engine",
                                    "gc",
                                    hosts.engineNanos(stall.fromNanos()),
                                    hosts.engineNanos(stall.toNanos())));
                }
            } else if (stall.kind() == FaultKind.HOST_CONTENTION) {
                (stall.ordinal() == 0 ? engine : worker).add(stall);
            }
        }
    }

    /** The totals of both threads, while the run lasts. */
    void sampleThreads(long endNanos) {
        sample("engine", "core", engine, endNanos);
        sample("worker", "model", worker, endNanos);
    }

    private void sample(String processRole, String threadRole, List<StepRun.Stall> stalls, long endNanos) {
        int next = 0;
        long pausedBefore = 0;
        long waitedBefore = 0;
        long begin = -10 * SAMPLE_EVERY_NANOS;
        for (long now = begin; now <= endNanos; now += SAMPLE_EVERY_NANOS) {
            while (next < stalls.size() && stalls.get(next).toNanos() <= now) {
                StepRun.Stall stall = stalls.get(next++);
                if (stall.kind() == FaultKind.HOST_PAUSE) {
                    pausedBefore += stall.nanos();
                } else {
                    waitedBefore += stall.nanos();
                }
            }
            long paused = pausedBefore;
            long waited = waitedBefore;
            if (next < stalls.size() && stalls.get(next).fromNanos() < now) {
                long under = now - stalls.get(next).fromNanos();
                if (stalls.get(next).kind() == FaultKind.HOST_PAUSE) {
                    paused += under;
                } else {
                    waited += under;
                }
            }
            long elapsed = now - begin;
            waited += (long) (USUAL_WAIT_SHARE * elapsed);
            log.add(
                    name.collector(HOST_COLLECTOR),
                    hosts.engine,
                    now,
                    new HostSampled(
                            Hosts.ENGINE_HOST,
                            processRole,
                            threadRole,
                            1_000_000_000L + elapsed - paused - waited,
                            20_000_000L + waited,
                            0L,
                            name.engineId()));
        }
    }
}
