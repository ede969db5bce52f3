package io.tokenstair.job.source;

import java.util.Arrays;
import org.apache.flink.api.common.typeinfo.TypeInfo;

/**
 * One record as a source read it: the undecoded bytes of a log record, where they came from, and what their header says.
 *
 * <p>Fields are public and mutable because the record crosses operators by the million; a new one is made per record, so operators may
 * keep it as long as they do not change it. The fields from {@code kindTag} on are read by {@link HeaderPeek} and are as far as
 * known only: bytes that are no log record have kind tag 0, an empty collector and no date.
 */
@TypeInfo(RawRecordTypeInfo.Factory.class)
public final class RawRecord {
    /** The event time of an undated record. */
    public static final long UNDATED = Long.MIN_VALUE;

    /** A log record in its wire form, not yet decoded, perhaps not decodable. */
    public byte[] bytes = {};

    /** Whether the lateness gate found it late. Only an archive knows this when the record is read. */
    public boolean late;

    /** Name of the partition, topic partition or file it was read from. */
    public String origin = "";

    /** Position of the record in its origin, from 0. */
    public long ordinal;

    /** Permanent number of its kind; 0 when the bytes are no log record or have no kind. The number may be one unknown here. */
    public int kindTag;

    /** Event time of its collector in epoch milliseconds; {@link #UNDATED} when it has none. */
    public long coarseEpochMillis = UNDATED;

    /** Who recorded it; empty when the bytes are no log record. */
    public String collectorId = "";

    /** Which start of the collector recorded it. */
    public long collectorEpoch;

    /** Number of the record in its collector's epoch. */
    public long sequence;

    /** An empty record, to be filled. */
    public RawRecord() {}

    /** The record of these bytes, with the header fields peeked. */
    public static RawRecord of(byte[] bytes, String origin, long ordinal) {
        RawRecord record = new RawRecord();
        record.bytes = bytes;
        record.origin = origin;
        record.ordinal = ordinal;
        HeaderPeek.into(record);
        return record;
    }

    /** Whether it has an event time. */
    public boolean isDated() {
        return coarseEpochMillis != UNDATED;
    }

    /** A copy that shares the bytes, which nobody changes. */
    public RawRecord copy() {
        RawRecord copy = new RawRecord();
        copy.bytes = bytes;
        copy.late = late;
        copy.origin = origin;
        copy.ordinal = ordinal;
        copy.kindTag = kindTag;
        copy.coarseEpochMillis = coarseEpochMillis;
        copy.collectorId = collectorId;
        copy.collectorEpoch = collectorEpoch;
        copy.sequence = sequence;
        return copy;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RawRecord that
                && late == that.late
                && ordinal == that.ordinal
                && kindTag == that.kindTag
                && coarseEpochMillis == that.coarseEpochMillis
                && collectorEpoch == that.collectorEpoch
                && sequence == that.sequence
                && origin.equals(that.origin)
                && collectorId.equals(that.collectorId)
                && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return 31 * origin.hashCode() + Long.hashCode(ordinal);
    }

    @Override
    public String toString() {
        return origin + "#" + ordinal + " (kind " + kindTag + ", " + collectorId + "/" + collectorEpoch + "/" + sequence
                + ", " + bytes.length + " bytes)";
    }
}
