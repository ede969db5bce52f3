package io.tokenstair.bench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * A synthetic fleet as log records in memory, encoded ahead of the run. Every engine keeps all its seats taken: a request that ends
 * is replaced in the next step, whose prompt is computed in one piece, so that every step makes one token per sequence. Step times
 * follow a roofline with one percent of noise; one prompt in twenty is long enough to slow the tokens beside it.
 */
public final class Fleet {
    private final List<byte[][]> partitions;
    private final FleetSize size;
    private final int longestPartition;

    private Fleet(FleetSize size, List<byte[][]> partitions) {
        this.size = size;
        this.partitions = partitions;
        this.longestPartition =
                partitions.stream().mapToInt(records -> records.length).max().orElse(0);
    }

    /** Makes the records of a fleet. The same size gives the same bytes. */
    public static Fleet of(FleetSize size) {
        List<byte[][]> partitions = new ArrayList<>();
        for (int partition = 0; partition < size.partitions(); partition++) {
            partitions.add(partition(size, partition));
        }
        return new Fleet(size, partitions);
    }

    /** What was asked for. */
    public FleetSize size() {
        return size;
    }

    /** Records of a partition in the order of its log. */
    public byte[][] partition(int partition) {
        return partitions.get(partition);
    }

    /** Records of the longest partition. */
    public int longestPartition() {
        return longestPartition;
    }

    /** Bytes of all records. */
    public long bytes() {
        long bytes = 0;
        for (byte[][] records : partitions) {
            for (byte[] record : records) {
                bytes += record.length;
            }
        }
        return bytes;
    }

    private static byte[][] partition(FleetSize size, int partition) {
        PriorityQueue<SyntheticEngine> next = new PriorityQueue<>(
                Comparator.comparingLong(SyntheticEngine::nextEndNanos).thenComparingInt(SyntheticEngine::number));
        for (int engine = partition; engine < size.engines(); engine += size.partitions()) {
            next.add(new SyntheticEngine(engine, size.sequencesPerStep(), size.hostSamples()));
        }
        List<byte[]> records = new ArrayList<>();
        while (!next.isEmpty()) {
            SyntheticEngine engine = next.remove();
            engine.step(records);
            if (engine.steps() < size.stepsPerEngine()) {
                next.add(engine);
            }
        }
        return records.toArray(byte[][]::new);
    }
}
