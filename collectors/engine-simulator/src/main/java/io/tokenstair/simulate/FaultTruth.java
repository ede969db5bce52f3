package io.tokenstair.simulate;

import io.tokenstair.cause.Cause;
import org.jspecify.annotations.Nullable;

/**
 * What was injected, and when.
 *
 * @param kind name of the kind of fault
 * @param cause the cause that it makes a token slow by; null where it only makes evidence worse
 * @param fromEpochNanos when it began to act
 * @param toEpochNanos when it ended
 * @param sizeNanos how long it held what it hit; null where a factor says it
 * @param factor how much slower, or what share; null where a size says it
 * @param stepId the step it hit; null for one that lasts
 */
public record FaultTruth(
        String kind,
        @Nullable Cause cause,
        long fromEpochNanos,
        long toEpochNanos,
        @Nullable Long sizeNanos,
        @Nullable Double factor,
        @Nullable Long stepId) {}
