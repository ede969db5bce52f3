package io.tokenstair.collect.vllm;

import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.input.SequenceLedger;
import io.tokenstair.collect.kv.KvFrames;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.foreign.KvPayload;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The messages of vLLM's KV event publisher as received, {@code kv_events.jsonl}, and the publisher's answer to "replay from 0",
 * {@code kv_replay.jsonl}. The replay serves only what the subscriber missed: a message that came before is neither taken nor
 * counted again.
 */
final class KvEventsLayer {
    static final String FILE = "kv_events.jsonl";
    static final String REPLAY_FILE = "kv_replay.jsonl";
    static final String NAME = "kv-events";
    static final String COLLECTOR = "vllm-kv";

    private static final String END_OF_REPLAY = "ffffffffffffffff";
    private static final int MAX_RANKS = 4_096;

    private final CaptureIdentity identity;
    private final CaptureClock clock;
    private final CollectorSpool events;
    private final Map<Integer, SequenceLedger> ledgers = new TreeMap<>();

    KvEventsLayer(CaptureIdentity identity, CaptureClock clock, CollectorSpool events) {
        this.identity = identity;
        this.clock = clock;
        this.events = events;
    }

    /** Reads both files; false when both are missing. */
    boolean read(LayerReader reader) throws IOException {
        Path file = reader.capture().find(FILE);
        Path replay = reader.capture().find(REPLAY_FILE);
        if (file != null) {
            reader.readLines(file, line -> message(line, reader, false));
        }
        if (replay != null) {
            reader.readLines(replay, line -> message(line, reader, true));
        }
        Path first = file == null ? replay : file;
        if (first == null) {
            return false;
        }
        String source = reader.capture().sourceName(first);
        for (Map.Entry<Integer, SequenceLedger> ledger : ledgers.entrySet()) {
            for (SequenceLedger.Missing run : ledger.getValue().missing()) {
                reader.lost(
                        ledger.getKey() == 0 ? source : source + " rank " + ledger.getKey(),
                        run.first(),
                        run.last(),
                        run.clockNanos(),
                        run.wallMillis());
            }
        }
        return true;
    }

    private @Nullable Long message(Fields line, LayerReader reader, boolean replay)
            throws RejectedRecordException, IOException {
        long clockNanos = clock.clockNanos(line, "recv_mono_ns");
        Long wallMillis = clock.wallMillis(line, "recv_wall_ns", clockNanos);
        List<String> frames = line.texts("frames");
        // A replay puts an empty delimiter first; publishers before 2026-07 leave its topic out.
        int last = frames.size() - 1;
        if (frames.size() < 2 || (!replay && frames.size() != 3)) {
            throw line.refuse("frames", frames.size() + " frames, a message has 3: topic, sequence, payload");
        }
        String sequenceHex = frames.get(last - 1);
        if (replay && sequenceHex.equals(END_OF_REPLAY)) {
            reader.passOver();
            return null;
        }
        if (!sequenceHex.matches("[0-7][0-9a-f]{15}")) {
            throw line.refuse("frames[" + (last - 1) + "]", "the sequence is not 8 bytes in hex, at most 2^63 - 1");
        }
        long sequence = Long.parseLong(sequenceHex, 16);
        KvPayload payload = KvFrames.payload(KvFrames.bytes(line, "frames", frames.get(last), last));
        int rank = payload.engineRank();
        SequenceLedger ledger = ledgers.get(rank);
        if (ledger == null && ledgers.size() >= MAX_RANKS) {
            throw line.refuse("frames", "more than " + MAX_RANKS + " ranks");
        }
        if (ledger != null && ledger.seen(sequence)) {
            if (replay) {
                reader.passOver();
                return null;
            }
            throw line.refuse(
                    "frames[" + (last - 1) + "]",
                    "message " + sequence + " was read before; one capture holds one engine start");
        }
        if (ledger == null) {
            ledger = SequenceLedger.fromZero();
            ledgers.put(rank, ledger);
        }
        ledger.note(sequence, clockNanos, wallMillis);
        for (int index = 0; index < payload.events().size(); index++) {
            events.add(clockNanos, clockNanos, wallMillis, payload.event(identity.engineId(), sequence, index));
        }
        return wallMillis;
    }
}
