package io.tokenstair.job.step;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Why a token of a {@link TokenBatch} was slow. Only slow tokens have one. */
public class SlowToken {
    public int row;
    public String cause = "";
    public @Nullable String culpritRequestId;
    public String confidence = "";
    public String confidenceWhy = "";
    /** Gap less reference, and for a first token less its own prompt's work: what severity counts. */
    public long lostNanos;

    /** The record that its cause rests on; empty where that is its step. Known to its engine only. */
    public transient String recordId = "";

    /** Alternating part name and event id. */
    public List<String> evidence = new ArrayList<>();

    public List<String> chain = new ArrayList<>();

    /** For Flink's serializer. */
    public SlowToken() {}
}
