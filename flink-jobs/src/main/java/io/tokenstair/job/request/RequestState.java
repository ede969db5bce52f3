package io.tokenstair.job.request;

import java.util.ArrayList;
import java.util.List;

/**
 * What is remembered of one request id. While a use of it is open: that use. For {@link RequestLife#MEMORY_MILLIS} after the last
 * one closed: how many there were, so that the next gets its own number.
 */
public class RequestState {
    public List<LifetimeState> open = new ArrayList<>(1);
    public int lifetimesSoFar;
    public long lastCloseMillis = Long.MIN_VALUE;
    public List<String> aliases = new ArrayList<>(0);

    /** For Flink's serializer. */
    public RequestState() {}
}
