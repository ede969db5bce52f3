package io.tokenstair.job.history;

import io.tokenstair.cause.Cause;
import java.util.EnumSet;
import java.util.Set;

/** What is noted of an engine, and what of it may stand before what. */
public enum NoteKind {
    /** A request joined whose prompt is a large share of what is resident. */
    CONTEXT_JUMPED,
    /** Cached KV blocks were evicted in bulk. */
    EVICTED,
    /** A running sequence lost its blocks. */
    PREEMPTED,
    /** Decode steps went from a graph to eager. */
    FELL_BACK,
    /** The batch went up and down. */
    BATCH_SWUNG,
    /** Other kernels than usual began to run. */
    KERNEL_CHANGED;

    /** What may have led to a cause: docs/causes/README.md. */
    static Set<NoteKind> before(Cause cause) {
        return switch (cause) {
            case PREEMPTION, KV_PRESSURE -> EnumSet.of(CONTEXT_JUMPED, BATCH_SWUNG);
            case RECOMPUTE -> EnumSet.of(PREEMPTED);
            case PREFILL_INTERFERENCE -> EnumSet.of(EVICTED);
            case KERNEL_FALLBACK -> EnumSet.of(FELL_BACK, KERNEL_CHANGED);
            case CONTEXT_GROWTH -> EnumSet.of(CONTEXT_JUMPED);
            case BATCH_GROWTH, SEAT_LIMIT, QUEUE_WAIT -> EnumSet.of(BATCH_SWUNG);
            default -> EnumSet.noneOf(NoteKind.class);
        };
    }

    /** What may have led to a noted thing. */
    Set<NoteKind> before() {
        return switch (this) {
            case FELL_BACK, KERNEL_CHANGED -> EnumSet.of(EVICTED, CONTEXT_JUMPED, BATCH_SWUNG);
            case PREEMPTED, EVICTED -> EnumSet.of(CONTEXT_JUMPED);
            case CONTEXT_JUMPED -> EnumSet.of(BATCH_SWUNG);
            case BATCH_SWUNG -> EnumSet.noneOf(NoteKind.class);
        };
    }
}
