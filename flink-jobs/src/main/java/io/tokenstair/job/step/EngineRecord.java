package io.tokenstair.job.step;

import java.util.Comparator;

/** An event on its way to its engine, still in its wire form. */
public class EngineRecord {
    /** The total order of events; undated ones come last. */
    public static final Comparator<EngineRecord> ORDER = Comparator.comparingLong(
                    (EngineRecord record) -> record.coarseEpochMillis)
            .thenComparing((EngineRecord record) -> record.collectorId)
            .thenComparingLong((EngineRecord record) -> record.collectorEpoch)
            .thenComparingLong((EngineRecord record) -> record.sequence);

    public String engineId = "";
    /** Event time; {@link Long#MAX_VALUE} for an undated event. */
    public long coarseEpochMillis;

    public String collectorId = "";
    public long collectorEpoch;
    public long sequence;
    public byte[] bytes = new byte[0];

    /** For Flink's serializer. */
    public EngineRecord() {}
}
