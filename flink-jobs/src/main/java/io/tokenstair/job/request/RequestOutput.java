package io.tokenstair.job.request;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.milestone.Milestone;

/** Where a request's life puts what it concludes. */
public interface RequestOutput {
    /** A token, once. */
    void token(TokenAnalysis token);

    /** A sequence, when it closes. */
    void request(RequestAnalysis request);

    /** A conclusion. */
    void finding(Finding finding);

    /** A milestone. */
    void milestone(Milestone milestone);
}
