package io.tokenstair.collect.guidellm;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import io.tokenstair.collect.importer.FileImport;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.FileDigest;
import io.tokenstair.collect.input.JsonObjects;
import io.tokenstair.collect.input.JsonTrees;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.Quantities;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import io.tokenstair.collect.stream.AnswerId;
import io.tokenstair.collect.stream.HostClock;
import io.tokenstair.event.Event;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Reports of GuideLLM as JSON. Of each request the report has the first token and the mean gap after it, and no time of any other token:
 * a longest gap cannot be known and is not made up. Prompts and outputs are passed over.
 */
public final class GuideLlmImport extends FileImport {
    /** The format's name. */
    public static final String FORMAT = "guidellm";

    private static final String OBSERVER = "client";
    private static final long NANOS_PER_SECOND = 1_000_000_000L;
    private static final long NANOS_PER_MILLI = 1_000_000L;
    private static final String WANTED = "name the benchmarks.json of guidellm --output kind=json";

    /** An import of such reports. */
    public GuideLlmImport(LineSource.Limits limits, ImportListener listener) {
        super(FORMAT, limits, listener);
    }

    @Override
    protected void read(Path file, int index, RecordReader reader, EventSpools spools)
            throws IOException, ImportException {
        String name = String.valueOf(file.getFileName());
        Report report = new Report(reader.sourceName(file), reader, spools, FileDigest.of(file));
        try (JsonObjects objects = new JsonObjects(file, limits())) {
            try {
                while (objects.next()) {
                    report.document(objects.parser());
                }
            } catch (RejectedRecordException e) {
                if (!report.known) {
                    throw e;
                }
                reader.rejected(reader.sourceName(file), null, e.reason(), null);
            }
            String defect = objects.defect();
            if (defect != null) {
                reader.rejected(reader.sourceName(file), null, defect, null);
            }
        } catch (RejectedRecordException e) {
            throw new ImportException(file + ": " + e.reason() + "; " + WANTED);
        }
        if (!report.known) {
            throw new ImportException(file + ": no report of GuideLLM: it has no benchmarks with requests; " + WANTED);
        }
        if (report.requests > 0) {
            note(name + ": " + report.requests
                    + " requests with one mean gap each and no time of a token after the first: a longest gap is not"
                    + " available");
        }
    }

    /** One report. */
    private final class Report {
        private final String source;
        private final RecordReader reader;
        private final EventSpools spools;
        private final long epoch;
        private @Nullable CollectorSpool events;
        private boolean known;
        private long requests;
        private long unnamed;

        Report(String source, RecordReader reader, EventSpools spools, long epoch) {
            this.source = source;
            this.reader = reader;
            this.spools = spools;
            this.epoch = epoch;
        }

        /** Walks the document down to {@code benchmarks[].requests.<status>[]}. */
        void document(JsonParser parser) throws IOException, RejectedRecordException {
            while (JsonObjects.token(parser) == JsonToken.FIELD_NAME) {
                boolean benchmarks = "benchmarks".equals(parser.currentName());
                JsonToken value = token(parser);
                if (!benchmarks || value != JsonToken.START_ARRAY) {
                    skip(parser);
                    continue;
                }
                while (token(parser) != JsonToken.END_ARRAY) {
                    if (parser.currentToken() == JsonToken.START_OBJECT) {
                        benchmark(parser);
                    } else {
                        skip(parser);
                    }
                }
            }
        }

        private void benchmark(JsonParser parser) throws IOException, RejectedRecordException {
            while (token(parser) == JsonToken.FIELD_NAME) {
                boolean wanted = "requests".equals(parser.currentName());
                JsonToken value = token(parser);
                if (!wanted || value != JsonToken.START_OBJECT) {
                    skip(parser);
                    continue;
                }
                known = true;
                while (token(parser) == JsonToken.FIELD_NAME) {
                    String status = parser.currentName();
                    boolean list = token(parser) == JsonToken.START_ARRAY;
                    // "total" holds the others once more where it is not null.
                    if (!list
                            || !(status.equals("successful")
                                    || status.equals("errored")
                                    || status.equals("incomplete"))) {
                        skip(parser);
                        continue;
                    }
                    while (token(parser) != JsonToken.END_ARRAY) {
                        one(JsonTrees.read(parser), status);
                    }
                }
            }
        }

        private void one(JsonNode node, String status) throws IOException {
            try {
                reader.accepted(request(Fields.of(node), status));
            } catch (RejectedRecordException e) {
                reader.rejected(source, null, status + " request " + requests + ": " + e.reason(), null);
            }
        }

