package io.tokenstair.look.otlp;

import com.google.protobuf.ByteString;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.event.SpanRecorded;
import io.tokenstair.look.archive.RequestArrival;
import io.tokenstair.look.archive.ResultArchive;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds the trace that a request came with: in the records of clients and gateways, else in the span that its engine wrote of it. */
final class TraceContexts {
    private final ResultArchive archive;

    TraceContexts(ResultArchive archive) {
        this.archive = archive;
    }

    TraceContext of(RequestAnalysis request) {
        List<RequestArrival> received = archive.arrivals(request.requestId());
        String model = received.stream()
                .map(RequestArrival::model)
                .filter(name -> name != null)
                .findFirst()
                .orElse(null);
        String operation = received.stream().anyMatch(row -> isChat(row.route())) ? "chat" : "text_completion";
        // Each use of an id has its own record per observer.
        List<RequestArrival> traced = received.stream()
                .filter(row -> SpanIds.givenTrace(row.traceId()) != null)
                .toList();
        if (!traced.isEmpty()) {
            RequestArrival row = nearest(traced, request);
            ByteString trace = SpanIds.givenTrace(row.traceId());
            if (trace != null) {
                return new TraceContext(trace, SpanIds.givenSpan(row.parentSpanId()), true, model, operation);
            }
        }
        SpanRecorded span = engineSpan(request);
        ByteString trace = span == null ? null : SpanIds.givenTrace(span.traceId());
        if (span != null && trace != null) {
            return new TraceContext(trace, SpanIds.givenSpan(span.parentSpanId()), true, model, operation);
        }
        return new TraceContext(
                SpanIds.trace(request.requestId(), String.valueOf(request.lifetime())), null, false, model, operation);
    }

    /** Whether a route takes messages: those of OpenAI's chat and responses and of Anthropic's messages. */
    private static boolean isChat(@Nullable String route) {
        return route != null
                && (route.contains("/chat/") || route.contains("/responses") || route.contains("/messages"));
    }

    private static RequestArrival nearest(List<RequestArrival> arrivals, RequestAnalysis request) {
        Long from = request.fromEpochNanos();
        RequestArrival nearest = arrivals.get(0);
        if (from == null) {
            return nearest;
        }
        long best = Long.MAX_VALUE;
        for (RequestArrival arrival : arrivals) {
            Long at = arrival.coarseEpochMillis();
            long away = at == null ? Long.MAX_VALUE - 1 : Math.abs(at - from / 1_000_000L);
            if (away < best) {
                best = away;
                nearest = arrival;
            }
        }
        return nearest;
    }

    private @Nullable SpanRecorded engineSpan(RequestAnalysis request) {
        for (String alias : request.aliases()) {
            for (SpanRecorded span : archive.spansNaming(alias)) {
                List<String> attributes = span.attributes();
                for (int i = 0; i + 1 < attributes.size(); i += 2) {
                    boolean names = attributes.get(i).equals("gen_ai.request.id")
                            || attributes.get(i).equals("rid")
                            || attributes.get(i).equals("triton.request_id");
                    if (names && attributes.get(i + 1).equals(alias)) {
                        return span;
                    }
                }
            }
        }
        return null;
    }
}
