package io.tokenstair.collect.otlp;

import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.SpanRecorded;
import io.tokenstair.event.wire.Utf8;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Spans of kind CLIENT that are a call to a model: what the instrumented client saw of it, as the client's own request events. Spans of servers
 * become none: the gateway and the engine's own records tell of the same request, and it must not be counted twice.
 */
final class ClientCalls {
    private static final String CLIENT = "client";
    /** Operations that make tokens; others (embeddings, tools, agents) are no requests here. */
    private static final Set<String> OPERATIONS =
            Set.of("chat", "text_completion", "completion", "generate_content", "generate", "llm", "LLM");

    private ClientCalls() {}

    static void add(SpanRecorded span, List<TimedEvent> events) {
        String operation = SpanReader.attribute(span, GenAiNames.OPERATION);
        Long start = span.startEpochNanos();
        Long end = span.endEpochNanos();
        if (!"SPAN_KIND_CLIENT".equals(span.spanKind())
                || operation == null
                || !OPERATIONS.contains(operation)
                || start == null
                || end == null) {
            return;
        }
        String requestId = requestId(span);
        if (requestId == null) {
            return;
        }
        events.add(new TimedEvent(
                new RequestReceived(
                        CLIENT,
                        requestId,
                        span.traceId(),
                        span.spanId(),
                        cutModel(span),
                        SpanReader.attribute(span, GenAiNames.ROUTE),
                        null,
                        SpanReader.promptTokens(span),
                        SpanReader.count(span, GenAiNames.MAX_TOKENS),
                        choices(span),
                        false),
                start,
                start));
        String error = SpanReader.attribute(span, GenAiNames.ERROR_TYPE);
        Long status = SpanReader.count(span, GenAiNames.HTTP_STATUS);
        boolean failed = error != null || "ERROR".equals(SpanReader.attribute(span, "otel.status_code"));
        String outcome = status != null && status >= 400 ? "http-error" : failed ? "failed" : "complete";
        events.add(new TimedEvent(
                new RequestCompleted(
                        CLIENT,
                        requestId,
                        outcome,
                        status == null ? null : Integer.valueOf(status.intValue()),
                        error,
                        null,
                        SpanReader.count(span, GenAiNames.OUTPUT_TOKENS),
                        null,
                        null,
                        SpanReader.promptTokens(span),
                        SpanReader.cachedTokens(span),
                        firstToken(span, start, end),
                        null),
                end,
                end));
    }

    /** The client's own id; null when the span carries none. */
    static @Nullable String requestId(SpanRecorded span) {
        String own = SpanReader.attribute(span, GenAiNames.CLIENT_REQUEST_ID);
        if (own != null) {
            return own;
        }
        String engine = RequestIds.engineId(span);
        if (engine == null) {
            return null;
        }
        String wrapped = RequestIds.wrappedId(engine);
        return wrapped == null ? engine : wrapped;
    }

    private static @Nullable Long firstToken(SpanRecorded span, long start, long end) {
        Long after = SpanReader.nanos(span, GenAiNames.FIRST_TOKEN_SECONDS);
        boolean stamped = SpanReader.attribute(span, TokenTimes.GENERATED) != null;
        return stamped || after == null || start + after > end ? null : Long.valueOf(start + after);
    }

    private static @Nullable String cutModel(SpanRecorded span) {
        String model = SpanReader.attribute(span, GenAiNames.MODEL);
        return model == null ? null : Utf8.cut(model, 256);
    }

    private static @Nullable Integer choices(SpanRecorded span) {
        Long choices = SpanReader.count(span, GenAiNames.CHOICES);
        return choices == null || choices < 1 || choices > 1024 ? null : Integer.valueOf(choices.intValue());
    }
}
