package io.tokenstair.job.clock;

import java.util.HashMap;
import java.util.Map;

/** The ways that are being fitted. Bounded by {@link ClockFitting#MAX_WAYS} of at most 13 KB. */
public class FittingState {
    /** Ways by {@link io.tokenstair.clock.ClockGraph#wayId}. */
    public Map<String, WayFit> ways = new HashMap<>();

    /** Records of ways that there was no room for. */
    public long refusedRecords;

    /** For Flink's serializer. */
    public FittingState() {}
}
