package io.tokenstair.job.clock;

import io.tokenstair.event.EventKind;
import io.tokenstair.job.source.RawRecord;
import java.util.Comparator;

/** A clock sample or a clock segment on its way to where segments are made, still in its wire form. */
public class ClockRecord {
    /** Event time; of one millisecond segments that were made before, then samples; then who recorded it. */
    public static final Comparator<ClockRecord> ORDER = Comparator.comparingLong(
                    (ClockRecord record) -> record.coarseEpochMillis)
            .thenComparing(record -> !record.fitted)
            .thenComparing((ClockRecord record) -> record.collectorId)
            .thenComparingLong((ClockRecord record) -> record.collectorEpoch)
            .thenComparingLong((ClockRecord record) -> record.sequence);

    /** Event time; {@link Long#MAX_VALUE} for an undated event. */
    public long coarseEpochMillis;

    /** True for a segment, false for a sample. */
    public boolean fitted;

    public String collectorId = "";
    public long collectorEpoch;
    public long sequence;
    public byte[] bytes = new byte[0];

    /** For Flink's serializer. */
    public ClockRecord() {}

    /** A record as it was read. */
    public static ClockRecord of(RawRecord read) {
        ClockRecord record = new ClockRecord();
        record.coarseEpochMillis = read.isDated() ? read.coarseEpochMillis : Long.MAX_VALUE;
        record.fitted = read.kindTag == EventKind.CLOCK_FITTED.tag();
        record.collectorId = read.collectorId;
        record.collectorEpoch = read.collectorEpoch;
        record.sequence = read.sequence;
        record.bytes = read.bytes;
        return record;
    }
}
