package io.tokenstair.bench;

import com.sun.management.GarbageCollectorMXBean;
import com.sun.management.GcInfo;
import io.tokenstair.bench.Measurement.StateSize;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Looks now and then, while a job runs, how large its completed checkpoints are, and what the heap holds after a collection. */
final class StateWatch {
    private static final long LOOK_MILLIS = 50;

    private final Path checkpoints;
    private final long heapBefore;
    private final CountDownLatch over = new CountDownLatch(1);
    private final Thread thread;
    private final Set<String> seen = new HashSet<>();
    private long mostBytes;
    private long mostHeap;

    private StateWatch(Path checkpoints, long heapBefore) {
        this.checkpoints = checkpoints;
        this.heapBefore = heapBefore;
        this.thread = new Thread(this::look, "state-watch");
    }

    /** Begins to look; at nothing where no checkpoints are taken. */
    static StateWatch start(Path checkpoints, long checkpointMillis) {
        StateWatch watch = new StateWatch(checkpoints, heapAfterCollection());
        if (checkpointMillis > 0) {
            watch.thread.start();
        }
        return watch;
    }

    /** Ends. */
    void stop() throws InterruptedException {
        over.countDown();
        thread.join();
    }

    /** The largest that was seen. */
    StateSize size() {
        return new StateSize(seen.size(), mostBytes, mostHeap == 0 ? 0 : mostHeap - heapBefore);
    }

    private void look() {
        try {
            while (!over.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
                mostHeap = Math.max(mostHeap, heapAfterCollection());
                lookAtCheckpoints();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void lookAtCheckpoints() {
        try (Stream<Path> files =
                Files.find(checkpoints, 3, (path, what) -> path.endsWith("_metadata") && what.isRegularFile())) {
            for (Path metadata : files.toList()) {
                Path checkpoint = metadata.getParent();
                if (checkpoint != null && seen.add(checkpoint.toString())) {
                    mostBytes = Math.max(mostBytes, bytes(checkpoint));
                }
            }
        } catch (IOException | UncheckedIOException e) {
            // Older checkpoints are deleted while they are looked at.
            return;
        }
    }

    private static long bytes(Path folder) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(folder)) {
            files = all.toList();
        }
        long bytes = 0;
        for (Path file : files) {
            try {
                bytes += Files.size(file);
            } catch (NoSuchFileException e) {
                // It belongs to a checkpoint that is being deleted.
                continue;
            }
        }
        return bytes;
    }

    /** What the heap held after the last collection of any collector, bytes. */
    private static long heapAfterCollection() {
        GcInfo last = null;
        for (var bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            if (bean instanceof GarbageCollectorMXBean collector) {
                GcInfo info = collector.getLastGcInfo();
                last = last == null || (info != null && info.getEndTime() > last.getEndTime()) ? info : last;
            }
        }
        long bytes = 0;
        if (last != null) {
            for (var pool : last.getMemoryUsageAfterGc().entrySet()) {
                MemoryUsage usage = pool.getValue();
                String name = pool.getKey();
                bytes += name.contains("Eden") || name.contains("Survivor") || name.contains("Old")
                        ? usage.getUsed()
                        : 0;
            }
        }
        return bytes;
    }
}
