package io.tokenstair.archive.result;

import io.tokenstair.event.Field;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a rule or detector concluded. Table {@code finding}. Field meanings: docs/archive.md.
 *
 * @param findingId hash of the content
 * @param partNames names of the parts, in part order
 * @param partNanos their nanoseconds, as many as partNames
 * @param narrative plain sentences, each citing event ids
 */
public record Finding(
        @Field(1) String findingId,
        @Field(2) String rule,
        @Field(3) int ruleRevision,
        @Field(4) String cause,
        @Field(5) String severity,
        @Field(6) @Nullable String engineId,
        @Field(7) @Nullable String requestId,
        @Field(8) @Nullable Integer lifetime,
        @Field(9) @Nullable Integer sequenceIndex,
        @Field(10) @Nullable Long fromEpochNanos,
        @Field(11) @Nullable Long toEpochNanos,
        @Field(12) @Nullable Long boundNanos,
        @Field(13) @Nullable Integer firstTokenIndex,
        @Field(14) @Nullable Integer lastTokenIndex,
        @Field(15) @Nullable String culpritRequestId,
        @Field(16) String confidence,
        @Field(17) String confidenceWhy,
        @Field(18) List<String> evidence,
        @Field(19) List<String> missingLayers,
        @Field(20) List<String> partNames,
        @Field(21) List<Long> partNanos,
        @Field(22) String narrative) {}
