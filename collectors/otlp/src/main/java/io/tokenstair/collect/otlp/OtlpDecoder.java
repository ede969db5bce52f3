package io.tokenstair.collect.otlp;

import com.google.protobuf.Message;
import io.opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.InstrumentationScope;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.logs.v1.LogRecord;
import io.opentelemetry.proto.logs.v1.ResourceLogs;
import io.opentelemetry.proto.logs.v1.ScopeLogs;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import io.opentelemetry.proto.metrics.v1.ScopeMetrics;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.SpanRecorded;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Export requests to events. Spans that tell of requests or engines become SpanRecorded, with second names of requests as IdAliased; a span of
 * a client's call to a model also the RequestReceived and RequestCompleted it stands for. Data points become MetricSampled, log records
 * that are events of a request SpanRecorded of no length. What tells of neither is passed over and counted. Not safe for several threads: it
 * remembers which request a span is of.
 */
public final class OtlpDecoder {
    private static final List<String> ENGINES =
            List.of("vllm", "sglang", "trtllm", "tensorrt", "triton", "dynamo", "llama", "tgi", "tokenstair");

    /** What the spans that this product exports say they are from. */
    private static final String OWN = "tokenstair";

    private final RequestIds ids = new RequestIds();
    private final boolean serversTell;

    /** A decoder for a place where gateways and engines have records of their own: spans of servers stand for no request. */
    public OtlpDecoder() {
        this(false);
    }

    /**
     * A decoder.
     *
     * @param serversTell true where nothing else records the requests, so that per-token times in spans of servers become chunks
     */
    public OtlpDecoder(boolean serversTell) {
        this.serversTell = serversTell;
    }

    /** All spans of a request, whatever they tell of; the first that cannot be read refuses them all. */
    public static List<SpanRecorded> spans(OtlpRequest request) throws OtlpException {
        List<SpanRecorded> spans = new ArrayList<>();
        if (request.message() instanceof ExportTraceServiceRequest traces) {
            for (ResourceSpans resource : traces.getResourceSpansList()) {
                String service = SpanReader.service(resource.getResource());
                for (ScopeSpans scope : resource.getScopeSpansList()) {
                    for (Span span : scope.getSpansList()) {
                        spans.add(SpanReader.read(span, service, Long.MAX_VALUE));
                    }
                }
            }
        }
        return spans;
    }

    /** Reads a request whose items may be of any time. */
    public OtlpBatch decode(OtlpRequest request) {
        return decode(request, Long.MAX_VALUE);
    }

    /**
     * Reads a request.
     *
     * @param request the request
     * @param latestNanos items that happened later than this, in ns since 1970, are refused
     */
    public OtlpBatch decode(OtlpRequest request, long latestNanos) {
        OtlpBatch batch = new OtlpBatch();
        Message message = request.message();
        if (message instanceof ExportTraceServiceRequest traces) {
            traces.getResourceSpansList().forEach(resource -> spans(resource, latestNanos, batch));
        } else if (message instanceof ExportMetricsServiceRequest metrics) {
            metrics.getResourceMetricsList().forEach(resource -> metrics(resource, latestNanos, batch));
        } else if (message instanceof ExportLogsServiceRequest logs) {
            logs.getResourceLogsList().forEach(resource -> logs(resource, latestNanos, batch));
        }
        return batch;
    }

    private void spans(ResourceSpans resource, long latestNanos, OtlpBatch batch) {
        String service = SpanReader.service(resource.getResource());
        boolean engine = isEngine(service, resource.getResource());
        for (ScopeSpans scope : resource.getScopeSpansList()) {
            boolean known = engine || isEngine(scope.getScope());
            for (Span span : scope.getSpansList()) {
                if (!known && !tellsOfRequests(span)) {
                    batch.passOver();
                    continue;
                }
                try {
                    SpanRecorded recorded = SpanReader.read(span, service, latestNanos);
                    List<TimedEvent> events = new ArrayList<>();
                    addSpan(recorded, events);
                    if (!OWN.equals(service)) {
                        TokenTimes.add(span, recorded, serversTell, events);
                    }
                    events.forEach(batch::event);
                    batch.accept();
                } catch (OtlpException e) {
                    batch.reject(e.reason());
                }
            }
        }
    }

    /** A span and what it says beside itself. */
    private void addSpan(SpanRecorded span, List<TimedEvent> events) {
        Long last = span.endEpochNanos() != null ? span.endEpochNanos() : span.startEpochNanos();
        events.add(new TimedEvent(span, null, last));
        if (OWN.equals(span.serviceName())) {
            // What this product exported tells nothing that its archive does not know.
            return;
        }
        IdAliased wrapped = RequestIds.wrapped(span);
        if (wrapped != null) {
            events.add(new TimedEvent(wrapped, null, last));
        }
        IdAliased joined = ids.joined(span);
        if (joined != null) {
            events.add(new TimedEvent(joined, null, last));
        }
        ClientCalls.add(span, events);
        RequestDurations.add(span, events);
    }

    private static boolean tellsOfRequests(Span span) {
        for (KeyValue attribute : span.getAttributesList()) {
            if (GenAiNames.tellsOfRequests(attribute.getKey())) {
                return true;
            }
            if (GenAiNames.ROUTE.contains(attribute.getKey())) {
                String route = attribute.getValue().getStringValue();
                if (route.startsWith("/v1/") || route.startsWith("/v2/models/") || route.equals("/generate")) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean isEngine(InstrumentationScope scope) {
        return namesEngine(scope.getName());
    }

    private static boolean isEngine(@Nullable String service, Resource resource) {
        return (service != null && namesEngine(service))
                || resource.getAttributesList().stream()
                        .anyMatch(attribute -> attribute.getKey().startsWith("vllm."));
    }

    private static boolean namesEngine(String name) {
        String lower = name.length() > 256 ? "" : name.toLowerCase(Locale.ROOT);
        return ENGINES.stream().anyMatch(lower::contains);
    }

    private static void metrics(ResourceMetrics resource, long latestNanos, OtlpBatch batch) {
        String source = MetricReader.source(resource.getResource());
        for (ScopeMetrics scope : resource.getScopeMetricsList()) {
            for (Metric metric : scope.getMetricsList()) {
                MetricReader.read(metric, source, latestNanos, batch);
            }
        }
    }

    private void logs(ResourceLogs resource, long latestNanos, OtlpBatch batch) {
        String service = SpanReader.service(resource.getResource());
        for (ScopeLogs scope : resource.getScopeLogsList()) {
            for (LogRecord log : scope.getLogRecordsList()) {
                if (!LogReader.tellsOfRequest(log)) {
                    batch.passOver();
                    continue;
                }
                try {
                    SpanRecorded recorded = LogReader.read(log, service, latestNanos);
                    batch.event(
                            new TimedEvent(recorded, null, Objects.requireNonNullElse(recorded.startEpochNanos(), 0L)));
                    IdAliased wrapped = RequestIds.wrapped(recorded);
                    if (wrapped != null) {
                        batch.event(new TimedEvent(wrapped, null, recorded.startEpochNanos()));
                    }
                    batch.accept();
                } catch (OtlpException e) {
                    batch.reject(e.reason());
                }
            }
        }
    }
}
