package io.tokenstair.collect.otlp;

import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.logs.v1.LogRecord;
import io.opentelemetry.proto.trace.v1.Span;
import io.tokenstair.event.SpanRecorded;
import org.jspecify.annotations.Nullable;

/**
 * Log records that are events of a request: those named {@code gen_ai.*} that carry a trace and a span. Each becomes a span of no length of kind
 * {@value #KIND}, under the id of the span it was written in. Bodies are never kept: they hold what was asked and answered.
 */
final class LogReader {
    static final String KIND = "LOG_RECORD";

    private LogReader() {}

    static boolean tellsOfRequest(LogRecord log) {
        String name = name(log);
        return (name.startsWith("gen_ai.") || name.startsWith("tokenstair."))
                && !log.getTraceId().isEmpty()
                && !log.getSpanId().isEmpty();
    }

    private static String name(LogRecord log) {
        if (!log.getEventName().isEmpty()) {
            return log.getEventName();
        }
        for (KeyValue attribute : log.getAttributesList()) {
            if (attribute.getKey().equals("event.name")) {
                return attribute.getValue().getStringValue();
            }
        }
        return "";
    }

    static SpanRecorded read(LogRecord log, @Nullable String service, long latestNanos) throws OtlpException {
        long time = log.getTimeUnixNano() == 0 ? log.getObservedTimeUnixNano() : log.getTimeUnixNano();
        SpanRecorded asSpan = SpanReader.read(
                Span.newBuilder()
                        .setTraceId(log.getTraceId())
                        .setSpanId(log.getSpanId())
                        .setName(name(log))
                        .setStartTimeUnixNano(time)
                        .setEndTimeUnixNano(time)
                        .addAllAttributes(log.getAttributesList())
                        .build(),
                service,
                latestNanos);
        return new SpanRecorded(
                asSpan.traceId(),
                asSpan.spanId(),
                null,
                asSpan.name(),
                KIND,
                asSpan.startEpochNanos(),
                asSpan.endEpochNanos(),
                asSpan.serviceName(),
                asSpan.attributes());
    }
}
