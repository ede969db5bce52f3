package io.tokenstair.look.archive;

import io.tokenstair.event.Field;
import org.jspecify.annotations.Nullable;

/**
 * What an observer recorded of a request's arrival. Columns of the raw table {@code request_received}.
 *
 * @param requestId the client's own id of the request
 * @param traceId W3C trace id, 32 hex digits; absent when no trace context was sent
 * @param parentSpanId W3C id of the parent span, 16 hex digits; absent when no parent is known
 * @param model served model name; absent when the origin does not say
 * @param route path it was sent to; absent when the origin does not say
 * @param coarseEpochMillis event time, in ms since 1970; absent when undated
 */
public record RequestArrival(
        @Field(2) String requestId,
        @Field(3) @Nullable String traceId,
        @Field(4) @Nullable String parentSpanId,
        @Field(5) @Nullable String model,
        @Field(6) @Nullable String route,
        @Field(1006) @Nullable Long coarseEpochMillis) {}
