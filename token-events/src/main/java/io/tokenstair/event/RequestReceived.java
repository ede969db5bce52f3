package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * An observer (the gateway or a client) took up or sent a request. Header stamp: when it was sent or received.
 *
 * @param observer who saw it: gateway or client
 * @param requestId the client's own id of the request
 * @param traceId W3C trace id, 32 hex digits; absent when no trace context was sent
 * @param parentSpanId W3C id of the parent span, 16 hex digits; absent when no parent is known
 * @param model served model name; absent when the origin does not say
 * @param route path or upstream the request was sent to; absent when the origin does not say
 * @param priority scheduling priority; smaller is more urgent; absent when the origin does not say
 * @param promptTokens prompt length, in tokens; absent when not counted by the origin
 * @param maxTokens most output tokens asked for, per sequence, in tokens; absent when no limit was sent
 * @param choicesCount sequences asked for per prompt (n); absent when the origin does not say
 * @param warmup true for a request that its sender marked as warm-up
 */
public record RequestReceived(
        @Field(1) String observer,
        @Field(2) String requestId,
        @Field(3) @Nullable String traceId,
        @Field(4) @Nullable String parentSpanId,
        @Field(5) @Nullable String model,
        @Field(6) @Nullable String route,
        @Field(7) @Nullable Integer priority,
        @Field(8) @Nullable Long promptTokens,
        @Field(9) @Nullable Long maxTokens,
        @Field(10) @Nullable Integer choicesCount,
        @Field(11) boolean warmup)
        implements Event {

    @Override
    public EventKind kind() {
        return EventKind.REQUEST_RECEIVED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
