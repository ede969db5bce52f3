package io.tokenstair.look.otlp;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.logs.v1.LogRecord;
import io.opentelemetry.proto.logs.v1.SeverityNumber;
import io.tokenstair.archive.result.Finding;
import org.jspecify.annotations.Nullable;

/**
 * Findings as log records, named {@value #EVENT_NAME}: with trace and span of the request they are of, so that a view of its trace shows them
 * beside it, and with the severity that a log view sorts by.
 */
final class FindingLogs {
    static final String EVENT_NAME = "tokenstair.finding";

    private static final int SAMPLED = 1;

    private FindingLogs() {}

    /**
     * The log record of a finding; null where it has no time.
     *
     * @param finding the finding
     * @param request where the spans of its request are; absent when it is of none
     */
    static @Nullable LogRecord of(Finding finding, @Nullable TraceContext request) {
        Long from = finding.fromEpochNanos() == null ? finding.toEpochNanos() : finding.fromEpochNanos();
        if (from == null || from <= 0) {
            return null;
        }
        LogRecord.Builder record = LogRecord.newBuilder()
                .setEventName(EVENT_NAME)
                .setTimeUnixNano(from)
                .setObservedTimeUnixNano(finding.toEpochNanos() == null ? from : Math.max(from, finding.toEpochNanos()))
                .setSeverityNumber(number(finding.severity()))
                .setSeverityText(finding.severity())
                .setBody(AnyValue.newBuilder().setStringValue(finding.narrative()))
                .setTraceId(request == null ? SpanIds.trace("finding", finding.findingId()) : request.traceId())
                .setSpanId(spanId(finding, request))
                .setFlags(SAMPLED)
                .addAllAttributes(FindingSpans.attributes(finding).list());
        return record.build();
    }

    /** The request's own span where the finding is of a request, else the finding's. */
    private static ByteString spanId(Finding finding, @Nullable TraceContext request) {
        String requestId = finding.requestId();
        if (request == null || requestId == null) {
            return SpanIds.span("finding", finding.findingId());
        }
        Integer lifetime = finding.lifetime();
        Integer sequence = finding.sequenceIndex();
        return SequenceSpans.rootId(requestId, lifetime == null ? 0 : lifetime, sequence == null ? 0 : sequence);
    }

    private static SeverityNumber number(String severity) {
        return switch (severity) {
            case "critical" -> SeverityNumber.SEVERITY_NUMBER_ERROR;
            case "warning" -> SeverityNumber.SEVERITY_NUMBER_WARN;
            default -> SeverityNumber.SEVERITY_NUMBER_INFO;
        };
    }
}
