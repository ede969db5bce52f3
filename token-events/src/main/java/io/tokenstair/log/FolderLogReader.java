package io.tokenstair.log;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads one partition of a folder log from an ordinal on. {@link #next()} gives null at the last valid frame; when the writer has
 * appended since, a later call goes on from there.
 *
 * <p>Nothing is lost silently: a stretch without a valid frame comes as one record without bytes, and reading goes on at the next valid
 * frame, at the latest in the next segment. Only what may still be written, at the end of the last segment, is waited for; there is no such
 * end where segments are appended whole ({@link FolderLogAppender}), nor for who takes {@link #rest()}.
 */
public final class FolderLogReader implements Closeable {
    /** Longest record a reader takes. A longer length is damage. */
    public static final int MAX_RECORD_BYTES = 64 << 20;

    private static final Pattern PARTITION = Pattern.compile("partition-(\\d{1,9})");

    /** Longest record that is recognized behind damage; a longer one there is lost with it. */
    private static final int MAX_FOUND_BYTES = 1 << 20;

    /** Most bytes looked at, at once, for the next valid frame; where none is found by then the rest of the segment is lost. */
    private static final long MAX_SEARCH_BYTES = 256L << 20;

    private static final int HEAD_BYTES = 8;
    private static final int WINDOW_BYTES = 1 << 16;
    private static final byte[] DAMAGED = {};
    private static final long NONE = -1;

    private final Path partition;
    private final boolean appendedWhole;
    private long ordinal;
    private @Nullable Path segment;
    private long frameOffset;
    private @Nullable DataInputStream in;

    /** Where damage at the frame offset was told: up to where the next valid frame was looked for in vain; else {@link #NONE}. */
    private long searchedTo = NONE;

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
        appendedWhole = FolderLogAppender.appendsTo(partition);
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
            if (rest() == null) {
                throw new IOException(partition + ": the log ends at record " + ordinal + ", before record "
                        + startOrdinal + "; give the log this position was taken from");
            }
        }
    }

    /** The partition folders of a log, in order. */
    public static List<Path> partitions(Path log) throws IOException {
        try (Stream<Path> entries = Files.list(log)) {
            return entries.filter(entry -> entry.getFileName().toString().startsWith("partition-"))
                    .filter(Files::isDirectory)
                    .sorted()
                    .toList();
        }
    }

    /** The index in the name of a partition's folder; null where it is no such name. */
    public static @Nullable Integer partitionIndex(String folderName) {
        Matcher name = PARTITION.matcher(folderName);
        return name.matches() ? Integer.valueOf(name.group(1)) : null;
    }

    private static List<Path> segments(Path partition) throws IOException {
        try (Stream<Path> entries = Files.list(partition)) {
            return entries.filter(entry -> entry.getFileName().toString().matches("segment-\\d{10}\\.log"))
                    .filter(Files::isRegularFile)
                    .sorted()
                    .toList();
        }
    }

    private static long firstOrdinal(Path segment) {
        String name = segment.getFileName().toString();
        return Long.parseLong(name.substring("segment-".length(), name.length() - ".log".length()));
    }

    /** The ordinal behind the last record of a partition that nobody writes to now. */
    static long endOrdinal(Path partition) throws IOException {
        List<Path> all = segments(partition);
        long start = all.isEmpty() ? 0 : firstOrdinal(all.get(all.size() - 1));
        try (FolderLogReader reader = new FolderLogReader(partition, start)) {
            while (reader.rest() != null) {
                continue;
            }
            return reader.position();
        }
    }

    /** The ordinal behind the record that was given last: that of the next one, unless some were lost between. */
    public long position() {
        return ordinal;
    }

    /** The next record, or null where the log ends for now. What was damaged comes as one record without bytes. */
    public byte @Nullable [] next() throws IOException {
        return next(appendedWhole);
    }

    /** The same of a log that nobody writes to any more: what is torn at its end was damaged. */
    public byte @Nullable [] rest() throws IOException {
        return next(true);
    }

    private byte @Nullable [] next(boolean written) throws IOException {
        while (segment != null || begin()) {
            byte[] record = searchedTo == NONE ? frame() : null;
            Path following = null;
            if (record == null) {
                closeStream();
                following = following();
                // Once more: it may have become whole before the next segment was begun.
                record = searchedTo == NONE && following != null ? frame() : null;
            }
            if (record != null) {
                ordinal++;
                frameOffset += HEAD_BYTES + (long) record.length;
                return record;
            }
            closeStream();
            long left = Files.size(segment()) - frameOffset;
            boolean lost = left > 0
                    ? following != null || written || !mayBeGoingOn(left)
                    : following != null && ordinal < firstOrdinal(following);
            if (searchedTo == NONE && lost && following == null && !written) {
                // Once more: a frame that was torn when it was read may have been whole when its segment's size was.
                record = frame();
                if (record != null) {
                    ordinal++;
                    frameOffset += HEAD_BYTES + (long) record.length;
                    return record;
                }
                closeStream();
            }
            if (searchedTo == NONE && lost) {
                searchedTo = frameOffset + 1;
                find();
                // Of a log that an older version went on with, the torn end has no number.
                if (following == null || ordinal < firstOrdinal(following)) {
                    ordinal++;
                    return DAMAGED;
                }
            } else if (searchedTo == NONE || !find()) {
                if (following == null) {
                    return null;
                }
                segment = following;
                ordinal = firstOrdinal(following);
                frameOffset = 0;
                searchedTo = NONE;
            }
        }
        return null;
    }

    private Path segment() {
        return Objects.requireNonNull(segment);
    }

    private boolean begin() throws IOException {
        List<Path> all = segments(partition);
        if (all.isEmpty()) {
            return false;
        }
        segment = all.get(0);
        ordinal = firstOrdinal(segment());
        frameOffset = 0;
        return true;
    }

    private byte @Nullable [] frame() throws IOException {
        try {
            if (in == null) {
                in = new DataInputStream(new BufferedInputStream(Files.newInputStream(segment()), WINDOW_BYTES));
                in.skipNBytes(frameOffset);
            }
            int length = in.readInt();
            int expected = in.readInt();
            if (length <= 0 || length > MAX_RECORD_BYTES) {
                return null;
            }
            byte[] record = in.readNBytes(length);
            return record.length == length && FolderLogWriter.checksum(ByteBuffer.wrap(record)) == expected
                    ? record
                    : null;
        } catch (EOFException e) {
            return null;
        }
    }

    /** True where the bytes behind the last valid frame can be the beginning of one that is being written. */
    private boolean mayBeGoingOn(long left) throws IOException {
        ByteBuffer head = read(frameOffset, WINDOW_BYTES);
        if (head.remaining() < HEAD_BYTES) {
            return true;
        }
        int length = head.getInt(0);
        if (length != 0) {
            return length > 0 && length <= MAX_RECORD_BYTES && left <= HEAD_BYTES + (long) length;
        }
        // Space that a file system gave and nothing was written to.
        while (head.hasRemaining()) {
            if (head.get() != 0) {
                return false;
            }
        }
        return true;
    }

    /** Goes on at the next valid frame of the segment; false where there is none yet. */
    private boolean find() throws IOException {
        long size = Files.size(segment());
        long end = Math.min(size, searchedTo + MAX_SEARCH_BYTES);
        long checkedBytes = 0;
        for (long at = searchedTo; at + HEAD_BYTES < end; at += WINDOW_BYTES - HEAD_BYTES) {
            ByteBuffer window = read(at, WINDOW_BYTES);
            for (int i = 0; i <= window.limit() - HEAD_BYTES; i++) {
                int length = window.getInt(i);
                long next = at + i + HEAD_BYTES + length;
                if (length <= 0 || length > MAX_FOUND_BYTES || next > size || checkedBytes > MAX_SEARCH_BYTES) {
                    continue;
                }
                checkedBytes += length;
                if (FolderLogWriter.checksum(read(at + i + HEAD_BYTES, length)) == window.getInt(i + Integer.BYTES)) {
                    frameOffset = at + i;
                    searchedTo = NONE;
                    return true;
                }
            }
        }
        // A frame that is still being written may have begun that long before the end.
        searchedTo = Math.max(searchedTo, end - HEAD_BYTES - MAX_FOUND_BYTES);
        return false;
    }

    /** The bytes of the segment at an offset, at most so many, ready to be read. */
    private ByteBuffer read(long offset, int most) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(most);
        try (FileChannel channel = FileChannel.open(segment())) {
            while (bytes.hasRemaining() && channel.read(bytes, offset + bytes.position()) > 0) {
                continue;
            }
        }
        return bytes.flip();
    }

    /** The next segment whose records are not numbered before those given; null where there is none yet. */
    private @Nullable Path following() throws IOException {
        for (Path candidate : segments(partition)) {
            if (candidate.compareTo(segment()) > 0 && firstOrdinal(candidate) >= ordinal) {
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
