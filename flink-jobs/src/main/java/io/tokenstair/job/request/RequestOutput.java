package io.tokenstair.job.request;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.milestone.Milestone;

/** Where a request's life puts what it concludes. */
public interface RequestOutput {
    /** A token, once. */
    void token(TokenAnalysis token);

    /** Tokens of which there is nothing to say but their numbers, each once. */
    default void tokens(TokenRun run) {
        run.forEach(this::token);
    }

    /** A sequence, when it closes. */
    void request(RequestAnalysis request);

    /** A conclusion. */
    void finding(Finding finding);

    /** A milestone. */
    void milestone(Milestone milestone);
}
