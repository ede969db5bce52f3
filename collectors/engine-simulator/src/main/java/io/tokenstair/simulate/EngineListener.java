package io.tokenstair.simulate;

import io.tokenstair.cause.Cause;
import org.jspecify.annotations.Nullable;

/** Hears what an engine does, in true time. */
interface EngineListener {
    /** The scheduler took a request in. */
    void queued(Sequence sequence);

    /**
     * A sequence lost its blocks.
     *
     * @param hadTokens tokens whose KV was lost
     * @param wantedBy whose allocation took them
     */
    void preempted(Sequence sequence, long stepId, long atNanos, int hadTokens, Sequence wantedBy, int freeBlocks);

    /** KV of a sequence came from elsewhere. */
    void transferred(Sequence sequence, Cause cause, long fromNanos, long toNanos, int tokens);

    /** The prefix cache was asked. */
    void lookedUp(Sequence sequence, long atNanos, int queriedTokens, int hitTokens);

    /** A step ended. */
    void stepped(StepRun step);

    /** A step gave a sequence a token. */
    void produced(Sequence sequence, int tokenIndex, StepRun step, int row, TokenTruth truth);

    /** A sequence ended with a step. */
    void finished(Sequence sequence, StepRun step);

    /** A sequence was given up: its client had gone away. */
    void aborted(Sequence sequence, long atNanos);

    /**
     * A fault acted.
     *
     * @param step the step it hit; null for one that lasts
     */
    void struck(Fault fault, long fromNanos, long toNanos, @Nullable StepRun step);
}
