package io.tokenstair.look.otlp;

import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import java.io.IOException;

/** Where exported requests go. */
interface OtlpSink extends AutoCloseable {
    /** Takes a request. */
    void take(ExportTraceServiceRequest request) throws IOException;

    /** Spans that were refused there. */
    long refusedSpans();

    @Override
    void close() throws IOException;
}
