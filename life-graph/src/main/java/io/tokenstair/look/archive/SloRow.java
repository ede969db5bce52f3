package io.tokenstair.look.archive;

import io.tokenstair.archive.result.TokenAnalysis;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A first token or a gap that took longer than its limit.
 *
 * @param key whose it is
 * @param engineId the engine; absent where none is known
 * @param ofFirstToken true for the time to a first token, false for a gap
 * @param measuredNanos what it took
 * @param delivered true where arrivals were measured, false where the ends of engine steps were
 * @param fromEpochNanos when it began; absent where it is not dated
 * @param toEpochNanos when it ended; absent where it is not dated
 * @param missingLayers layers that did not report
 * @param token the token; absent where none was recorded
 * @param before delivery of the token before it in ns: whole, output, gateway, network, client, unexplained; what is absent is null,
 *     and all are for a first token
 */
public record SloRow(
        SequenceKey key,
        @Nullable String engineId,
        boolean ofFirstToken,
        long measuredNanos,
        boolean delivered,
        @Nullable Long fromEpochNanos,
        @Nullable Long toEpochNanos,
        List<String> missingLayers,
        @Nullable TokenAnalysis token,
        List<@Nullable Long> before) {}
