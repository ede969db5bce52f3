package io.tokenstair.collect.vllm;

/**
 * Two clocks read one right after the other.
 *
 * @param monotonicNanos CLOCK_MONOTONIC, in ns
 * @param wallEpochNanos CLOCK_REALTIME, in ns
 */
record StampPair(long monotonicNanos, long wallEpochNanos) {
    long offsetNanos() {
        return wallEpochNanos - monotonicNanos;
    }

    long wallMillis() {
        return Math.floorDiv(wallEpochNanos, 1_000_000L);
    }
}
