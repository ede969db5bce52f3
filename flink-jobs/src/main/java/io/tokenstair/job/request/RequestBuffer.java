package io.tokenstair.job.request;

import java.util.ArrayList;
import java.util.List;

/** Inputs of a request that event time has not completed yet. */
public class RequestBuffer {
    public List<RequestInput> inputs = new ArrayList<>();
    /** The timer that is set, or {@link Long#MIN_VALUE}. */
    public long timerMillis = Long.MIN_VALUE;

    /** For Flink's serializer. */
    public RequestBuffer() {}
}
