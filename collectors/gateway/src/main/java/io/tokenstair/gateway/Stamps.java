package io.tokenstair.gateway;

import org.jspecify.annotations.Nullable;

/**
 * When bytes of an answer passed, by this machine's monotonic clock.
 *
 * @param arrivedNanos when they came from the engine
 * @param writeStartNanos when the gateway began to write them to its client; absent when it did not
 * @param writeEndNanos when the client's socket had taken them; absent when it never did
 */
record Stamps(
        long arrivedNanos,
        @Nullable Long writeStartNanos,
        @Nullable Long writeEndNanos) {}
