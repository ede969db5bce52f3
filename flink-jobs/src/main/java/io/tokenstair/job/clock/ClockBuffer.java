package io.tokenstair.job.clock;

import java.util.ArrayList;
import java.util.List;

/** Clock records that event time has not completed yet. Bounded by the lateness bound times the rate of samples. */
public class ClockBuffer {
    public List<ClockRecord> records = new ArrayList<>();
    /** The timer that is set, or {@link Long#MIN_VALUE}. */
    public long timerMillis = Long.MIN_VALUE;

    /** For Flink's serializer. */
    public ClockBuffer() {}
}
