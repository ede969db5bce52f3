package io.tokenstair.job.step;

import io.tokenstair.job.timer.WaitingTimes;
import java.util.ArrayList;
import java.util.List;

/** Events of an engine that event time has not completed yet. Bounded by the lateness bound times the event rate. */
public class EngineBuffer {
    public List<EngineRecord> records = new ArrayList<>();
    /** The timer that is set, or {@link Long#MIN_VALUE}. */
    public long timerMillis = Long.MIN_VALUE;

    /** Event times of the records; not kept in snapshots. */
    private final transient WaitingTimes<EngineRecord> times =
            new WaitingTimes<>((EngineRecord record) -> record.coarseEpochMillis);

    /** For Flink's serializer. */
    public EngineBuffer() {}

    /** Adds a record. */
    void add(EngineRecord record) {
        times.add(records, record);
    }

    /** Takes out what is due at an event time, in order. */
    List<EngineRecord> takeDue(long completeMillis) {
        List<EngineRecord> due = new ArrayList<>();
        times.takeDue(records, completeMillis, due);
        due.sort(EngineRecord.ORDER);
        return due;
    }

    /** The earliest event time of a record; {@link Long#MAX_VALUE} where there is none. */
    long earliestMillis() {
        return times.earliestMillis(records);
    }
}
