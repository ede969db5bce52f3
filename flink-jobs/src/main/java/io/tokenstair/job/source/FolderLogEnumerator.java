package io.tokenstair.job.source;

import io.tokenstair.log.FolderLogReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.connector.source.SplitsAssignment;
import org.apache.flink.util.FlinkRuntimeException;
import org.jspecify.annotations.Nullable;

/**
 * Finds the partitions of a folder log and gives partition i to reader i modulo the parallelism. An unbounded log is looked through
 * again and again, so that the partition of a collector that starts later is read too.
 */
final class FolderLogEnumerator implements SplitEnumerator<FolderLogSplit, FolderLogProgress> {
    private final SplitEnumeratorContext<FolderLogSplit> context;
    private final FolderLogSource source;
    private final TreeSet<String> known;
    private final Map<String, FolderLogSplit> unassigned = new TreeMap<>();
    private boolean discovered;

    FolderLogEnumerator(
            SplitEnumeratorContext<FolderLogSplit> context, FolderLogSource source, FolderLogProgress progress) {
        this.context = context;
        this.source = source;
        this.known = new TreeSet<>(progress.known());
        progress.unassigned().forEach(split -> unassigned.put(split.partition(), split));
    }

    @Override
    public void start() {
        if (source.isUnbounded()) {
            context.callAsync(this::discover, this::take, 0, source.discoveryMillis());
        } else {
            context.callAsync(this::discover, this::take);
        }
    }

    private List<String> discover() throws IOException {
        Path log = source.log();
        if (!Files.isDirectory(log)) {
            throw new UnusableInputException("Cannot read the log " + log
                    + ": there is no such folder; give the folder that holds partition-0000");
        }
        List<String> partitions = new ArrayList<>();
        for (Path partition : FolderLogReader.partitions(log)) {
            String name = partition.getFileName().toString();
            if (FolderLogReader.partitionIndex(name) != null) {
                partitions.add(name);
            }
        }
        if (partitions.isEmpty() && !source.isUnbounded()) {
            throw new UnusableInputException("Cannot read the log " + log
                    + ": it has no partition-NNNN folder; give the folder a collector wrote");
        }
        return partitions;
    }

    private void take(List<String> partitions, @Nullable Throwable failure) {
        if (failure != null) {
            throw new FlinkRuntimeException(failure.getMessage(), failure);
        }
        discovered = true;
        for (String partition : partitions) {
            if (known.add(partition)) {
                unassigned.put(partition, new FolderLogSplit(partition, 0));
            }
        }
        for (int reader : context.registeredReaders().keySet()) {
            assign(reader);
        }
    }

    private void assign(int reader) {
        List<FolderLogSplit> splits = new ArrayList<>();
        for (Iterator<FolderLogSplit> left = unassigned.values().iterator(); left.hasNext(); ) {
            FolderLogSplit split = left.next();
            if (index(split.partition()) % context.currentParallelism() == reader) {
                splits.add(split);
                left.remove();
            }
        }
        if (!splits.isEmpty()) {
            context.assignSplits(new SplitsAssignment<>(Map.of(reader, splits)));
        }
        if (discovered && !source.isUnbounded()) {
            context.signalNoMoreSplits(reader);
        }
    }

    private static int index(String partition) {
        Integer index = FolderLogReader.partitionIndex(partition);
        if (index == null) {
            throw new IllegalArgumentException("Cannot number the partition " + partition);
        }
        return index;
    }

    @Override
    public void addReader(int reader) {
        assign(reader);
    }

    @Override
    public void addSplitsBack(List<FolderLogSplit> splits, int reader) {
        splits.forEach(split -> unassigned.put(split.partition(), split));
        if (context.registeredReaders().containsKey(reader)) {
            assign(reader);
        }
    }

    @Override
    public void handleSplitRequest(int reader, @Nullable String host) {
        // Splits are handed out when they are found; a reader has nothing to ask for.
    }

    @Override
    public FolderLogProgress snapshotState(long checkpoint) {
        return new FolderLogProgress(known, unassigned.values());
    }

    @Override
    public void close() {}
}
