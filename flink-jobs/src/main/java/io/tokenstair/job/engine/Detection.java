package io.tokenstair.job.engine;

import io.tokenstair.cause.Cause;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A cause that is seen of an engine, when it is seen first: what becomes a milestone while the finding waits for the end.
 *
 * @param cause the cause
 * @param nanos when, on the engine's clock
 * @param stepId the step by which it was seen
 * @param culprit who did it; null when none is known
 * @param lostNanos what the engine's tokens lost by it so far; null when nothing is known to be lost
 * @param evidence ids of the events it rests on
 */
public record Detection(
        Cause cause,
        long nanos,
        long stepId,
        @Nullable String culprit,
        @Nullable Long lostNanos,
        List<String> evidence) {}
