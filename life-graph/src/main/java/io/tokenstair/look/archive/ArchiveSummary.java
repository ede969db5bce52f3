package io.tokenstair.look.archive;

import io.tokenstair.archive.result.LayerReport;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An archive in numbers.
 *
 * @param requests different (requestId, lifetime)
 * @param sequences rows of request_analysis
 * @param sequencesWithoutToken those without an output token
 * @param tokens output tokens
 * @param slowTokens tokens with a cause
 * @param lateTokens tokens with a delivery cause
 * @param critical findings of that severity
 * @param warning findings of that severity
 * @param info findings of that severity
 * @param fromEpochNanos earliest start of a request; absent where none is dated
 * @param toEpochNanos latest end of a request; absent where none is dated
 * @param missingLayers layers that did not report
 * @param holedLayers layers of engines of which numbered messages never came
 */
public record ArchiveSummary(
        long requests,
        long sequences,
        long sequencesWithoutToken,
        long tokens,
        long slowTokens,
        long lateTokens,
        long critical,
        long warning,
        long info,
        @Nullable Long fromEpochNanos,
        @Nullable Long toEpochNanos,
        List<LayerReport> missingLayers,
        List<LayerReport> holedLayers) {}
