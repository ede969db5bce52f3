package io.tokenstair.log;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.zip.CRC32C;

/**
 * Appends records to one partition of a folder log: {@code DIR/partition-NNNN/segment-NNNNNNNNNN.log}, each a run of frames
 * {@code length (int), CRC-32C of the payload (int), payload}, big-endian. A segment's number is the ordinal of its first record.
 * A reader stops at the last valid frame, so a torn end costs the torn record only.
 */
public final class FolderLogWriter implements Closeable {
    /** Bytes after which a new segment begins. */
    public static final long SEGMENT_BYTES = 64L << 20;

    private final Path partition;
    private final long segmentBytes;
    private DataOutputStream out;
    private long written;
    private long ordinal;

    /** Opens a new partition; the folder must not hold it yet. */
    public FolderLogWriter(Path log, int partitionIndex) throws IOException {
        this(log, partitionIndex, SEGMENT_BYTES);
    }

    FolderLogWriter(Path log, int partitionIndex, long segmentBytes) throws IOException {
        this.partition = partition(log, partitionIndex);
        this.segmentBytes = segmentBytes;
        Files.createDirectories(log);
        Files.createDirectory(partition);
        this.out = open();
    }

    private DataOutputStream open() throws IOException {
        written = 0;
        return new DataOutputStream(
                new BufferedOutputStream(Files.newOutputStream(segment(partition, ordinal)), 1 << 16));
    }

    static Path partition(Path log, int index) {
        return log.resolve(String.format(Locale.ROOT, "partition-%04d", index));
    }

    /** Makes the folder of a new partition, behind all others. */
    static Path newPartition(Path log) throws IOException {
        int index = 0;
        for (Path taken : FolderLogReader.partitions(log)) {
            Integer of = FolderLogReader.partitionIndex(taken.getFileName().toString());
            index = of == null ? index : Math.max(index, of + 1);
        }
        while (true) {
            try {
                return Files.createDirectory(partition(log, index));
            } catch (FileAlreadyExistsException taken) {
                // Another writer was faster: the next one is free, or the one after.
                index++;
            }
        }
    }

    static Path segment(Path partition, long firstOrdinal) {
        return partition.resolve(String.format(Locale.ROOT, "segment-%010d.log", firstOrdinal));
    }

    /** Refuses an empty record, whose frame a run of zero bytes would look like, and one that no reader takes. */
    static void requireReadable(byte[] record) {
        if (record.length == 0 || record.length > FolderLogReader.MAX_RECORD_BYTES) {
            throw new IllegalArgumentException("Cannot append a record of this many bytes: " + record.length);
        }
    }

    static int checksum(ByteBuffer record) {
        CRC32C crc = new CRC32C();
        crc.update(record);
        return (int) crc.getValue();
    }

    static void frame(DataOutputStream out, byte[] record) throws IOException {
        out.writeInt(record.length);
        out.writeInt(checksum(ByteBuffer.wrap(record)));
        out.write(record);
    }

    /** Appends one record and returns its ordinal in the partition; one that no reader takes is refused. */
    public long append(byte[] record) throws IOException {
        requireReadable(record);
        if (written >= segmentBytes) {
            out.close();
            out = open();
        }
        frame(out, record);
        written += 8L + record.length;
        return ordinal++;
    }

    /** Hands everything written so far to the operating system. */
    public void flush() throws IOException {
        out.flush();
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
