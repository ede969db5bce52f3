package io.tokenstair.collect.vllm;

import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.event.KvLookup;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What vLLM's public stat-logger hook is given, {@code statlog.jsonl}. Of it, what the prefix cache was asked for and found: the
 * only place that tells the hits of resumed requests.
 */
final class StatLogLayer {
    static final String FILE = "statlog.jsonl";
    static final String NAME = "statlog";
    static final String COLLECTOR = "vllm-statlog";

    private final CaptureIdentity identity;
    private final CaptureClock clock;
    private final CollectorSpool events;

    StatLogLayer(CaptureIdentity identity, CaptureClock clock, CollectorSpool events) {
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
        Long wallMillis = clock.wallMillis(line, "wall_ns", clockNanos);
        Integer rank = line.optionalCount("engine");
        Fields scheduler = line.optionalObject("sched");
        if (scheduler == null) {
            return wallMillis;
        }
        Long queried = scheduler.optionalLongCount("prefix_queries");
        Long hits = scheduler.optionalLongCount("prefix_hits");
        Long preemptedQueried = scheduler.optionalLongCount("preempted_queries");
        Long preemptedHits = scheduler.optionalLongCount("preempted_hits");
        if ((queried != null && queried > 0) || (preemptedQueried != null && preemptedQueried > 0)) {
            events.add(
                    clockNanos,
                    clockNanos,
                    wallMillis,
                    new KvLookup(
                            identity.engineId(),
                            rank == null ? 0 : rank,
                            queried,
                            hits,
                            preemptedQueried,
                            preemptedHits));
        }
        return wallMillis;
    }
}
