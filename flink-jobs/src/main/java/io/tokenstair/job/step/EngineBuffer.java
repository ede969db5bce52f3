package io.tokenstair.job.step;

import java.util.ArrayList;
import java.util.List;

/** Events of an engine that event time has not completed yet. Bounded by the lateness bound times the event rate. */
public class EngineBuffer {
    public List<EngineRecord> records = new ArrayList<>();
    /** The timer that is set, or {@link Long#MIN_VALUE}. */
    public long timerMillis = Long.MIN_VALUE;

    /** For Flink's serializer. */
    public EngineBuffer() {}
}
