package io.tokenstair.simulate;

import io.tokenstair.cause.Cause;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One sequence inside the engine, and what its open gap has cost so far. */
final class Sequence {
    final RequestPlan plan;
    final int handle;
    final long queuedNanos;

    /** Tokens whose KV is there. */
    int computedTokens;

    int madeTokens;
    final List<Integer> blocks = new ArrayList<>();
    boolean running;
    /** It lost its blocks and has not caught up with what it had. */
    boolean recovering;
    /** Tokens whose KV it had when it lost its blocks. */
    int hadTokens;
    /** The next chunk is the first one since it was queued or lost its blocks. */
    boolean firstChunk = true;

    int cachedTokens;
    int preemptionCount;

    // ---- KV on its way
    boolean lookedUp;
    long transferEndNanos;

    @Nullable
    Cause transferCause;

    // ---- the open gap
    /** End of the step that made its last token; the queued stamp before there is one. */
    long gapFromNanos;

    /** Up to where its time without a step is accounted for. */
    long accountedNanos;

    long[] causeNanos = new long[Cause.values().length];
    /** What its own prompt took. */
    long ownPromptNanos;

    /** Why it was not scheduled in the last schedule call. */
    Cause waitReason = Cause.QUEUE_WAIT;

    Sequence(RequestPlan plan, int handle, long queuedNanos) {
        this.plan = plan;
        this.handle = handle;
        this.queuedNanos = queuedNanos;
        this.gapFromNanos = queuedNanos;
        this.accountedNanos = queuedNanos;
    }

    /** Tokens it consists of by now. */
    int totalTokens() {
        return plan.promptTokens() + madeTokens;
    }

    /** Tokens to compute before the next token comes out. */
    int owedTokens() {
        return totalTokens() - computedTokens;
    }

    void add(Cause cause, long nanos) {
        causeNanos[cause.ordinal()] += nanos;
    }

    /** Its next gap begins. */
    void nextGap(long nanos) {
        gapFromNanos = nanos;
        accountedNanos = nanos;
        causeNanos = new long[Cause.values().length];
        ownPromptNanos = 0;
    }
}
