package io.tokenstair.clock;

/**
 * A stretch of the way from one clock to another. Once made it never changes.
 *
 * @param version number of the segment in its {@link ClockSegments}, from 0
 * @param startNanos first reading of the clock it holds for, in ns of that clock
 * @param offsetNanos what to add to a reading, in ns
 * @param boundNanos half-width of the offset, in ns
 */
public record ClockSegment(long version, long startNanos, long offsetNanos, long boundNanos) {}