        private Long request(Fields request, String status) throws RejectedRecordException, IOException {
            Fields info = request.optionalObject("info");
            Fields timings = info == null ? null : info.optionalObject("timings");
            Long start = stamp(request, "request_start_time", "start_time");
            Long end = stamp(request, "request_end_time", "end_time");
            start = start == null && timings != null ? stamp(timings, "request_start", "request_start") : start;
            end = end == null && timings != null ? stamp(timings, "request_end", "request_end") : end;
            // Some releases write there when the request was taken up, where it was cancelled before it was sent.
            boolean neverSent = timings != null && timings.has("resolve_start") && !timings.has("request_start");
            if (start == null || neverSent) {
                throw request.refuse("request_start_time", "missing: the request was never sent");
            }
            String id = request.optionalId("request_id");
            Long ttft = Quantities.optionalNanos(request, "time_to_first_token_ms", NANOS_PER_MILLI);
            Long meanGap = Quantities.optionalNanos(request, "inter_token_latency_ms", NANOS_PER_MILLI);
            Integer prompt = request.optionalCount("prompt_tokens");
            Integer output = request.optionalCount("output_tokens");
            Integer cached = request.optionalCount("cached_tokens");
            boolean successful = status.equals("successful");
            if (end != null && end < start) {
                throw request.refuse("request_end_time", "before request_start_time");
            }
            if (end != null && ttft != null && ttft > end - start + NANOS_PER_MILLI) {
                throw request.refuse("time_to_first_token_ms", "longer than the request took: another unit");
            }
            if (successful && output != null && output > 0 && ttft != null && ttft == 0) {
                throw request.refuse("time_to_first_token_ms", "0 with output tokens: no measurement");
            }
            if (end != null
                    && meanGap != null
                    && output != null
                    && output > 1
                    && meanGap / 2 > (end - start) / (output - 1)) {
                throw request.refuse("inter_token_latency_ms", "more than the request took: another unit");
            }
            if (cached != null && prompt != null && cached > prompt) {
                throw request.refuse("cached_tokens", "more than prompt_tokens");
            }
            requests++;
            String requestId = id == null ? source + '#' + unnamed++ : id;
            add(
                    start,
                    new RequestReceived(
                            OBSERVER,
                            requestId,
                            null,
                            null,
                            null,
                            null,
                            null,
                            prompt == null ? null : Long.valueOf(prompt),
                            null,
                            null,
                            false));
            String answerId = request.optionalText("response_id");
            if (answerId != null && !answerId.isEmpty() && !answerId.equals(requestId)) {
                add(start, new IdAliased(requestId, answerId, "stream-id"));
                String core = AnswerId.core(answerId);
                if (!core.equals(answerId)) {
                    add(start, new IdAliased(requestId, core, "engine-id"));
                }
            }
            boolean tokens = output == null || output > 0;
            add(
                    end == null ? start : end,
                    new RequestCompleted(
                            OBSERVER,
                            requestId,
                            successful ? "complete" : status.equals("incomplete") ? "client-closed" : "failed",
                            null,
                            null,
                            null,
                            output == null ? null : Long.valueOf(output),
                            null,
                            null,
                            prompt == null ? null : Long.valueOf(prompt),
                            cached == null ? null : Long.valueOf(cached),
                            ttft == null || ttft == 0 || !tokens ? null : Long.valueOf(start + ttft),
                            output == null || output < 2 ? null : meanGap));
            return start / NANOS_PER_MILLI;
        }

        private static @Nullable Long stamp(Fields fields, String name, String olderName)
                throws RejectedRecordException {
            Long stamp = Quantities.optionalEpochNanos(fields, name, NANOS_PER_SECOND);
            return stamp != null || name.equals(olderName)
                    ? stamp
                    : Quantities.optionalEpochNanos(fields, olderName, NANOS_PER_SECOND);
        }

        private void add(long nanos, Event event) throws IOException {
            if (events == null) {
                events = spools.collector("guidellm-client", epoch, HostClock.WALL);
                dated(nanos / NANOS_PER_MILLI);
            }
            events.add(nanos, nanos, nanos / NANOS_PER_MILLI, event);
        }
    }

    private static JsonToken token(JsonParser parser) throws IOException, RejectedRecordException {
        JsonToken token = JsonObjects.token(parser);
        if (token == null) {
            throw new RejectedRecordException("not valid JSON: it ends inside a value (cut?)");
        }
        return token;
    }

    /** Passes over the value that the parser stands on, however large. */
    private static void skip(JsonParser parser) throws IOException, RejectedRecordException {
        JsonToken token = parser.currentToken();
        int depth = token != null && token.isStructStart() ? 1 : 0;
        while (depth > 0) {
            JsonToken next = token(parser);
            depth += next.isStructStart() ? 1 : next.isStructEnd() ? -1 : 0;
        }
    }
}
