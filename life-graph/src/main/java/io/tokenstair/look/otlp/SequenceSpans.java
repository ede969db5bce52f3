package io.tokenstair.look.otlp;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.cause.DeliveryPart;
import io.tokenstair.cause.Part;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * The spans of one sequence of a request: the request as a whole, and in it its queue, prefill, decode and delivery. Slow tokens are events of the
 * decode span and late ones of the delivery span, each with its cause and its parts in ns; of more than {@value #MOST_EVENTS} of them those that
 * cost most are kept, and the others counted. Takes one token at a time and keeps no more than the slow ones and the times of the first
 * {@value #MOST_TIMES}.
 */
final class SequenceSpans {
    static final int MOST_EVENTS = 256;
    static final int MOST_TIMES = 8_192;

    private static final String SLOW_TOKEN = "tokenstair.token.slow";
    private static final String LATE_TOKEN = "tokenstair.token.late";
    private static final Comparator<Costly> CHEAPEST_FIRST =
            Comparator.comparingLong(Costly::excessNanos).thenComparing(Costly::tokenIndex, Comparator.reverseOrder());

    private final RequestAnalysis request;
    private final TraceContext context;
    private final ByteString rootId;
    private final PriorityQueue<Costly> slow = new PriorityQueue<>(CHEAPEST_FIRST);
    private final PriorityQueue<Costly> late = new PriorityQueue<>(CHEAPEST_FIRST);
    private final List<Long> producedNanos = new ArrayList<>();
    private boolean everyTokenTimed = true;
    private int slowCount;
    private int lateCount;
    private long tokenCount;
    private @Nullable Long firstProduced;
    private @Nullable Long lastProduced;
    private @Nullable Long firstDelivered;
    private @Nullable Long lastDelivered;
    private @Nullable Long firstGap;
    private long queueNanos;
    private boolean ofEngine;

    private record Costly(long excessNanos, int tokenIndex, Span.Event event) {}

    SequenceSpans(RequestAnalysis request, TraceContext context) {
        this.request = request;
        this.context = context;
        this.rootId = rootId(request.requestId(), request.lifetime(), request.sequenceIndex());
    }

    /** The id of the span of a sequence. */
    static ByteString rootId(String requestId, int lifetime, int sequenceIndex) {
        return SpanIds.span("request", requestId, String.valueOf(lifetime), String.valueOf(sequenceIndex));
    }

    void token(TokenAnalysis token) {
        tokenCount++;
        Long produced = token.producedEpochNanos();
        Long delivered = token.deliveredEpochNanos();
        if (token.tokenIndex() == 0 && "produced".equals(token.gapBasis())) {
            firstGap = token.gapNanos();
            queueNanos = orZero(token.partNanos(Part.QUEUE_WAIT)) + orZero(token.partNanos(Part.TRANSFER_WAIT));
            ofEngine = true;
        }
        if (produced == null || producedNanos.size() == MOST_TIMES) {
            everyTokenTimed = false;
        } else {
            producedNanos.add(produced);
        }
        if (produced != null) {
            firstProduced = firstProduced == null ? produced : firstProduced;
            lastProduced = produced;
        }
        if (delivered != null) {
            firstDelivered = firstDelivered == null ? delivered : firstDelivered;
            lastDelivered = delivered;
        }
        Long at = produced == null ? delivered : produced;
        if (token.cause() != null && !token.cause().equals("MULTI_TOKEN_CHUNK") && at != null) {
            slowCount++;
            keep(slow, new Costly(cost(token), token.tokenIndex(), slowEvent(token, at)));
        }
        if (token.deliveryCause() != null && delivered != null) {
            lateCount++;
            keep(late, new Costly(orZero(token.deliveryNanos()), token.tokenIndex(), lateEvent(token, delivered)));
        }
    }

    private static void keep(PriorityQueue<Costly> events, Costly event) {
        events.add(event);
        if (events.size() > MOST_EVENTS) {
            events.remove();
        }
    }

    private static long cost(TokenAnalysis token) {
        Long excess = token.excessNanos();
        return excess == null ? orZero(token.gapNanos()) : excess;
    }

    private static long orZero(@Nullable Long nanos) {
        return nanos == null ? 0 : nanos;
    }

    private static Span.Event slowEvent(TokenAnalysis token, long at) {
        SpanAttributes attributes = new SpanAttributes()
                .whole("tokenstair.token.index", token.tokenIndex())
                .text("tokenstair.cause", token.cause())
                .text("tokenstair.state", token.state())
                .text("tokenstair.confidence", token.confidence())
                .text("tokenstair.culprit.request.id", token.culpritRequestId())
                .text("tokenstair.engine.id", token.engineId())
                .whole("tokenstair.step.id", token.stepId())
                .whole("tokenstair.gap.nanos", token.gapNanos())
                .whole("tokenstair.expected.nanos", token.expectedNanos())
                .whole("tokenstair.reference.nanos", token.referenceNanos())
                .whole("tokenstair.excess.nanos", token.excessNanos())
                .whole("tokenstair.context.tokens", token.contextTokens())
                .whole("gen_ai.iteration.batch_size", token.batchSequences());
        for (Part part : Part.values()) {
            attributes.whole("tokenstair.part." + part.partName() + ".nanos", token.partNanos(part));
        }
        return Span.Event.newBuilder()
                .setName(SLOW_TOKEN)
                .setTimeUnixNano(at)
                .addAllAttributes(attributes.list())
                .build();
    }

    private static Span.Event lateEvent(TokenAnalysis token, long at) {
        SpanAttributes attributes = new SpanAttributes()
                .whole("tokenstair.token.index", token.tokenIndex())
                .text("tokenstair.cause", token.deliveryCause())
                .whole("tokenstair.delivery.nanos", token.deliveryNanos());
        for (DeliveryPart part : DeliveryPart.values()) {
            attributes.whole("tokenstair.delivery.part." + part.partName() + ".nanos", token.partNanos(part));
        }
        return Span.Event.newBuilder()
                .setName(LATE_TOKEN)
                .setTimeUnixNano(at)
                .addAllAttributes(attributes.list())
                .build();
    }

    /** The spans, the request's own first; empty where nothing of it is dated. */
    List<Span> spans() {
        Long start = start();
        Long end = end();
        if (start == null || end == null || start <= 0) {
            return List.of();
        }
        List<Span> spans = new ArrayList<>();
        spans.add(root(start, Math.max(start, end)));
        Long prefillStart = null;
        if (ofEngine && firstGap != null && firstProduced != null) {
            long queued = firstProduced - firstGap;
            prefillStart = queued + Math.max(0, Math.min(queueNanos, firstGap));
            if (prefillStart > queued) {
                spans.add(child("queue", queued, prefillStart).build());
            }
            spans.add(child("prefill", prefillStart, firstProduced)
                    .addAllAttributes(new SpanAttributes()
                            .whole("gen_ai.usage.input_tokens", request.promptTokens())
                            .whole("gen_ai.usage.cache_read.input_tokens", request.cachedTokens())
                            .list())
                    .build());
        }
        if (firstProduced != null && lastProduced != null) {
            Span.Builder decode = child("decode", firstProduced, lastProduced);
            SpanAttributes attributes = new SpanAttributes()
                    .whole("gen_ai.usage.output_tokens", tokenCount)
                    .whole("tokenstair.slow.tokens", slowCount)
                    .whole("tokenstair.preemptions", request.preemptions());
            if (everyTokenTimed) {
                long from = firstProduced;
                attributes.manySeconds(
                        "gen_ai.response.per_token_time_to_generate",
                        producedNanos.stream().map(nanos -> nanos - from).toList());
            }
            decode.addAllAttributes(attributes.list());
            events(decode, slow, slowCount);
            spans.add(decode.build());
        }
        if (firstDelivered != null && lastDelivered != null) {
            Span.Builder delivery = child("delivery", firstDelivered, lastDelivered);
            delivery.addAllAttributes(new SpanAttributes()
                    .whole("tokenstair.late.tokens", lateCount)
                    .list());
            events(delivery, late, lateCount);
            if (firstProduced == null) {
                // Without an engine's record gaps are those of arrivals, and slow tokens are seen here.
                events(delivery, slow, slowCount);
            }
            spans.add(delivery.build());
        }
        return spans;
    }

    private static void events(Span.Builder span, PriorityQueue<Costly> kept, int count) {
        kept.stream()
                .sorted(Comparator.comparingLong(
                                (Costly costly) -> costly.event().getTimeUnixNano())
                        .thenComparingInt(Costly::tokenIndex))
                .forEach(costly -> span.addEvents(costly.event()));
        span.setDroppedEventsCount(span.getDroppedEventsCount() + count - kept.size());
    }

    private @Nullable Long start() {
        Long earliest = request.fromEpochNanos();
        for (Long moment : new Long[] {firstProduced, firstDelivered}) {
            earliest = earliest == null || (moment != null && moment < earliest) ? moment : earliest;
        }
        if (firstProduced != null && firstGap != null && earliest != null) {
            earliest = Math.min(earliest, firstProduced - firstGap);
        }
        return earliest;
    }

    private @Nullable Long end() {
        Long latest = request.toEpochNanos();
        for (Long moment : new Long[] {lastProduced, lastDelivered}) {
            latest = latest == null || (moment != null && moment > latest) ? moment : latest;
        }
        return latest;
    }

    private Span root(long start, long end) {
        String model = context.model();
        SpanAttributes attributes = new SpanAttributes()
                .text("gen_ai.operation.name", context.operation())
                .text("gen_ai.request.id", request.requestId())
                .text("gen_ai.request.model", model)
                .texts(
                        "gen_ai.response.finish_reasons",
                        request.endReason().equals("unknown") ? List.of() : List.of(request.endReason()))
                .whole("gen_ai.usage.input_tokens", request.promptTokens())
                .whole("gen_ai.usage.cache_read.input_tokens", request.cachedTokens())
                .whole("gen_ai.usage.output_tokens", request.tokenCount())
                .seconds("gen_ai.server.time_to_first_token", request.ttftNanos())
                .seconds("gen_ai.server.time_per_output_token", request.tpotNanos())
                .text("error.type", request.errorType())
                .whole("tokenstair.request.lifetime", request.lifetime())
                .whole("tokenstair.request.sequence", request.sequenceIndex())
                .text("tokenstair.request.state", request.state())
                .whole("tokenstair.request.priority", request.priority())
                .texts("tokenstair.request.aliases", request.aliases())
                .texts("tokenstair.request.causes", request.requestCauses())
                .texts("tokenstair.engines", request.engines())
                .texts("tokenstair.missing_layers", request.missingLayers())
                .whole("tokenstair.slow.tokens", slowCount)
                .whole("tokenstair.late.tokens", lateCount);
        Span.Builder root = Span.newBuilder()
                .setTraceId(context.traceId())
                .setSpanId(rootId)
                .setName(context.operation() + (model == null ? "" : " " + model))
                .setKind(Span.SpanKind.SPAN_KIND_INTERNAL)
                .setStartTimeUnixNano(start)
                .setEndTimeUnixNano(end)
                .addAllAttributes(attributes.list());
        if (context.parentSpanId() != null) {
            root.setParentSpanId(context.parentSpanId());
        }
        if (request.endReason().equals("error") || request.errorType() != null) {
            root.setStatus(Status.newBuilder().setCode(Status.StatusCode.STATUS_CODE_ERROR));
        }
        return root.build();
    }

    private Span.Builder child(String phase, long start, long end) {
        return Span.newBuilder()
                .setTraceId(context.traceId())
                .setSpanId(SpanIds.span(
                        phase,
                        request.requestId(),
                        String.valueOf(request.lifetime()),
                        String.valueOf(request.sequenceIndex())))
                .setParentSpanId(rootId)
                .setName("tokenstair." + phase)
                .setKind(Span.SpanKind.SPAN_KIND_INTERNAL)
                .setStartTimeUnixNano(start)
                .setEndTimeUnixNano(Math.max(start, end));
    }
}
