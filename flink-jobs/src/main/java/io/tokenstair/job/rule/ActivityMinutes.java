package io.tokenstair.job.rule;

import java.util.HashMap;
import java.util.Map;

/** Minutes of a revision that are not told yet. Bounded by how far parts lag behind the watermark: a few minutes. */
public class ActivityMinutes {
    /** Sums by start of the minute, in ms. */
    public Map<Long, ActivityPart> parts = new HashMap<>();

    /** Start of the last minute told, in ms; {@link Long#MIN_VALUE} where none was. */
    public long toldMillis = Long.MIN_VALUE;

    /** The timer that is set, or {@link Long#MIN_VALUE}. */
    public long timerMillis = Long.MIN_VALUE;

    /** For Flink's serializer. */
    public ActivityMinutes() {}
}
