package io.tokenstair.cause;

import java.util.Locale;

/** The parts of a token's gap, in the order in which time is assigned to them: docs/causes/README.md. They sum exactly to the gap. */
public enum Part {
    /** What a usual decode-only step of this engine takes. */
    REFERENCE,
    /** Steps without the sequence, before its first schedule. */
    QUEUE_WAIT,
    /** Steps without the sequence, after it lost its blocks. */
    PREEMPTED_WAIT,
    /** Steps without the sequence though it was running. */
    SKIPPED_WAIT,
    /** Steps without the sequence while its KV was on its way. */
    TRANSFER_WAIT,
    /** More sequences in the step than usual. */
    BATCH,
    /** More resident context than usual. */
    CONTEXT,
    /** New prompt tokens in the step. */
    PREFILL,
    /** Own tokens computed again. */
    RECOMPUTE_OWN,
    /** Tokens of others computed again. */
    RECOMPUTE_OTHER,
    /** Another graph mode than usual. */
    GRAPH,
    /** Kernels that took longer, by kernel records. */
    KERNEL,
    /** A synchronising call, by its record. */
    SYNC,
    /** An allocation, by its record. */
    ALLOC,
    /** A wait for another rank, by its record. */
    COLLECTIVE,
    /** Threads of the engine ready without a core, by core records. */
    HOST_CONTENTION,
    /** A process that did not run at all, by core or pause records. */
    HOST_PAUSE,
    /** No step in flight. */
    HOST_GAP,
    /** What is left, never hidden. */
    UNEXPLAINED;

    private static final Part[] VALUES = values();

    /** How many parts there are. */
    public static final int COUNT = VALUES.length;

    private final String partName = name().toLowerCase(Locale.ROOT).replace('_', '-');

    /** The name people see: {@code queue-wait}. */
    public String partName() {
        return partName;
    }

    /** The part of an ordinal, without copying the array of all. */
    public static Part ofOrdinal(int ordinal) {
        return VALUES[ordinal];
    }
}
