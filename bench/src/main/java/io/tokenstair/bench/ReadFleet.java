package io.tokenstair.bench;

import io.tokenstair.job.source.RawRecord;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/**
 * Turns numbers into records of the fleet in memory: number {@code i} is record {@code i mod length} of partition
 * {@code i div length}, where length is that of the longest partition. The fleet is reached through the class, because Flink sends
 * functions as bytes.
 */
public final class ReadFleet implements FlatMapFunction<Long, RawRecord> {
    private static final long serialVersionUID = 1L;
    private static final AtomicReference<@Nullable Reading> READING = new AtomicReference<>();

    /** A reader of the fleet given to {@link #prepare}. */
    public ReadFleet() {}

    /** What is read, and what to do at the first record. */
    private record Reading(Fleet fleet, Runnable atFirst, AtomicReference<Boolean> started) {}

    /** Sets what the next job reads, and what runs when it reads its first record. */
    static void prepare(Fleet fleet, Runnable atFirst) {
        READING.set(new Reading(fleet, atFirst, new AtomicReference<>(false)));
    }

    /** What is read. Whoever asks first starts the clock. */
    static Fleet fleet() {
        Reading reading = READING.get();
        if (reading == null) {
            throw new IllegalStateException("Cannot read a fleet that was not prepared");
        }
        if (!reading.started.getPlain() && reading.started.compareAndSet(false, true)) {
            reading.atFirst.run();
        }
        return reading.fleet;
    }

    @Override
    public void flatMap(Long number, Collector<RawRecord> out) {
        Fleet fleet = fleet();
        int length = fleet.longestPartition();
        int partition = (int) (number / length);
        int record = (int) (number % length);
        byte[][] records = fleet.partition(partition);
        if (record < records.length) {
            out.collect(RawRecord.of(records[record], "partition-" + partition, record));
        }
    }
}
