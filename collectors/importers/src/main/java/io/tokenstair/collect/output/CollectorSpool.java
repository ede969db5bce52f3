package io.tokenstair.collect.output;

import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.event.wire.proto.LogRecord;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * The events of one collector, taken in any order and given back in the order of their occurrence, with sequence numbers from 0 and
 * an event time that never decreases. Undated events come last, as in {@link EventHeader#ORDER}. What does not fit in memory is
 * sorted and written to a run file, so that memory is bounded whatever the size of the capture.
 */
public final class CollectorSpool implements Closeable {
    private static final Comparator<Entry> BY_OCCURRENCE = Comparator.comparing(Entry::undated)
            .thenComparingLong(Entry::orderNanos)
            .thenComparingLong(Entry::ordinal);

    private final String collectorId;
    private final long collectorEpoch;
    private final String clockId;
    private final RunFiles runFiles;
    private final long memoryBytes;
    private List<Entry> entries = new ArrayList<>();
    private long heldBytes;
    private boolean keepHeaders;
    private long ordinal;
    private final List<Path> runs = new ArrayList<>();
    private final List<Closeable> open = new ArrayList<>();

    /** Gives the place of the next run file. */
    interface RunFiles {
        Path next() throws IOException;
    }

    private record Entry(boolean undated, long orderNanos, long ordinal, long wallMillis, byte[] bytes) {}

    CollectorSpool(String collectorId, long collectorEpoch, String clockId, RunFiles runFiles, long memoryBytes) {
        this.collectorId = collectorId;
        this.collectorEpoch = collectorEpoch;
        this.clockId = clockId;
        this.runFiles = runFiles;
        this.memoryBytes = memoryBytes;
    }

    /**
     * Takes an event.
     *
     * @param orderNanos its place in the collector's own order; events with the same place keep the order they were added in
     * @param clockNanos raw stamp for the header; null when there is none
     * @param wallMillis wall reading for the header; null when there is none
     * @param event what happened
     */
    public void add(long orderNanos, @Nullable Long clockNanos, @Nullable Long wallMillis, Event event)
            throws IOException {
        add(clockId, orderNanos, clockNanos, wallMillis, event);
    }

    /** Takes an event stamped by a clock of its own: one whose readings say nothing of those of the collector's other events. */
    public void add(
            String eventClockId, long orderNanos, @Nullable Long clockNanos, @Nullable Long wallMillis, Event event)
            throws IOException {
        EventHeader header = new EventHeader(collectorId, collectorEpoch, 0, eventClockId, clockNanos, wallMillis);
        byte[] bytes = EventCodec.encode(new LoggedEvent(header, event));
        entries.add(new Entry(wallMillis == null, orderNanos, ordinal++, wallMillis == null ? 0 : wallMillis, bytes));
        heldBytes += bytes.length + 64;
        if (heldBytes > memoryBytes) {
            writeRun();
        }
    }

    /** Takes an event with the header it has: its sequence, clock and wall reading are kept. */
    public void addAsItIs(LoggedEvent logged) throws IOException {
        Long wallMillis = logged.header().coarseEpochMillis();
        keepHeaders = true;
        byte[] bytes = EventCodec.encode(logged);
        // Undated events keep the order they came in.
        entries.add(new Entry(
                wallMillis == null,
                wallMillis == null ? 0 : wallMillis,
                ordinal++,
                wallMillis == null ? 0 : wallMillis,
                bytes));
        heldBytes += bytes.length + 64;
        if (heldBytes > memoryBytes) {
            writeRun();
        }
    }

    /** Bytes of events that are held in memory now. */
    long heldBytes() {
        return heldBytes;
    }

    /** Writes what is held to a file. */
    void toFile() throws IOException {
        if (!entries.isEmpty()) {
            writeRun();
        }
    }

    private void writeRun() throws IOException {
        entries.sort(BY_OCCURRENCE);
        Path run = runFiles.next();
        runs.add(run);
        try (DataOutputStream out =
                new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(run), 1 << 16))) {
            for (Entry entry : entries) {
                out.writeBoolean(entry.undated());
                out.writeLong(entry.orderNanos());
                out.writeLong(entry.ordinal());
                out.writeLong(entry.wallMillis());
                out.writeInt(entry.bytes().length);
                out.write(entry.bytes());
            }
            out.writeByte(-1);
        }
        entries = new ArrayList<>();
        heldBytes = 0;
    }

    /** The events in order. Nothing may be added afterwards. */
    Cursor cursor() throws IOException {
        entries.sort(BY_OCCURRENCE);
        PriorityQueue<Run> heads = new PriorityQueue<>((a, b) -> BY_OCCURRENCE.compare(a.head(), b.head()));
        if (!entries.isEmpty()) {
            heads.add(new Run(entries.get(0), entries, 1, null));
        }
        for (Path path : runs) {
            DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(path), 1 << 16));
            open.add(in);
            Entry first = read(in);
            if (first != null) {
                heads.add(new Run(first, List.of(), 0, in));
            }
        }
        return new Cursor(heads);
    }

    private static @Nullable Entry read(DataInputStream in) throws IOException {
        byte marker = in.readByte();
        if (marker == -1) {
            return null;
        }
        long orderNanos = in.readLong();
        long ordinal = in.readLong();
        long wallMillis = in.readLong();
        byte[] bytes = in.readNBytes(in.readInt());
        return new Entry(marker == 1, orderNanos, ordinal, wallMillis, bytes);
    }

    /** One sorted run and its smallest entry: from memory, or from a file. */
    private record Run(
            Entry head,
            List<Entry> held,
            int next,
            @Nullable DataInputStream in) {
        @Nullable
        Run advance() throws IOException {
            if (in == null) {
                return next < held.size() ? new Run(held.get(next), held, next + 1, null) : null;
            }
            Entry following = read(in);
            return following == null ? null : new Run(following, held, next, in);
        }
    }

    /** Walks the events of the collector. */
    final class Cursor {
        private final PriorityQueue<Run> heads;
        private long sequence;
        private @Nullable Long coarseEpochMillis;
        private @Nullable EventHeader header;
        private byte[] bytes = new byte[0];

        private Cursor(PriorityQueue<Run> heads) {
            this.heads = heads;
        }

        /** Moves to the next event; false at the end. */
        boolean next() throws IOException {
            Run run = heads.poll();
            if (run == null) {
                return false;
            }
            Run rest = run.advance();
            if (rest != null) {
                heads.add(rest);
            }
            Entry entry = run.head();
            try {
                if (keepHeaders) {
                    bytes = entry.bytes();
                    header = EventCodec.header(EventCodec.parse(bytes));
                    return true;
                }
                LogRecord.Builder record =
                        EventCodec.parse(entry.bytes()).toBuilder().setSequence(sequence++);
                if (!entry.undated()) {
                    coarseEpochMillis = coarseEpochMillis == null
                            ? entry.wallMillis()
                            : Math.max(coarseEpochMillis, entry.wallMillis());
                    record.setCoarseEpochMillis(coarseEpochMillis);
                }
                LogRecord built = record.build();
                header = EventCodec.header(built);
                bytes = built.toByteArray();
            } catch (WireException e) {
                throw new IOException("Cannot read back an event of " + collectorId + ": " + e.getMessage(), e);
            }
            return true;
        }

        /** Header of the current event. */
        EventHeader header() {
            if (header == null) {
                throw new IllegalStateException("Cannot read the header before the first event");
            }
            return header;
        }

        /** Bytes of the current event. */
        byte[] bytes() {
            return bytes;
        }
    }

    @Override
    public void close() throws IOException {
        for (Closeable stream : open) {
            stream.close();
        }
        for (Path run : runs) {
            Files.deleteIfExists(run);
        }
    }
}
