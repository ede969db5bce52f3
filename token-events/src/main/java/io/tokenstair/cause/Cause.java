package io.tokenstair.cause;

import java.util.Set;

/**
 * The closed list of causes, one meaning each: docs/causes/README.md. The order is the order of precedence: where two own equal parts,
 * the one declared first is named.
 */
public enum Cause {
    /** The client ended the stream; no later gap exists. */
    CLIENT_ABORT(Level.REQUEST),
    /** Several tokens came in one event; per token the time is normal. */
    MULTI_TOKEN_CHUNK(Level.NOTE),
    /** The first event carried no token. */
    ROLE_CHUNK(Level.REQUEST, Level.NOTE),
    /** Blocks lost after the schedule of the step that made the previous token. */
    PREEMPTION(Level.TOKEN),
    /** At least 3 preemptions of one request, recomputing more tokens than it gained between them (also with no output yet). */
    PREEMPTION_LOOP(Level.REQUEST),
    /** Recomputed tokens are a lasting, large share of all computed tokens. */
    PREEMPTION_STORM(Level.ENGINE),
    /** After preemption a request of equal or less urgent priority that had started later, or not at all, ran first. */
    PREEMPTED_THEN_OVERTAKEN(Level.REQUEST),
    /** The step recomputed tokens some other sequence had before. */
    RECOMPUTE(Level.TOKEN),
    /** The step also ran new prompt tokens of others. */
    PREFILL_INTERFERENCE(Level.TOKEN),
    /** Skipped-wait in steps that ran prefill only, no decode at all. */
    DECODE_STARVED_BY_PREFILL(Level.TOKEN),
    /** Skipped-wait in steps where other decodes ran and the token budget was used up. */
    TOKEN_BUDGET_STARVATION(Level.TOKEN),
    /** Transfer-wait for KV of another node. */
    REMOTE_KV_ADMISSION(Level.TOKEN),
    /** Transfer-wait for blocks of a slower tier. */
    KV_OFFLOAD(Level.TOKEN),
    /** A prefix that was cached (same hashes) is found no more, or far less. */
    PREFIX_HIT_COLLAPSE(Level.REQUEST),
    /** Queue-wait while blocks are short with a free seat; as E also evictions or preemptions of blocks that are then needed. */
    KV_PRESSURE(Level.TOKEN, Level.ENGINE),
    /** Queue-wait at the sequence limit (also when blocks are short as well). */
    SEAT_LIMIT(Level.TOKEN),
    /** Queue-wait with neither. */
    QUEUE_WAIT(Level.TOKEN),
    /** Batch is largest. */
    BATCH_GROWTH(Level.TOKEN),
    /** Batch swings so that step time swings with it. */
    BATCH_OSCILLATION(Level.ENGINE),
    /** Context is largest: smooth growth, or a long request joining. */
    CONTEXT_GROWTH(Level.TOKEN, Level.REQUEST),
    /** Lasting level rises beyond the model: at least 2 with enriched KV evidence; at least 3 on the shape alone, then "cause unproven". */
    CONTEXT_STAIRCASE(Level.REQUEST, Level.ENGINE),
    /** Eager instead of graph, or another kernel variant, from a point on (graph). */
    KERNEL_FALLBACK(Level.TOKEN, Level.ENGINE),
    /** First use of a shape compiled. */
    JIT_COMPILE(Level.TOKEN),
    /** An allocation failed, retried or emptied the pool. */
    ALLOC_STALL(Level.TOKEN),
    /** A synchronising call waited. */
    STREAM_SYNC(Level.TOKEN),
    /** Driver returned an error around the stall. */
    DRIVER_ERROR(Level.TOKEN, Level.ENGINE),
    /** All kernels scale alike with the clock. */
    THERMAL_CLOCK(Level.TOKEN, Level.ENGINE),
    /** Waited for another rank. */
    COLLECTIVE_WAIT(Level.TOKEN),
    /** Same shapes, same clock, longer kernels. */
    KERNEL_SLOW(Level.TOKEN),
    /** A process's sampled threads neither on a core nor ready for at least 80 % of the excess (others may spin), or a recorded pause (GC, stop). */
    HOST_PAUSE(Level.TOKEN, Level.ENGINE),
    /** Run-queue wait, above the engine's own median, of the thread on the critical path (worker while the model runs, engine core outside; both where that split is not sampled) at least half of (gap - expected). */
    HOST_CONTENTION(Level.TOKEN),
    /** No step in flight, or the engine wrote nothing while a step was open and no kernel or core record covers it. */
    HOST_GAP(Level.TOKEN),
    /** Made on time, left the engine late. */
    OUTPUT_STALL(Level.TOKEN),
    /** Chunks held and released in groups. */
    GATEWAY_BUFFERING(Level.TOKEN, Level.REQUEST),
    /** Time between two hosts beyond both ends' own. */
    NETWORK(Level.TOKEN),
    /** The client's socket was full. */
    CLIENT_SLOW(Level.TOKEN),
    /** A start-up took longer than the engine's earlier ones; which shard, device, path. */
    MODEL_LOAD_SLOW(Level.ENGINE),
    /** None of the evidence above. */
    UNRESOLVED_STALL(Level.TOKEN);

    /** What a cause can be said of. A token never carries a request or engine cause. */
    public enum Level {
        /** Owns parts of a token's gap. */
        TOKEN,
        /** A finding about a request. */
        REQUEST,
        /** A finding about an engine. */
        ENGINE,
        /** A remark, not a slowness. */
        NOTE
    }

    private final Set<Level> levels;

    Cause(Level... levels) {
        this.levels = Set.of(levels);
    }

    /** What this cause can be said of. */
    public Set<Level> levels() {
        return levels;
    }

    /** True for causes that say the engine did ordinary work: they reach a warning by their sum only, unless one excess is large. */
    public boolean isLoad() {
        return this == PREFILL_INTERFERENCE || this == BATCH_GROWTH || this == CONTEXT_GROWTH;
    }
}
