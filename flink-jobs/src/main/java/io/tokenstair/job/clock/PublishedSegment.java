package io.tokenstair.job.clock;

import io.tokenstair.event.ClockFitted;

/**
 * A clock segment and since when it counts.
 *
 * @param publishedMillis event time from which stamps may be aligned with it; {@link Long#MAX_VALUE} when it is undated
 * @param segment the segment
 */
public record PublishedSegment(long publishedMillis, ClockFitted segment) {}
