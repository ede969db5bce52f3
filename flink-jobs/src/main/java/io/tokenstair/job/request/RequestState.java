package io.tokenstair.job.request;

import java.util.ArrayList;
import java.util.List;

/** What is remembered of one request id while any use of it is open. Cleared when the last one closes. */
public class RequestState {
    public List<LifetimeState> open = new ArrayList<>();
    public int lifetimesSoFar;
    public int observedSoFar;
    public List<String> aliases = new ArrayList<>();

    /** For Flink's serializer. */
    public RequestState() {}
}
