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
 * @param sigmaNanos statistical width of the stamps: standard deviation of their error; absent where it is not known
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
        @Field(22) String narrative,
        @Field(23) @Nullable Long sigmaNanos) {

    /** A finding whose stamps, if it has any, are of no known statistical width. */
    public Finding(
            String findingId,
            String rule,
            int ruleRevision,
            String cause,
            String severity,
            @Nullable String engineId,
            @Nullable String requestId,
            @Nullable Integer lifetime,
            @Nullable Integer sequenceIndex,
            @Nullable Long fromEpochNanos,
            @Nullable Long toEpochNanos,
            @Nullable Long boundNanos,
            @Nullable Integer firstTokenIndex,
            @Nullable Integer lastTokenIndex,
            @Nullable String culpritRequestId,
            String confidence,
            String confidenceWhy,
            List<String> evidence,
            List<String> missingLayers,
            List<String> partNames,
            List<Long> partNanos,
            String narrative) {
        this(
                findingId,
                rule,
                ruleRevision,
                cause,
                severity,
                engineId,
                requestId,
                lifetime,
                sequenceIndex,
                fromEpochNanos,
                toEpochNanos,
                boundNanos,
                firstTokenIndex,
                lastTokenIndex,
                culpritRequestId,
                confidence,
                confidenceWhy,
                evidence,
                missingLayers,
                partNames,
                partNanos,
                narrative,
                null);
    }

    /** The same finding under another id. */
    public Finding withId(String findingId) {
        return new Finding(
                findingId,
                rule,
                ruleRevision,
                cause,
                severity,
                engineId,
                requestId,
                lifetime,
                sequenceIndex,
                fromEpochNanos,
                toEpochNanos,
                boundNanos,
                firstTokenIndex,
                lastTokenIndex,
                culpritRequestId,
                confidence,
                confidenceWhy,
                evidence,
                missingLayers,
                partNames,
                partNanos,
                narrative,
                sigmaNanos);
    }
}
