package io.tokenstair.collect.kv;

import io.tokenstair.collect.importer.FileImport;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.FileDigest;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.input.SequenceLedger;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import io.tokenstair.collect.stream.HostClock;
import io.tokenstair.foreign.KvPayload;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Messages of a KV event publisher, {@code kv-events}: a JSON object a message, its ZMQ frames in hex. Live ones as a subscriber sees them
 * (topic, sequence, payload), replayed ones as a DEALER does (an empty delimiter before). A message that came before is neither taken nor
 * counted again. Numbers begin at 0 or at 1: a first message 1 is no loss.
 */
public final class KvEventsImport extends FileImport {
    /** The format's name. */
    public static final String FORMAT = "kv-events";

    private static final String FRAMES = "frames_hex";
    private static final String END_OF_REPLAY = "ffffffffffffffff";
    private static final int MAX_PUBLISHERS = 4_096;
    private static final int MAX_FRAMES = 4;

    private final @Nullable String engine;
    private final Map<Publisher, SequenceLedger> ledgers = new TreeMap<>();
    private String firstSource = "";

    /** A publisher: its topic, and the rank it speaks for. */
    private record Publisher(String topic, int rank) implements Comparable<Publisher> {
        @Override
        public int compareTo(Publisher other) {
            int byTopic = topic.compareTo(other.topic);
            return byTopic != 0 ? byTopic : Integer.compare(rank, other.rank);
        }
    }

    /**
     * An import of such messages.
     *
     * @param engine the engine they are of; null for the topic of the message, or the format's name where that is empty
     */
    public KvEventsImport(@Nullable String engine, LineSource.Limits limits, ImportListener listener) {
        super(FORMAT, limits, listener);
        this.engine = engine;
    }

    @Override
    protected void read(Path file, int index, RecordReader reader, EventSpools spools)
            throws IOException, ImportException {
        Long firstMillis = HostClock.firstWallMillis(file, limits(), "recv_mono_ns", "recv_epoch_ns");
        dated(firstMillis);
        firstSource = firstSource.isEmpty() ? reader.sourceName(file) : firstSource;
        CollectorSpool spool = spools.collector("kv-events", FileDigest.ofFirstLine(file, engine), HostClock.MONOTONIC);
        HostClock clock = new HostClock(spool, null);
        long before = reader.result(false).accepted();
        boolean[] messages = new boolean[1];
        reader.readLines(file, line -> message(line, reader, clock, spool, messages));
        clock.end();
        if (!messages[0]
                && reader.result(false).accepted() == before
                && reader.result(false).read() > 0) {
            throw new ImportException(file + ": no line of it holds frames_hex; name a file of KV event messages");
        }
    }

    @Override
    protected void ended(RecordReader reader) throws IOException {
        for (Map.Entry<Publisher, SequenceLedger> ledger : ledgers.entrySet()) {
            for (SequenceLedger.Missing run : ledger.getValue().missing()) {
                if (run.first() == 0 && run.last() == 0) {
                    // Its numbers begin at 1.
                    continue;
                }
                Publisher publisher = ledger.getKey();
                reader.lost(
                        firstSource
                                + (publisher.topic().isEmpty() ? "" : " " + publisher.topic())
                                + (publisher.rank() == 0 ? "" : " rank " + publisher.rank()),
                        run.first(),
                        run.last(),
                        run.clockNanos(),
                        run.wallMillis());
            }
        }
    }

