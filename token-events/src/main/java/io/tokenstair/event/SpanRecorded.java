package io.tokenstair.event;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One OTLP span, as received and bounded. Header stamp: when the collector received it.
 *
 * @param traceId W3C trace id, 32 hex digits
 * @param spanId W3C span id, 16 hex digits
 * @param parentSpanId W3C id of the parent span, 16 hex digits; absent when no parent is known
 * @param name name as received
 * @param spanKind kind of span as OTLP names it; absent when not sent
 * @param startEpochNanos start of the span, in ns; absent when not sent
 * @param endEpochNanos end of the span, in ns; absent when not sent
 * @param serviceName resource attribute service.name; absent when not sent
 * @param attributes alternating key and value, bounded
 */
public record SpanRecorded(
        @Field(1) String traceId,
        @Field(2) String spanId,
        @Field(3) @Nullable String parentSpanId,
        @Field(4) String name,
        @Field(5) @Nullable String spanKind,
        @Field(6) @Nullable Long startEpochNanos,
        @Field(7) @Nullable Long endEpochNanos,
        @Field(8) @Nullable String serviceName,
        @Field(9) List<String> attributes)
        implements Event {

    public SpanRecorded {
        attributes = List.copyOf(attributes);
    }

    @Override
    public EventKind kind() {
        return EventKind.SPAN_RECORDED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
