package io.tokenstair.collect.output;

import io.tokenstair.event.EventHeader;
import io.tokenstair.log.FolderLogWriter;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The spools of all collectors of an import, and the log they become: one partition in {@link EventHeader#ORDER}. */
public final class EventSpools implements Closeable {
    private static final long MEMORY_BYTES = 8L << 20;
    /** Spools that may hold what fits in memory: those made before them have it in files. */
    private static final int HELD = 16;

    private final Path log;
    private final List<CollectorSpool> spools = new ArrayList<>();
    private @Nullable Path runFolder;
    private int runCount;

    /** Spools for a log folder, which holds the run files of large captures until {@link #close()}. */
    public EventSpools(Path log) {
        this.log = log;
    }

    /** A new collector. */
    public CollectorSpool collector(String collectorId, long collectorEpoch, String clockId) throws IOException {
        if (spools.size() >= HELD) {
            spools.get(spools.size() - HELD).toFile();
        }
        CollectorSpool spool = new CollectorSpool(collectorId, collectorEpoch, clockId, this::nextRun, MEMORY_BYTES);
        spools.add(spool);
        return spool;
    }

    /** Bytes of events that are held in memory now. */
    long heldBytes() {
        return spools.stream().mapToLong(CollectorSpool::heldBytes).sum();
    }

    private Path nextRun() throws IOException {
        if (runFolder == null) {
            Files.createDirectories(log);
            runFolder = Files.createTempDirectory(log, ".import-");
        }
        return runFolder.resolve("run-" + runCount++);
    }

    /** Writes all events as partition 0 of the log and returns their number. Leaves no half a partition where that fails. */
    public long write() throws IOException {
        try {
            return merge();
        } catch (IOException e) {
            deletePartition();
            throw e;
        }
    }

    private void deletePartition() throws IOException {
        Path partition = log.resolve("partition-0000");
        if (Files.isDirectory(partition)) {
            try (Stream<Path> segments = Files.list(partition)) {
                for (Path segment : (Iterable<Path>) segments::iterator) {
                    Files.delete(segment);
                }
            }
            Files.delete(partition);
        }
    }

    private long merge() throws IOException {
        PriorityQueue<CollectorSpool.Cursor> heads =
                new PriorityQueue<>(Comparator.comparing(CollectorSpool.Cursor::header, EventHeader.ORDER));
        for (CollectorSpool spool : spools) {
            CollectorSpool.Cursor cursor = spool.cursor();
            if (cursor.next()) {
                heads.add(cursor);
            }
        }
        long written = 0;
        try (FolderLogWriter writer = new FolderLogWriter(log, 0)) {
            for (CollectorSpool.Cursor cursor = heads.poll(); cursor != null; cursor = heads.poll()) {
                writer.append(cursor.bytes());
                written++;
                if (cursor.next()) {
                    heads.add(cursor);
                }
            }
        }
        return written;
    }

    @Override
    public void close() throws IOException {
        for (CollectorSpool spool : spools) {
            spool.close();
        }
        if (runFolder != null) {
            Files.deleteIfExists(runFolder);
        }
    }
}
