package io.tokenstair.log;

import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Appends to a folder log that many short-lived writers share and whose order matters: all of them go on with one partition, one at a
 * time. What is appended together becomes one segment, which a reader sees whole or not at all. The file {@code append.lock} in the log
 * says which partition it is; partitions of a {@link FolderLogWriter} are never continued.
 */
public final class FolderLogAppender {
    private static final String LOCK = "append.lock";
    private static final String UNFINISHED = "unfinished";

    private FolderLogAppender() {}

    /**
     * Appends records in their order behind all that this class appended before.
     *
     * @param log the folder; made where there is none
     * @param records none of them empty, or longer than {@link FolderLogReader#MAX_RECORD_BYTES}
     */
    public static synchronized void append(Path log, List<byte[]> records) throws IOException {
        for (byte[] record : records) {
            FolderLogWriter.requireReadable(record);
        }
        if (records.isEmpty()) {
            return;
        }
        Files.createDirectories(log);
        try (FileChannel channel = FileChannel.open(
                log.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            channel.lock();
            Path partition = shared(log, channel);
            // Its name matches no segment's, so readers look over it; one that was left there is written anew.
            Path unfinished = partition.resolve(UNFINISHED);
            try (DataOutputStream out =
                    new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(unfinished), 1 << 16))) {
                for (byte[] record : records) {
                    FolderLogWriter.frame(out, record);
                }
            }
            Path segment = FolderLogWriter.segment(partition, FolderLogReader.endOrdinal(partition));
            Files.move(unfinished, segment, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /** True where a partition of a log is the one this class appends to: all of its segments are whole from the beginning. */
    static boolean appendsTo(Path partition) throws IOException {
        Path log = partition.toAbsolutePath().getParent();
        Path lock = log == null ? null : log.resolve(LOCK);
        if (log == null || lock == null || !Files.isRegularFile(lock)) {
            return false;
        }
        try (FileChannel channel = FileChannel.open(lock)) {
            Path appended = named(log, channel);
            return appended != null && appended.getFileName().equals(partition.getFileName());
        }
    }

    /** The partition that the lock file names; null where it names none. */
    private static @Nullable Path named(Path log, FileChannel lock) throws IOException {
        ByteBuffer saved = ByteBuffer.allocate(Integer.BYTES);
        while (saved.hasRemaining() && lock.read(saved, saved.position()) > 0) {
            continue;
        }
        return saved.hasRemaining() ? null : FolderLogWriter.partition(log, saved.getInt(0));
    }

    /** The partition to go on with: the one the lock file names, else a new one behind all others. */
    private static Path shared(Path log, FileChannel lock) throws IOException {
        Path before = named(log, lock);
        if (before != null && Files.isDirectory(before)) {
            return before;
        }
        Path partition = FolderLogWriter.newPartition(log);
        Integer index = FolderLogReader.partitionIndex(partition.getFileName().toString());
        ByteBuffer named = ByteBuffer.allocate(Integer.BYTES).putInt(0, Objects.requireNonNull(index));
        while (named.hasRemaining()) {
            lock.write(named, named.position());
        }
        lock.force(false);
        return partition;
    }
}
