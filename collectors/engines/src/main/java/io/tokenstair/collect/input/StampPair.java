package io.tokenstair.collect.input;

/**
 * Two clocks read one right after the other.
 *
 * @param monotonicNanos CLOCK_MONOTONIC, in ns
 * @param wallEpochNanos CLOCK_REALTIME, in ns
 */
public record StampPair(long monotonicNanos, long wallEpochNanos) {
    /** Wall less monotonic, in ns. */
    public long offsetNanos() {
        return wallEpochNanos - monotonicNanos;
    }

    /** The wall reading in ms. */
    public long wallMillis() {
        return Math.floorDiv(wallEpochNanos, 1_000_000L);
    }
}
