package io.tokenstair.job.request;

import io.tokenstair.job.timer.WaitingTimes;
import java.util.ArrayList;
import java.util.List;

/** Inputs of a request that event time has not completed yet. */
public class RequestBuffer {
    public List<RequestInput> inputs = new ArrayList<>();
    /** The timer that is set, or {@link Long#MIN_VALUE}. */
    public long timerMillis = Long.MIN_VALUE;

    /** Event times of the inputs; not kept in snapshots. */
    private final transient WaitingTimes<RequestInput> times =
            new WaitingTimes<>((RequestInput input) -> input.coarseEpochMillis);

    /** For Flink's serializer. */
    public RequestBuffer() {}

    /** Adds an input. */
    void add(RequestInput input) {
        times.add(inputs, input);
    }

    /** How many inputs have been looked at. */
    int waiting() {
        return times.count();
    }

    /** Takes out what is due at an event time. */
    void takeDue(long completeMillis, List<RequestInput> due) {
        times.takeDue(inputs, completeMillis, due);
    }

    /** The earliest event time of an input; {@link Long#MAX_VALUE} where there is none. */
    long earliestMillis() {
        return times.earliestMillis(inputs);
    }
}
