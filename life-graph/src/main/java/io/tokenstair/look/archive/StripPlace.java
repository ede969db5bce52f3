package io.tokenstair.look.archive;

import org.jspecify.annotations.Nullable;

/**
 * A place of the token strip: one token, or several neighbours of which the worst stands for all.
 *
 * @param tokenIndex the token, or the worst of several: by state, then by gap
 * @param tokens how many it stands for
 * @param gapNanos the largest gap; absent where none is known
 * @param expectedNanos of the token; absent while not known
 * @param referenceNanos of the token; absent while not known
 * @param state of the token
 * @param cause of the token; absent where it is on time
 * @param confidence of the token's cause; absent where it has none
 * @param layerMissing true when a layer did not report for any of them
 * @param deliveredLate true when any has a delivery cause
 */
public record StripPlace(
        int tokenIndex,
        int tokens,
        @Nullable Long gapNanos,
        @Nullable Long expectedNanos,
        @Nullable Long referenceNanos,
        String state,
        @Nullable String cause,
        @Nullable String confidence,
        boolean layerMissing,
        boolean deliveredLate) {}
