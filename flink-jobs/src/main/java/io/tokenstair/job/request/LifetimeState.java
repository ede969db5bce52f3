package io.tokenstair.job.request;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One use of a request id: what an observer saw of it, and its sequences. */
public class LifetimeState {
    public int ordinal;
    public long lastEventMillis;

    public boolean observed;
    public String observer = "";
    public String observerClockId = "";
    public boolean warmup;
    public long sentNanos;
    public boolean sentKnown;
    /** Epoch less observer clock, good to {@link RequestLife#COARSE_BOUND_NANOS}: from the coarse wall reading of the same header. */
    public @Nullable Long observerOffsetNanos;

    public @Nullable Long endedNanos;
    public @Nullable Integer choicesCount;
    public @Nullable Long promptTokens;
    public @Nullable Integer priority;
    public boolean completed;
    public @Nullable String outcome;
    public @Nullable String errorType;
    public String completedEventId = "";
    public boolean roleChunk;

    public List<String> uniques = new ArrayList<>();
    public List<SequenceLife> sequences = new ArrayList<>();

    /** For Flink's serializer. */
    public LifetimeState() {}
}
