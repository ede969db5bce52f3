package io.tokenstair.simulate;

import io.tokenstair.cause.Cause;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** One sequence inside the engine, and what its open gap has cost so far. */
final class Sequence {
    final RequestPlan plan;

    /** Which sequence of its request. */
    final int choice;

    /** Chained hashes of its blocks. */
    final long[] chain;

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
    /** Which other requests the open gap is the doing of, by cause. */
    private final Map<Cause, Map<String, Long>> blame = new EnumMap<>(Cause.class);

    /** Whose allocation took its blocks; the largest other holder where it was its own. */
    @Nullable
    Sequence preemptedFor;

    /** What its own prompt took. */
    long ownPromptNanos;

    /** Why it was not scheduled in the last schedule call. */
    Cause waitReason = Cause.QUEUE_WAIT;

    Sequence(RequestPlan plan, int choice, int handle, long queuedNanos) {
        this.plan = plan;
        this.choice = choice;
        this.chain = choice == 0 ? plan.chain() : chainOf(plan, choice);
        this.handle = handle;
        this.queuedNanos = queuedNanos;
        this.gapFromNanos = queuedNanos;
        this.accountedNanos = queuedNanos;
    }

    /** The blocks of the prompt are the same for all sequences of a request, the answers are not. */
    private static long[] chainOf(RequestPlan plan, int choice) {
        long[] chain = plan.chain().clone();
        for (int block = plan.promptTokens() / KvCache.BLOCK_TOKENS; block < chain.length; block++) {
            chain[block] = chain[block] * 31 + choice;
        }
        return chain;
    }

    /** What the engine calls it: the sequences of one request have a number in front. */
    String engineRequestId() {
        return plan.choices() == 1 ? plan.engineRequestId() : choice + "_" + plan.engineRequestId();
    }

    /** Tokens it will get. */
    int outputTokens() {
        return plan.outputTokens(choice);
    }

    /** Says whose doing some of its open gap is. */
    void blame(Cause cause, Sequence other, long nanos) {
        if (other.plan != plan && nanos > 0) {
            blame.computeIfAbsent(cause, name -> new TreeMap<>()).merge(other.plan.requestId(), nanos, Long::sum);
        }
    }

    /** The other request that did most of what a cause cost it; null when no other one did. Equal ones: the id that sorts first. */
    @Nullable
    String culprit(Cause cause) {
        String most = null;
        long nanos = 0;
        for (Map.Entry<String, Long> entry : blame.getOrDefault(cause, Map.of()).entrySet()) {
            if (entry.getValue() > nanos) {
                most = entry.getKey();
                nanos = entry.getValue();
            }
        }
        return most;
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
        blame.clear();
    }
}
