package io.tokenstair.log;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Reads one partition of a folder log from an ordinal on. {@link #next()} gives null at the last valid frame; when the writer has
 * appended since, a later call goes on from there.
 */
public final class FolderLogReader implements Closeable {
    /** Longest record a reader takes. A longer length is a torn or foreign frame. */
    public static final int MAX_RECORD_BYTES = 64 << 20;

    private final Path partition;
    private long ordinal;
    private @Nullable Path segment;
    private long frameOffset;
    private @Nullable DataInputStream in;

    /**
     * Opens a partition folder at the record with this ordinal.
     *
     * @throws IOException when the log holds no record before that ordinal, or begins after it
     */
    public FolderLogReader(Path partition, long startOrdinal) throws IOException {
        if (startOrdinal < 0) {
            throw new IllegalArgumentException("Cannot start at a negative record: " + startOrdinal);
        }
        this.partition = partition;
        try {
            seek(startOrdinal);
        } catch (IOException e) {
            closeStream();
            throw e;
        }
    }

    private void seek(long startOrdinal) throws IOException {
        List<Path> all = segments(partition);
        for (Path candidate : all) {
            if (firstOrdinal(candidate) <= startOrdinal) {
                segment = candidate;
            }
        }
        if (segment == null && !all.isEmpty()) {
            throw new IOException(partition + ": the log begins at record " + firstOrdinal(all.get(0))
                    + ", after record " + startOrdinal + "; give the log this position was taken from");
        }
        ordinal = segment == null ? 0 : firstOrdinal(segment);
        while (ordinal < startOrdinal) {
            if (next() == null) {
                throw new IOException(partition + ": the log ends at record " + ordinal + ", before record "
                        + startOrdinal + "; give the log this position was taken from");
            }
        }
    }

    /** The partition folders of a log, in order. */
    public static List<Path> partitions(Path log) throws IOException {
        try (Stream<Path> entries = Files.list(log)) {
            return entries.filter(entry -> entry.getFileName().toString().startsWith("partition-"))
                    .sorted()
                    .toList();
        }
    }

    private static List<Path> segments(Path partition) throws IOException {
        try (Stream<Path> entries = Files.list(partition)) {
            return new ArrayList<>(
                    entries.filter(entry -> entry.getFileName().toString().matches("segment-\\d{10}\\.log"))
                            .sorted()
                            .toList());
        }
    }

    private static long firstOrdinal(Path segment) {
        String name = segment.getFileName().toString();
        return Long.parseLong(name.substring("segment-".length(), name.length() - ".log".length()));
    }

    /** The ordinal behind the last valid record of a partition. */
    static long endOrdinal(Path partition) throws IOException {
        List<Path> all = segments(partition);
        long start = all.isEmpty() ? 0 : firstOrdinal(all.get(all.size() - 1));
        try (FolderLogReader reader = new FolderLogReader(partition, start)) {
            while (reader.next() != null) {
                continue;
            }
            return reader.position();
        }
    }

    /** The ordinal of the record that {@link #next()} gives next. */
    public long position() {
        return ordinal;
    }

    /** The next record, or null where the log ends for now. A record in the middle that was damaged comes as one without bytes. */
    public byte @Nullable [] next() throws IOException {
        while (true) {
            if (in == null && !open()) {
                return null;
            }
            byte[] record = frame();
            if (record != null) {
                ordinal++;
                frameOffset += 8L + record.length;
                return record;
            }
            closeStream();
            Path following = following();
            if (following == null || firstOrdinal(following) != ordinal) {
                return null;
            }
            segment = following;
            frameOffset = 0;
        }
    }

    private boolean open() throws IOException {
        if (segment == null) {
            List<Path> all = segments(partition);
            if (all.isEmpty()) {
                return false;
            }
            segment = all.get(0);
            frameOffset = 0;
        }
        in = new DataInputStream(new BufferedInputStream(Files.newInputStream(segment), 1 << 16));
        in.skipNBytes(frameOffset);
        return true;
    }

    private byte @Nullable [] frame() throws IOException {
        if (in == null) {
            return null;
        }
        try {
            int length = in.readInt();
            int expected = in.readInt();
            if (length <= 0 || length > MAX_RECORD_BYTES) {
                return null;
            }
            byte[] record = in.readNBytes(length);
            CRC32C crc = new CRC32C();
            crc.update(record);
            if (record.length == length && (int) crc.getValue() == expected) {
                return record;
            }
            return record.length == length && isFollowed() ? damaged(length) : null;
        } catch (EOFException e) {
            return null;
        }
    }

    /** What was written to its end is followed by more; a torn record, or one still being written, is not. */
    private boolean isFollowed() throws IOException {
        if (in != null && in.read() >= 0) {
            return true;
        }
        Path following = following();
        return following != null && firstOrdinal(following) == ordinal + 1;
    }

    /** A damaged record keeps its place, so that it is counted as no event rather than lost with all behind it. */
    private byte[] damaged(int length) throws IOException {
        closeStream();
        frameOffset += length;
        return new byte[0];
    }

    private @Nullable Path following() throws IOException {
        for (Path candidate : segments(partition)) {
            if (segment != null && candidate.compareTo(segment) > 0) {
                return candidate;
            }
        }
        return null;
    }

    private void closeStream() throws IOException {
        if (in != null) {
            in.close();
            in = null;
        }
    }

    @Override
    public void close() throws IOException {
        closeStream();
    }
}
