package io.tokenstair.job.step;

import io.tokenstair.cause.Cause;
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

    /** Whether it lies in what the step computed beside it, so that the tokens judged with it are slow for the same reason. */
    boolean isOfTheStep() {
        return cause.equals(Cause.PREFILL_INTERFERENCE.name()) || cause.equals(Cause.RECOMPUTE.name());
    }

    /** The same reason, of another token of the step with the same gap. */
    SlowToken of(int tokenIndex, long gapNanos, JudgedStep judged) {
        SlowToken slow = new SlowToken();
        slow.cause = cause;
        slow.culpritRequestId = culpritRequestId;
        slow.confidence = confidence;
        slow.confidenceWhy = confidenceWhy;
        slow.lostNanos = lostNanos;
        slow.recordId = recordId;
        slow.evidence = evidence;
        slow.chain = new ArrayList<>(chain);
        slow.chain.set(0, Narrative.after(tokenIndex, gapNanos, judged));
        return slow;
    }
}
