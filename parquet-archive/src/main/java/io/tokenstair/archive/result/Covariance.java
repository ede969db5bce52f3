package io.tokenstair.archive.result;

import io.tokenstair.event.Field;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How an engine's token time goes with its context or its KV hit rate once batch and prefill are accounted for, over a sliding window
 * of event time. Table {@code covariance}. An observation is a block of 8 steps. Field meanings and formulas: docs/archive.md,
 * docs/accuracy.md.
 *
 * @param x own_context, resident_context or kv_hit_rate
 * @param y tpot_level (ln of time over expected) or tpot_change (its change from block to block)
 * @param given what was held constant
 * @param covariance conditional covariance at lag 0
 * @param partialCorrelation partial correlation at lag 0
 * @param lagTokens the lag at which the relation is strongest; positive: x comes first
 * @param verdict related, none-shown, not-separable or too-few
 */
public record Covariance(
        @Field(1) @Nullable Long windowStartMillis,
        @Field(2) @Nullable Long windowEndMillis,
        @Field(3) String engineId,
        @Field(4) @Nullable String model,
        @Field(5) String x,
        @Field(6) String y,
        @Field(7) List<String> given,
        @Field(8) long count,
        @Field(9) @Nullable Double effectiveCount,
        @Field(10) @Nullable Double covariance,
        @Field(11) @Nullable Double partialCorrelation,
        @Field(12) @Nullable Integer lagTokens,
        @Field(13) @Nullable Double lagPartialCorrelation,
        @Field(14) @Nullable String verdict) {}
