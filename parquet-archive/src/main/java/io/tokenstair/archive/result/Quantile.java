package io.tokenstair.archive.result;

import io.tokenstair.event.Field;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Quantiles of a duration over a sliding window of event time. Table {@code quantile}. Quantiles, median and deviation come from a
 * histogram and are within 0.78 % of the exact ones; below 512 ns they say 0. Field meanings: docs/archive.md.
 *
 * @param scope priority, engine or model: what it is taken over
 * @param p50Nanos the median
 * @param deviationNanos median absolute deviation
 * @param outlierCount durations more than 5 robust standard deviations above the median
 * @param worstRequestIds requests of the longest outliers, longest first
 * @param worstNanos their durations
 */
public record Quantile(
        @Field(1) @Nullable Long windowStartMillis,
        @Field(2) @Nullable Long windowEndMillis,
        @Field(3) String metric,
        @Field(4) String scope,
        @Field(5) @Nullable String model,
        @Field(6) @Nullable String engineId,
        @Field(7) @Nullable Integer priority,
        @Field(8) long count,
        @Field(9) @Nullable Long p50Nanos,
        @Field(10) @Nullable Long p90Nanos,
        @Field(11) @Nullable Long p99Nanos,
        @Field(12) @Nullable Long p999Nanos,
        @Field(13) @Nullable Long maxNanos,
        @Field(14) @Nullable Long deviationNanos,
        @Field(15) long outlierCount,
        @Field(16) List<String> worstRequestIds,
        @Field(17) List<Long> worstNanos,
        @Field(18) long invalidCount) {}
