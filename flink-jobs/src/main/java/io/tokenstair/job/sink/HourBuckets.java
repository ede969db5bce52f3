package io.tokenstair.job.sink;

import io.tokenstair.archive.ArchiveLayout;
import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.functions.sink.filesystem.BucketAssigner;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.SimpleVersionedStringSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Files rows by their table and the hour of their event time. The folder of a table is remembered for its last hour, so that its
 * name is not made anew for every row.
 *
 * @param <R> the rows
 */
final class HourBuckets<R> implements BucketAssigner<R, String> {
    private static final long serialVersionUID = 1L;
    private static final long HOUR_MILLIS = 3_600_000;

    private final TableOf<R> table;
    private final RowTime<R> time;
    private transient @Nullable Map<String, Bucket> last;

    HourBuckets(TableOf<R> table, RowTime<R> time) {
        this.table = table;
        this.time = time;
    }

    @Override
    public String getBucketId(R row, Context context) {
        Map<String, Bucket> known = last;
        if (known == null) {
            known = new HashMap<>();
            last = known;
        }
        String name = table.apply(row);
        Long epochMillis = time.epochMillis(row);
        long hour = epochMillis == null ? Long.MIN_VALUE : Math.floorDiv(epochMillis, HOUR_MILLIS);
        Bucket bucket = known.get(name);
        if (bucket == null || bucket.hour != hour) {
            bucket = new Bucket(hour, ArchiveLayout.bucket(name, epochMillis));
            known.put(name, bucket);
        }
        return bucket.folder;
    }

    @Override
    public SimpleVersionedSerializer<String> getSerializer() {
        return SimpleVersionedStringSerializer.INSTANCE;
    }

    /**
     * The table a row belongs to.
     *
     * @param <R> the rows
     */
    @FunctionalInterface
    interface TableOf<R> extends Function<R, String>, Serializable {}

    /** A folder and the hour it is for. */
    private record Bucket(long hour, String folder) {}
}
