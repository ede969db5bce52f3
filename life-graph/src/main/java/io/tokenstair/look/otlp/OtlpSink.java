package io.tokenstair.look.otlp;

import io.opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import java.io.IOException;

/** Where exported requests go. */
interface OtlpSink extends AutoCloseable {
    /** Takes spans. */
    void take(ExportTraceServiceRequest request) throws IOException;

    /**
     * Takes log records.
     *
     * @return false where none are taken there, which is no failure: a store of traces takes no logs
     */
    boolean takeLogs(ExportLogsServiceRequest request) throws IOException;

    /** Spans and log records that were refused there. */
    long refusedSpans();

    @Override
    void close() throws IOException;
}
