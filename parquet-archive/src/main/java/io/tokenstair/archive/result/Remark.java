package io.tokenstair.archive.result;

import io.tokenstair.event.Field;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Something worth knowing of an input that is no cause of a slow token: what was not recorded, and what counters or aggregates are
 * consistent with where no record of a token can show it. Table {@code remark}. Field meanings: docs/archive.md.
 *
 * @param remarkId hash of the content
 * @param topic what it is about, one of a fixed set of words
 * @param subject what it speaks of: an engine, a series of benchmark runs, or a workload
 * @param fromEpochNanos when what it speaks of began, ns since 1970 UTC; absent where the input has no wall time
 * @param toEpochNanos when it ended
 * @param confidence established, where it is counted; else consistent-with
 * @param confidenceWhy what it rests on, and what it does not
 * @param evidence ids of events it rests on, at most 16
 * @param missingLayers layers that would have to report for more
 * @param narrative plain sentences
 */
public record Remark(
        @Field(1) String remarkId,
        @Field(2) String topic,
        @Field(3) String subject,
        @Field(4) @Nullable Long fromEpochNanos,
        @Field(5) @Nullable Long toEpochNanos,
        @Field(6) String confidence,
        @Field(7) String confidenceWhy,
        @Field(8) List<String> evidence,
        @Field(9) List<String> missingLayers,
        @Field(10) String narrative) {}
