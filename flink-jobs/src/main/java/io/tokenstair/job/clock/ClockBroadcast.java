package io.tokenstair.job.clock;

import io.tokenstair.clock.ClockGraph;
import io.tokenstair.clock.ClockWay;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReadOnlyBroadcastState;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.jspecify.annotations.Nullable;

/**
 * The clock graph of an operator that aligns stamps, over the segments that every subtask hears of. Each holds the ways of the whole job:
 * in a stream the last {@link ClockWay#LOOKBACK_MILLIS} of each, in batch, where segments come before everything else, all of them, 64 bytes a
 * segment. A way is forgotten {@link ClockGraph#MEMORY_MILLIS} after its last segment.
 */
public final class ClockBroadcast {
    /** The ways by their ids. */
    public static final MapStateDescriptor<String, ClockWay> WAYS =
            new MapStateDescriptor<>("clock-ways", Types.STRING, TypeInformation.of(ClockWay.class));

    /** How far behind the watermark an operator may still align stamps. */
    private static final long HELD_MILLIS = 60_000;

    private static final long FORGET_EVERY_MILLIS = 10_000;

    private @Nullable ClockGraph graph;
    private long forgottenMillis = Long.MIN_VALUE;

    /** What this subtask has heard of. */
    public ClockGraph graph(ReadOnlyBroadcastState<String, ClockWay> ways) throws Exception {
        if (graph == null) {
            List<ClockWay> known = new ArrayList<>();
            for (Map.Entry<String, ClockWay> entry : ways.immutableEntries()) {
                known.add(entry.getValue());
            }
            graph = ClockGraph.of(known);
        }
        return graph;
    }

    /** Takes a segment. */
    public void accept(PublishedSegment published, BroadcastState<String, ClockWay> ways, long watermark)
            throws Exception {
        ClockGraph known = graph(ways);
        ClockWay way = known.add(published.segment(), published.publishedMillis());
        if (way != null) {
            ways.put(ClockGraph.wayId(way.fromClockId, way.toClockId), way);
        }
        boolean running = watermark != Long.MIN_VALUE && watermark != Long.MAX_VALUE;
        if (running && watermark - FORGET_EVERY_MILLIS > forgottenMillis) {
            forgottenMillis = watermark;
            for (String gone : known.forget(watermark - HELD_MILLIS)) {
                ways.remove(gone);
            }
        }
    }
}
