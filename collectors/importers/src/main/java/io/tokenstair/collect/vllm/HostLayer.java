package io.tokenstair.collect.vllm;

import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.event.HostSampled;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How long the main threads of the engine's processes ran and waited for a core, {@code host_sched.jsonl}: running totals from
 * /proc/PID/schedstat every 10 ms. The lines carry the monotonic clock only.
 */
final class HostLayer {
    static final String FILE = "host_sched.jsonl";
    static final String NAME = "host-scheduling";
    static final String COLLECTOR = "vllm-host";

    private static final List<String> ROLES = List.of("api", "engine", "worker");
    private static final long STEAL_TICK_NANOS = 10_000_000L;

    private final CaptureIdentity identity;
    private final CaptureClock clock;
    private final CollectorSpool events;

    HostLayer(CaptureIdentity identity, CaptureClock clock, CollectorSpool events) {
        this.identity = identity;
        this.clock = clock;
        this.events = events;
    }

    /** Reads the file; false when it is missing. */
    boolean read(LayerReader reader) throws IOException {
        Path file = reader.capture().find(FILE);
        if (file == null) {
            return false;
        }
        reader.readLines(file, this::accept);
        return true;
    }

    private @Nullable Long accept(Fields line) throws RejectedRecordException, IOException {
        long clockNanos = clock.clockNanos(line, "mono_ns");
        Long wallMillis = clock.wallMillis(clockNanos);
        Long stealTicks = line.optionalLong("steal_ticks");
        if (stealTicks != null && (stealTicks < 0 || stealTicks > Long.MAX_VALUE / STEAL_TICK_NANOS)) {
            throw line.refuse("steal_ticks", "not a number of ticks, " + stealTicks);
        }
        Long stealNanos = stealTicks == null ? null : Long.valueOf(stealTicks * STEAL_TICK_NANOS);
        List<HostSampled> samples = new ArrayList<>(ROLES.size());
        for (String role : ROLES) {
            long[] totals = line.optionalTotals(role);
            if (totals == null) {
                continue;
            }
            if (totals.length < 2) {
                throw line.refuse(role, "needs two totals: on a core, waiting for a core");
            }
            samples.add(new HostSampled(
                    identity.hostId(), role, "main", totals[0], totals[1], stealNanos, identity.engineId()));
        }
        if (samples.isEmpty()) {
            throw line.refuse("engine", "missing, and api and worker too");
        }
        for (HostSampled sample : samples) {
            events.add(clockNanos, clockNanos, wallMillis, sample);
        }
        return wallMillis;
    }
}
