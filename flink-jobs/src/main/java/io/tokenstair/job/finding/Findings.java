package io.tokenstair.job.finding;

import io.tokenstair.archive.result.ContentHash;
import io.tokenstair.archive.result.Finding;

/** Gives findings their identity: the hash of what they say, so that the same events give the same id everywhere. */
public final class Findings {
    private Findings() {}

    /** The same finding under the hash of its content. */
    public static Finding identified(Finding finding) {
        return finding.withId(id(finding));
    }

    private static String id(Finding finding) {
        return ContentHash.of(
                finding.rule(),
                Integer.toString(finding.ruleRevision()),
                finding.cause(),
                finding.severity(),
                String.valueOf(finding.engineId()),
                String.valueOf(finding.requestId()),
                String.valueOf(finding.lifetime()),
                String.valueOf(finding.sequenceIndex()),
                String.valueOf(finding.fromEpochNanos()),
                String.valueOf(finding.toEpochNanos()),
                String.valueOf(finding.firstTokenIndex()),
                String.valueOf(finding.lastTokenIndex()),
                String.valueOf(finding.culpritRequestId()),
                String.join("\u001e", finding.evidence()),
                finding.narrative());
    }
}
