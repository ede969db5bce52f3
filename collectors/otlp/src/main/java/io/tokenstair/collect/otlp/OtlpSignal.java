package io.tokenstair.collect.otlp;

import com.google.protobuf.Message;
import io.opentelemetry.proto.collector.logs.v1.ExportLogsPartialSuccess;
import io.opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest;
import io.opentelemetry.proto.collector.logs.v1.ExportLogsServiceResponse;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsPartialSuccess;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceResponse;
import io.opentelemetry.proto.collector.trace.v1.ExportTracePartialSuccess;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import org.jspecify.annotations.Nullable;

/** What an export request carries. */
public enum OtlpSignal {
    /** Spans. */
    TRACES(
            "/v1/traces",
            "opentelemetry.proto.collector.trace.v1.TraceService",
            "resourceSpans",
            ExportTraceServiceRequest.getDefaultInstance()) {
        @Override
        public Message response(long rejected, String message) {
            ExportTraceServiceResponse.Builder response = ExportTraceServiceResponse.newBuilder();
            if (rejected > 0 || !message.isEmpty()) {
                response.setPartialSuccess(ExportTracePartialSuccess.newBuilder()
                        .setRejectedSpans(rejected)
                        .setErrorMessage(message));
            }
            return response.build();
        }
    },
    /** Data points of metrics. */
    METRICS(
            "/v1/metrics",
            "opentelemetry.proto.collector.metrics.v1.MetricsService",
            "resourceMetrics",
            ExportMetricsServiceRequest.getDefaultInstance()) {
        @Override
        public Message response(long rejected, String message) {
            ExportMetricsServiceResponse.Builder response = ExportMetricsServiceResponse.newBuilder();
            if (rejected > 0 || !message.isEmpty()) {
                response.setPartialSuccess(ExportMetricsPartialSuccess.newBuilder()
                        .setRejectedDataPoints(rejected)
                        .setErrorMessage(message));
            }
            return response.build();
        }
    },
    /** Log records. */
    LOGS(
            "/v1/logs",
            "opentelemetry.proto.collector.logs.v1.LogsService",
            "resourceLogs",
            ExportLogsServiceRequest.getDefaultInstance()) {
        @Override
        public Message response(long rejected, String message) {
            ExportLogsServiceResponse.Builder response = ExportLogsServiceResponse.newBuilder();
            if (rejected > 0 || !message.isEmpty()) {
                response.setPartialSuccess(ExportLogsPartialSuccess.newBuilder()
                        .setRejectedLogRecords(rejected)
                        .setErrorMessage(message));
            }
            return response.build();
        }
    };

    private final String path;
    private final String service;
    private final String rootField;
    private final Message prototype;

    OtlpSignal(String path, String service, String rootField, Message prototype) {
        this.path = path;
        this.service = service;
        this.rootField = rootField;
        this.prototype = prototype;
    }

    /** Where HTTP clients post it. */
    public String path() {
        return path;
    }

    /** The gRPC service, whose one method is Export. */
    public String service() {
        return service;
    }

    /** The field of the request in JSON that tells it from the others. */
    public String rootField() {
        return rootField;
    }

    /** An empty request. */
    Message prototype() {
        return prototype;
    }

    /**
     * What is answered to a request that was taken, all of it or in part.
     *
     * @param rejected items of it that were refused
     * @param message why; empty when nothing was
     */
    public abstract Message response(long rejected, String message);

    /** The signal that is posted to a path; null for any other path. */
    public static @Nullable OtlpSignal ofPath(String path) {
        for (OtlpSignal signal : values()) {
            if (signal.path.equals(path)) {
                return signal;
            }
        }
        return null;
    }
}
