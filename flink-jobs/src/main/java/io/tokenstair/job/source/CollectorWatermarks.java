package io.tokenstair.job.source;

import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;

/**
 * The event time of one partition: what every collector in it has passed, less the lateness bound.
 *
 * <p>Within a collector event time never falls, but collectors that share a partition may be apart; the slowest of them counts, not the
 * fastest. One that has not been heard for a span of the partition's event time no longer holds the others back, so a collector that
 * stopped costs a pause and not the job. Undated records move nothing. It remembers one number per collector heard within that span, for at most
 * {@link #MAX_COLLECTORS} of them: beyond, the one that is furthest behind is given up.
 */
public final class CollectorWatermarks implements WatermarkGenerator<RawRecord> {
    /** How much later than its collectors' event time a record may come and still be on time. */
    public static final Duration LATENESS = Duration.ofSeconds(5);

    /** After how much event time without a record a collector no longer holds its partition back. */
    public static final Duration SILENCE = Duration.ofSeconds(60);

    /** After how much time without any record a partition no longer holds the others back. */
    public static final Duration IDLENESS = Duration.ofSeconds(30);

    /** Most collectors that are told apart in one partition. */
    public static final int MAX_COLLECTORS = 4096;

    private final long latenessMillis;
    private final long silenceMillis;
    private final Map<String, Reached> collectors = new HashMap<>();
    private long partitionMillis = RawRecord.UNDATED;
    private long emittedMillis = Long.MIN_VALUE;

    /** The generator of one partition. */
    public CollectorWatermarks(Duration lateness, Duration silence) {
        this.latenessMillis = lateness.toMillis();
        this.silenceMillis = silence.toMillis();
    }

    /** The usual strategy, with this lateness bound. */
    public static WatermarkStrategy<RawRecord> strategy(Duration lateness) {
        return strategy(lateness, SILENCE, IDLENESS);
    }

    /** Event time from the header, watermarks per partition, partitions without records set aside after the idleness. */
    public static WatermarkStrategy<RawRecord> strategy(Duration lateness, Duration silence, Duration idleness) {
        return WatermarkStrategy.<RawRecord>forGenerator(context -> new CollectorWatermarks(lateness, silence))
                .withTimestampAssigner((record, logTimestamp) -> record.coarseEpochMillis)
                .withIdleness(idleness);
    }

    @Override
    public void onEvent(RawRecord record, long timestamp, WatermarkOutput output) {
        if (!record.isDated()) {
            return;
        }
        Reached reached = collectors.get(record.collectorId);
        if (reached == null) {
            if (collectors.size() >= MAX_COLLECTORS) {
                giveUpSlowest();
            }
            reached = new Reached();
            collectors.put(record.collectorId, reached);
        }
        reached.epochMillis = Math.max(reached.epochMillis, record.coarseEpochMillis);
        partitionMillis = Math.max(partitionMillis, record.coarseEpochMillis);
    }

    private void giveUpSlowest() {
        String slowest = "";
        long millis = Long.MAX_VALUE;
        for (Map.Entry<String, Reached> entry : collectors.entrySet()) {
            if (entry.getValue().epochMillis < millis) {
                millis = entry.getValue().epochMillis;
                slowest = entry.getKey();
            }
        }
        collectors.remove(slowest);
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {
        long least = Long.MAX_VALUE;
        for (Iterator<Reached> all = collectors.values().iterator(); all.hasNext(); ) {
            long millis = all.next().epochMillis;
            if (millis < partitionMillis - silenceMillis) {
                all.remove();
            } else {
                least = Math.min(least, millis);
            }
        }
        if (least == Long.MAX_VALUE) {
            return;
        }
        long watermark = least - latenessMillis - 1;
        if (watermark > emittedMillis) {
            emittedMillis = watermark;
            output.emitWatermark(new Watermark(watermark));
        }
    }

    /** How far one collector has come. */
    private static final class Reached {
        private long epochMillis = RawRecord.UNDATED;
    }
}
