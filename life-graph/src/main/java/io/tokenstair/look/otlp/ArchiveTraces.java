package io.tokenstair.look.otlp;

import io.opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.InstrumentationScope;
import io.opentelemetry.proto.logs.v1.LogRecord;
import io.opentelemetry.proto.logs.v1.ResourceLogs;
import io.opentelemetry.proto.logs.v1.ScopeLogs;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.look.archive.FindingFilter;
import io.tokenstair.look.archive.RequestFilter;
import io.tokenstair.look.archive.ResultArchive;
import io.tokenstair.look.archive.RowCursor;
import io.tokenstair.look.archive.SequenceKey;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Gives the spans of an archive, and its findings as log records too, to a sink, in requests of bounded size. Memory does not grow with the archive. */
final class ArchiveTraces {
    /** What the spans say they are from: the receiver of Tokenstair knows its own by it. */
    static final String SERVICE = "tokenstair";

    private static final int MOST_BYTES = 1 << 20;
    private static final int MOST_CONTEXTS = 10_000;

    private final ResultArchive archive;
    private final OtlpSink sink;
    private final TraceContexts contexts;
    /** Of the requests that were exported, for their findings. */
    private final Map<String, TraceContext> known = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, TraceContext> eldest) {
            return size() > MOST_CONTEXTS;
        }
    };

    private ScopeSpans.Builder batch = scope();
    private long batchBytes;
    private ScopeLogs.Builder logBatch = logScope();
    private long logBytes;
    private boolean logsTaken = true;
    private long logs;
    private long spans;
    private long requests;
    private long joined;
    private long findings;
    private long undated;

    ArchiveTraces(ResultArchive archive, OtlpSink sink) {
        this.archive = archive;
        this.sink = sink;
        this.contexts = new TraceContexts(archive);
    }

    private static ScopeSpans.Builder scope() {
        return ScopeSpans.newBuilder()
                .setScope(InstrumentationScope.newBuilder().setName("io.tokenstair"));
    }

    void export(@Nullable String request) throws IOException {
        RequestFilter filter = new RequestFilter(request, null, null);
        try (RowCursor<RequestAnalysis> rows = archive.requests(filter);
                RowCursor<TokenAnalysis> tokens = archive.tokens(filter)) {
            while (rows.hasNext()) {
                RequestAnalysis row = rows.next();
                SequenceKey key = SequenceKey.of(row);
                TraceContext context = contextOf(row);
                SequenceSpans sequence = new SequenceSpans(row, context);
                for (TokenAnalysis next = tokens.peek();
                        next != null && SequenceKey.of(next).equals(key);
                        next = tokens.peek()) {
                    sequence.token(tokens.next());
                }
                List<Span> made = sequence.spans();
                if (made.isEmpty()) {
                    undated++;
                    continue;
                }
                requests++;
                joined += context.incoming() ? 1 : 0;
                for (Span span : made) {
                    add(span);
                }
            }
        }
        try (RowCursor<Finding> rows = archive.findings(new FindingFilter(request, null, null))) {
            while (rows.hasNext()) {
                Finding finding = rows.next();
                TraceContext context = contextOf(finding.requestId(), finding.lifetime());
                Span span = FindingSpans.of(finding, context, contextOf(finding.culpritRequestId(), 0));
                LogRecord log = FindingLogs.of(finding, context);
                if (span == null || log == null) {
                    undated++;
                } else {
                    findings++;
                    add(span);
                    add(log);
                }
            }
        }
        flush();
        flushLogs();
    }

    private TraceContext contextOf(RequestAnalysis row) {
        return known.computeIfAbsent(row.requestId() + '\0' + row.lifetime(), name -> contexts.of(row));
    }

    private @Nullable TraceContext contextOf(@Nullable String requestId, @Nullable Integer lifetime) {
        if (requestId == null) {
            return null;
        }
        int use = lifetime == null ? 0 : lifetime;
        TraceContext found = known.get(requestId + '\0' + use);
        if (found != null) {
            return found;
        }
        List<RequestAnalysis> rows = new ArrayList<>();
        try (RowCursor<RequestAnalysis> cursor = archive.requests(new RequestFilter(requestId, null, null))) {
            while (cursor.hasNext() && rows.isEmpty()) {
                RequestAnalysis row = cursor.next();
                if (row.lifetime() == use) {
                    rows.add(row);
                }
            }
        }
        return rows.isEmpty() ? null : contextOf(rows.get(0));
    }

    private void add(Span span) throws IOException {
        int bytes = span.getSerializedSize();
        if (batchBytes > 0 && batchBytes + bytes > MOST_BYTES) {
            flush();
        }
        batch.addSpans(span);
        batchBytes += bytes;
        spans++;
    }

    private void add(LogRecord log) throws IOException {
        int bytes = log.getSerializedSize();
        if (logBytes > 0 && logBytes + bytes > MOST_BYTES) {
            flushLogs();
        }
        if (logsTaken) {
            logBatch.addLogRecords(log);
            logBytes += bytes;
        }
    }

    private void flushLogs() throws IOException {
        int count = logBatch.getLogRecordsCount();
        if (count == 0) {
            return;
        }
        // The spans they name go first.
        flush();
        logsTaken = sink.takeLogs(ExportLogsServiceRequest.newBuilder()
                .addResourceLogs(
                        ResourceLogs.newBuilder().setResource(resource()).addScopeLogs(logBatch))
                .build());
        logs += logsTaken ? count : 0;
        logBatch = logScope();
        logBytes = 0;
    }

    private static ScopeLogs.Builder logScope() {
        return ScopeLogs.newBuilder().setScope(InstrumentationScope.newBuilder().setName("io.tokenstair"));
    }

    private static Resource resource() {
        return Resource.newBuilder()
                .addAllAttributes(
                        new SpanAttributes().text("service.name", SERVICE).list())
                .build();
    }

    private void flush() throws IOException {
        if (batch.getSpansCount() == 0) {
            return;
        }
        sink.take(ExportTraceServiceRequest.newBuilder()
                .addResourceSpans(
                        ResourceSpans.newBuilder().setResource(resource()).addScopeSpans(batch))
                .build());
        batch = scope();
        batchBytes = 0;
    }

    /** What was exported, in one line. */
    String line() {
        return "exported " + spans + " spans: " + requests + " sequences of requests (" + joined
                + " in the trace they came with), " + findings + " findings"
                + (logs > 0 ? ", which are " + logs + " log records too" : "");
    }

    /** True where findings went as spans only, since log records are not taken there. */
    boolean isWithoutLogs() {
        return !logsTaken;
    }

    /** Requests and findings without a time of day, which no trace can show. */
    long undated() {
        return undated;
    }
}
