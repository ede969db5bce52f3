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
    /** The sequence ended. */
    FINISHED
}