    private @Nullable Long message(
            Fields line, RecordReader reader, HostClock clock, CollectorSpool spool, boolean[] messages)
            throws RejectedRecordException, IOException {
        boolean hex = line.has(FRAMES);
        List<String> frames = line.texts(hex ? FRAMES : "frames");
        messages[0] |= !frames.isEmpty();
        Long monotonic = line.optionalStamp("recv_mono_ns");
        Long epochNanos = line.optionalStamp(line.has("recv_epoch_ns") ? "recv_epoch_ns" : "recv_wall_ns");
        if (monotonic == null && epochNanos == null) {
            throw line.refuse("recv_mono_ns", "missing, and so is recv_epoch_ns");
        }
        clock.check(line, monotonic, epochNanos);
        if (frames.size() < 2 || frames.size() > MAX_FRAMES) {
            throw line.refuse(FRAMES, frames.size() + " frames, a message has topic, sequence and payload");
        }
        int last = frames.size() - 1;
        String sequenceHex = frames.get(last - 1);
        if (sequenceHex.equals(END_OF_REPLAY)) {
            reader.passOver();
            return null;
        }
        if (!sequenceHex.matches("[0-7][0-9a-f]{15}")) {
            throw line.refuse(FRAMES + "[" + (last - 1) + "]", "the sequence is not 8 bytes in hex, at most 2^63 - 1");
        }
        long sequence = Long.parseLong(sequenceHex, 16);
        // A replay puts a delimiter before; publishers before 2026-07 leave its topic out.
        boolean replayed = monotonic == null || frames.size() == MAX_FRAMES;
        String topic = frames.size() < 3 ? "" : topic(line, frames.get(last - 2), last - 2);
        KvPayload payload = KvFrames.payload(KvFrames.bytes(line, FRAMES, frames.get(last), last));
        int rank = payload.engineRank();
        long clockNanos = monotonic == null ? epochNanos == null ? 0 : epochNanos : monotonic;
        Long wallMillis = monotonic == null
                ? epochNanos == null ? null : Long.valueOf(epochNanos / 1_000_000L)
                : clock.wallMillis(monotonic, epochNanos);
        Publisher publisher = publisher(topic, rank);
        SequenceLedger ledger = ledgers.get(publisher);
        if (ledger == null) {
            if (ledgers.size() >= MAX_PUBLISHERS) {
                throw line.refuse(FRAMES, "more than " + MAX_PUBLISHERS + " publishers");
            }
            ledger = SequenceLedger.fromZero();
            ledgers.put(publisher, ledger);
        }
        if (ledger.seen(sequence)) {
            if (replayed) {
                reader.passOver();
                return null;
            }
            throw line.refuse(
                    FRAMES + "[" + (last - 1) + "]",
                    "message " + sequence + " was read before; one import holds one start of an engine");
        }
        ledger.note(sequence, clockNanos, wallMillis);
        for (int index = 0; index < payload.events().size(); index++) {
            spool.add(
                    monotonic == null ? HostClock.WALL : HostClock.MONOTONIC,
                    clockNanos,
                    clockNanos,
                    wallMillis,
                    payload.event(engineId(publisher), sequence, index));
        }
        if (monotonic != null) {
            clock.note(monotonic, epochNanos, wallMillis);
        }
        return wallMillis;
    }

    /** Replays of publishers that leave the topic out belong to the one that was heard live. */
    private Publisher publisher(String topic, int rank) {
        Publisher publisher = new Publisher(topic, rank);
        if (topic.isEmpty() && !ledgers.containsKey(publisher)) {
            Publisher only = null;
            for (Publisher known : ledgers.keySet()) {
                if (known.rank() == rank) {
                    if (only != null) {
                        return publisher;
                    }
                    only = known;
                }
            }
            return only == null ? publisher : only;
        }
        return publisher;
    }

    private String engineId(Publisher publisher) {
        if (engine != null) {
            return engine;
        }
        return publisher.topic().isEmpty() ? FORMAT : publisher.topic();
    }

    private static String topic(Fields line, String hex, int frame) throws RejectedRecordException {
        byte[] bytes = KvFrames.bytes(line, FRAMES, hex, frame);
        try {
            String topic = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(java.nio.ByteBuffer.wrap(bytes))
                    .toString();
            return Fields.bounded(topic, FRAMES + "[" + frame + "]");
        } catch (CharacterCodingException e) {
            throw line.refuse(FRAMES + "[" + frame + "]", "the topic is not UTF-8");
        }
    }
}
