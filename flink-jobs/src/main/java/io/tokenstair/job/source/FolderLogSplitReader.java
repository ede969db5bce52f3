package io.tokenstair.job.source;

import io.tokenstair.log.FolderLogReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.flink.connector.base.source.reader.RecordsBySplits;
import org.apache.flink.connector.base.source.reader.RecordsWithSplitIds;
import org.apache.flink.connector.base.source.reader.splitreader.SplitReader;
import org.apache.flink.connector.base.source.reader.splitreader.SplitsAddition;
import org.apache.flink.connector.base.source.reader.splitreader.SplitsChange;
import org.apache.flink.connector.base.source.reader.splitreader.SplitsRemoval;

/**
 * Reads the partitions of one subtask in turn, a bounded batch from each, so that none runs far ahead of the others. A bounded split
 * ends where the log does, what is torn there being a record without bytes; unbounded ones are looked at again after a pause when none had
 * anything new.
 */
final class FolderLogSplitReader implements SplitReader<RawRecord, FolderLogSplit> {
    private static final int BATCH_RECORDS = 512;
    private static final int BATCH_BYTES = 1 << 20;

    private final FolderLogSource source;
    private final Map<String, FolderLogReader> readers = new HashMap<>();
    private final ArrayDeque<String> turn = new ArrayDeque<>();
    private final Set<String> paused = new HashSet<>();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition woken = lock.newCondition();
    private boolean wakeUp;

    FolderLogSplitReader(FolderLogSource source) {
        this.source = source;
    }

    @Override
    public RecordsWithSplitIds<RawRecord> fetch() throws IOException {
        RecordsBySplits.Builder<RawRecord> batch = new RecordsBySplits.Builder<>();
        for (int left = turn.size(); left > 0; left--) {
            String partition = turn.removeFirst();
            FolderLogReader reader = readers.get(partition);
            if (reader == null) {
                continue;
            }
            List<RawRecord> records = paused.contains(partition) ? List.of() : read(partition, reader);
            if (!records.isEmpty()) {
                turn.addLast(partition);
                batch.addAll(partition, records);
                return batch.build();
            }
            if (!source.isUnbounded() && !paused.contains(partition)) {
                reader.close();
                readers.remove(partition);
                batch.addFinishedSplit(partition);
                return batch.build();
            }
            turn.addLast(partition);
        }
        awaitMore();
        return batch.build();
    }

    private List<RawRecord> read(String partition, FolderLogReader reader) throws IOException {
        List<RawRecord> records = new ArrayList<>();
        for (int size = 0; records.size() < BATCH_RECORDS && size < BATCH_BYTES; ) {
            byte[] bytes = source.isUnbounded() ? reader.next() : reader.rest();
            if (bytes == null) {
                break;
            }
            size += bytes.length;
            records.add(RawRecord.of(bytes, partition, reader.position() - 1));
        }
        return records;
    }

    private void awaitMore() throws IOException {
        lock.lock();
        try {
            for (long left = TimeUnit.MILLISECONDS.toNanos(source.pollMillis()); !wakeUp && left > 0; ) {
                left = woken.awaitNanos(left);
            }
            wakeUp = false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Cannot go on reading the log " + source.log() + ": interrupted", e);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void wakeUp() {
        lock.lock();
        try {
            wakeUp = true;
            woken.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void handleSplitsChanges(SplitsChange<FolderLogSplit> change) {
        if (change instanceof SplitsAddition) {
            change.splits().forEach(this::open);
        } else if (change instanceof SplitsRemoval) {
            change.splits().forEach(this::drop);
        } else {
            throw new UnsupportedOperationException("Cannot handle " + change);
        }
    }

    private void open(FolderLogSplit split) {
        try {
            readers.put(
                    split.partition(), new FolderLogReader(source.log().resolve(split.partition()), split.position()));
            turn.addLast(split.partition());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void drop(FolderLogSplit split) {
        turn.remove(split.partition());
        paused.remove(split.partition());
        FolderLogReader reader = readers.remove(split.partition());
        if (reader == null) {
            return;
        }
        try {
            reader.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void pauseOrResumeSplits(Collection<FolderLogSplit> toPause, Collection<FolderLogSplit> toResume) {
        toPause.forEach(split -> paused.add(split.partition()));
        toResume.forEach(split -> paused.remove(split.partition()));
    }

    @Override
    public void close() throws IOException {
        for (FolderLogReader reader : readers.values()) {
            reader.close();
        }
        readers.clear();
    }
}
