package io.tokenstair.look.archive;

import org.jspecify.annotations.Nullable;

/**
 * Which sequences and tokens are asked for. An absent component does not restrict.
 *
 * @param request a request id or an alias
 * @param sequenceIndex a sequence
 * @param tokenIndex a token; sequences without it are still listed
 */
public record RequestFilter(
        @Nullable String request,
        @Nullable Integer sequenceIndex,
        @Nullable Integer tokenIndex) {

    /** Every sequence and token. */
    public static final RequestFilter ALL = new RequestFilter(null, null, null);
}
