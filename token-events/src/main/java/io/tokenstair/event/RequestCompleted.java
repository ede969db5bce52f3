package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * The observer saw the end of a request: last byte, refusal, or a closed stream. Header stamp: that moment.
 *
 * @param observer who saw it: gateway or client
 * @param requestId the client's own id of the request
 * @param outcome complete, client-closed, http-error or failed
 * @param httpStatus HTTP status of the answer; absent when no answer came
 * @param errorType the error's type as the server named it; absent when no error, or it had no name
 * @param chunkCount stream chunks seen; absent when not counted
 * @param outputTokens output tokens so far, in tokens; absent when not counted
 * @param headersNanos arrival of the answer's headers, in ns; absent when no headers came
 * @param clientClosedNanos when the client closed the stream, in ns; absent when the client did not close it
 * @param promptTokens prompt length as the answer's usage counts it, in tokens; absent when it does not say
 * @param cachedTokens prompt tokens that the answer's usage says were found in the prefix cache, in tokens; absent when it does not say
 * @param firstTokenNanos when the first token came, in ns; absent when the observer stamps each chunk, or none came
 * @param meanGapNanos mean time from one token to the next after the first, in ns; absent when the observer stamps each chunk, or does
 *     not say
 */
public record RequestCompleted(
        @Field(1) String observer,
        @Field(2) String requestId,
        @Field(3) String outcome,
        @Field(4) @Nullable Integer httpStatus,
        @Field(5) @Nullable String errorType,
        @Field(6) @Nullable Long chunkCount,
        @Field(7) @Nullable Long outputTokens,
        @Field(8) @Nullable Long headersNanos,
        @Field(9) @Nullable Long clientClosedNanos,
        @Field(10) @Nullable Long promptTokens,
        @Field(11) @Nullable Long cachedTokens,
        @Field(12) @Nullable Long firstTokenNanos,
        @Field(13) @Nullable Long meanGapNanos)
        implements Event {

    /** An end of which neither the usage of the prompt nor times without chunks are known. */
    public RequestCompleted(
            String observer,
            String requestId,
            String outcome,
            @Nullable Integer httpStatus,
            @Nullable String errorType,
            @Nullable Long chunkCount,
            @Nullable Long outputTokens,
            @Nullable Long headersNanos,
            @Nullable Long clientClosedNanos) {
        this(
                observer,
                requestId,
                outcome,
                httpStatus,
                errorType,
                chunkCount,
                outputTokens,
                headersNanos,
                clientClosedNanos,
                null,
                null,
                null,
                null);
    }

    @Override
    public EventKind kind() {
        return EventKind.REQUEST_COMPLETED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
