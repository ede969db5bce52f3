package io.tokenstair.look.archive;

import org.jspecify.annotations.Nullable;

/**
 * Which times beyond a limit are asked for.
 *
 * @param ttftNanos limit of first tokens; absent where they are not asked for
 * @param gapNanos limit of gaps; absent where they are not asked for
 * @param criticalFactor a time of so many limits or more is critical
 * @param findings which findings they would be among
 */
public record SloFilter(
        @Nullable Long ttftNanos, @Nullable Long gapNanos, int criticalFactor, FindingFilter findings) {}
