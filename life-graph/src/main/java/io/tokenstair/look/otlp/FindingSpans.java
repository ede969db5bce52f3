package io.tokenstair.look.otlp;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.trace.v1.Span;
import io.tokenstair.archive.result.Finding;
import org.jspecify.annotations.Nullable;

/**
 * Findings as spans: inside the request's own span where they are of one, else in a trace of their own, with a link to the request that was to
 * blame where that is known.
 */
final class FindingSpans {
    private FindingSpans() {}

    /**
     * The span of a finding; null where it has no time.
     *
     * @param finding the finding
     * @param request where the spans of its request are; absent when it is of none
     * @param culprit the trace of the request to blame; absent when it is not known
     */
    static @Nullable Span of(Finding finding, @Nullable TraceContext request, @Nullable TraceContext culprit) {
        Long from = finding.fromEpochNanos() == null ? finding.toEpochNanos() : finding.fromEpochNanos();
        Long to = finding.toEpochNanos() == null ? from : finding.toEpochNanos();
        if (from == null || to == null || from <= 0) {
            return null;
        }
        ByteString trace = request == null ? SpanIds.trace("finding", finding.findingId()) : request.traceId();
        Span.Builder span = Span.newBuilder()
                .setTraceId(trace)
                .setSpanId(SpanIds.span("finding", finding.findingId()))
                .setName("finding " + finding.rule())
                .setKind(Span.SpanKind.SPAN_KIND_INTERNAL)
                .setStartTimeUnixNano(from)
                .setEndTimeUnixNano(Math.max(from, to))
                .addAllAttributes(attributes(finding)
                        .text("tokenstair.finding.narrative", finding.narrative())
                        .list());
        String requestId = finding.requestId();
        if (request != null && requestId != null) {
            Integer lifetime = finding.lifetime();
            Integer sequence = finding.sequenceIndex();
            span.setParentSpanId(
                    SequenceSpans.rootId(requestId, lifetime == null ? 0 : lifetime, sequence == null ? 0 : sequence));
        }
        String culpritId = finding.culpritRequestId();
        if (culprit != null && culpritId != null) {
            span.addLinks(Span.Link.newBuilder()
                    .setTraceId(culprit.traceId())
                    .setSpanId(SequenceSpans.rootId(culpritId, 0, 0))
                    .addAllAttributes(new SpanAttributes()
                            .text("tokenstair.link", "culprit")
                            .list()));
        }
        return span.build();
    }

    /** What a finding says but for its sentences. */
    static SpanAttributes attributes(Finding finding) {
        SpanAttributes attributes = new SpanAttributes()
                .text("tokenstair.finding.id", finding.findingId())
                .text("tokenstair.finding.rule", finding.rule())
                .whole("tokenstair.finding.rule_revision", finding.ruleRevision())
                .text("tokenstair.finding.severity", finding.severity())
                .text("tokenstair.cause", finding.cause())
                .text("tokenstair.confidence", finding.confidence())
                .text("tokenstair.engine.id", finding.engineId())
                .text("gen_ai.request.id", finding.requestId())
                .text("tokenstair.culprit.request.id", finding.culpritRequestId())
                .whole("tokenstair.first_token.index", finding.firstTokenIndex())
                .whole("tokenstair.last_token.index", finding.lastTokenIndex())
                .whole("tokenstair.bound.nanos", finding.boundNanos())
                .texts("tokenstair.missing_layers", finding.missingLayers())
                .texts("tokenstair.evidence", finding.evidence());
        for (int i = 0;
                i < Math.min(finding.partNames().size(), finding.partNanos().size());
                i++) {
            attributes.whole(
                    "tokenstair.part." + finding.partNames().get(i) + ".nanos",
                    finding.partNanos().get(i));
        }
        return attributes;
    }
}
