package io.tokenstair.look.archive;

import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;

/**
 * What identifies a sequence.
 *
 * @param requestId the client's own id
 * @param lifetime which use of the id, from 0
 * @param sequenceIndex promptIndex x n + choice
 */
public record SequenceKey(String requestId, int lifetime, int sequenceIndex) {
    /** The key of a sequence's row. */
    public static SequenceKey of(RequestAnalysis request) {
        return new SequenceKey(request.requestId(), request.lifetime(), request.sequenceIndex());
    }

    /** The key of a token's row. */
    public static SequenceKey of(TokenAnalysis token) {
        return new SequenceKey(token.requestId(), token.lifetime(), token.sequenceIndex());
    }
}
