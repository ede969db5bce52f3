package io.tokenstair.archive.result;

import io.tokenstair.event.Field;
import org.jspecify.annotations.Nullable;

/**
 * By how much requests of one priority pushed back those of another, in one pane of event time. Table {@code priority_displacement}.
 * Formula and an example: docs/accuracy.md.
 *
 * @param displacedNanos time that waiting requests lost to the winner's, summed over the requests
 * @param loserCount requests that lost some
 * @param worstRequestId who lost most
 * @param worstNanos how much that was
 */
public record PriorityDisplacement(
        @Field(1) String engineId,
        @Field(2) @Nullable Long windowStartMillis,
        @Field(3) @Nullable Long windowEndMillis,
        @Field(4) int winnerPriority,
        @Field(5) int loserPriority,
        @Field(6) long displacedNanos,
        @Field(7) int loserCount,
        @Field(8) String worstRequestId,
        @Field(9) long worstNanos) {}
