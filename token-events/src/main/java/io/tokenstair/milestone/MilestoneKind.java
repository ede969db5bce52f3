package io.tokenstair.milestone;

/** The kinds of milestones. */
public enum MilestoneKind {
    /** A sequence's context passed the next power of two above 1024 tokens. */
    CONTEXT_EXPANDED,
    /** A running sequence lost its blocks for want of KV space, or cached blocks that were needed again had been evicted. */
    KV_PRESSURE,
    /** A sequence was preempted. */
    PREEMPTED,
    /** A sequence made its first token after a preemption: what it had is computed again. */
    RECOMPUTED,
    /** A lasting rise of a sequence's normalised token time. */
    TPOT_STEP_UP,
    /** A prefix that had been cached was computed again. */
    PREFIX_RECOMPUTED,
    /** A process of the engine did not run. */
    HOST_PAUSED,
    /** The sequence ended, after its request had another milestone. */
    FINISHED,
    /**
     * A sequence's tokens became slow for a cause other than CONTEXT_GROWTH, which {@link #DETECTED} tells: within tokens at most 64
     * apart it lost as much as four usual tokens take.
     */
    SLOWED,
    /** The same of the way of its tokens to the client. */
    DELIVERY_SLOWED,
    /** The first token was slow by as much, or came a second or more after the request was sent. */
    FIRST_TOKEN_LATE,
    /** While a request waited, another one that was not more urgent ran first. */
    OVERTAKEN,
    /** Over many tokens or steps a detector found a cause of a request or an engine. */
    DETECTED,
    /** Cached KV blocks were evicted in bulk, after none were for 64 steps. */
    KV_EVICTED
}
