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
    /** Alternating part name and event id. */
    public List<String> evidence = new ArrayList<>();

    public List<String> chain = new ArrayList<>();

    /** For Flink's serializer. */
    public SlowToken() {}
}
