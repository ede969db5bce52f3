package io.tokenstair.job.step;

import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.metrics.MetricGroup;

/**
 * How many engines a subtask follows, what of them is open and waits, and what their states take: as of the last drain of each. An engine
 * counts from its first drain since the job was started or restored; it is never forgotten. Nothing here is paid per token or step: the
 * counts are taken per drain, and an engine is written to know its size once after each checkpoint, which wrote it too. Before the
 * first one no size is known: writing every engine while the job starts, in code that is not compiled yet, costs what a drain costs.
 */
final class EngineGauges {
    private final TypeSerializer<EngineState> serializer;
    private final DataOutputSerializer scratch = new DataOutputSerializer(4_096);
    private final Map<String, Figures> engines = new HashMap<>();
    private long checkpoints;

    /** Read by the thread of the metrics. */
    private volatile Sums sums = new Sums(0, 0, 0, Double.NaN);

    /** Writes as a checkpoint does. */
    EngineGauges(TypeSerializer<EngineState> serializer) {
        this.serializer = serializer;
    }

    /** Over all engines; bytes are NaN while none was measured. */
    private record Sums(int engines, long sequences, long waiting, double bytes) {}

    /** What is known of one engine. */
    private static final class Figures {
        private long sequences;
        private long waiting;
        private long bytes;
        private long measuredAtCheckpoint;
    }

    void tell(MetricGroup metrics) {
        metrics.gauge("enginesOpen", () -> sums.engines);
        metrics.gauge("sequencesOpen", () -> sums.sequences);
        metrics.gauge("eventsWaiting", () -> sums.waiting);
        metrics.gauge("stateBytes", () -> sums.bytes);
    }

    /** A checkpoint is taken: sizes are due again. */
    void checkpointed() {
        checkpoints++;
    }

    /** An engine was drained. */
    void drained(String engineId, EngineBuffer buffer, Collection<EngineState> ranks) throws IOException {
        Figures figures = engines.computeIfAbsent(engineId, id -> new Figures());
        long sequences = 0;
        long waiting = buffer.records.size();
        for (EngineState rank : ranks) {
            sequences += rank.sequences.size();
            waiting += rank.waitingEvents.size();
        }
        long bytes = figures.measuredAtCheckpoint == checkpoints ? figures.bytes : bytes(buffer, ranks);
        figures.measuredAtCheckpoint = checkpoints;
        replace(figures, sequences, waiting, bytes);
    }

    /** An engine's input has ended. */
    void ended(String engineId) {
        Figures figures = engines.remove(engineId);
        if (figures != null) {
            replace(figures, 0, 0, 0);
        }
    }

    private void replace(Figures figures, long sequences, long waiting, long bytes) {
        Sums before = sums;
        double bytesBefore = checkpoints > 0 && Double.isNaN(before.bytes) ? 0 : before.bytes;
        sums = new Sums(
                engines.size(),
                before.sequences + sequences - figures.sequences,
                before.waiting + waiting - figures.waiting,
                bytesBefore + bytes - figures.bytes);
        figures.sequences = sequences;
        figures.waiting = waiting;
        figures.bytes = bytes;
    }

    /** What an engine's states take in a checkpoint, the events that wait by their wire bytes alone. */
    private long bytes(EngineBuffer buffer, Collection<EngineState> ranks) throws IOException {
        long bytes = 0;
        for (EngineRecord record : buffer.records) {
            bytes += record.bytes.length;
        }
        for (EngineState rank : ranks) {
            scratch.clear();
            serializer.serialize(rank, scratch);
            bytes += scratch.length();
        }
        return bytes;
    }
}
