package io.tokenstair.collect.stream;

import com.fasterxml.jackson.databind.JsonNode;
import io.tokenstair.collect.importer.FileImport;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.FileDigest;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LabelText;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Streams as a client read them, {@code sse-capture}: a JSON object for each of its events, {@code kind} sent, status, line, body,
 * client_abort or closed, stamped by CLOCK_MONOTONIC and the wall clock. A line is one line of the answer's stream as it came.
 */
public final class SseCaptureImport extends FileImport {
    /** The format's name. */
    public static final String FORMAT = "sse-capture";

    static final String OBSERVER = "client";

    private static final int MAX_OPEN = 1 << 16;
    private static final int MAX_OPEN_CHUNKS = 1 << 21;
    private static final int FIRST_ERROR = 400;
    private static final int LONGEST_SOURCE = 160;

    /** An import of such captures. */
    public SseCaptureImport(LineSource.Limits limits, ImportListener listener) {
        super(FORMAT, limits, listener);
    }

    @Override
    protected void read(Path file, int index, RecordReader reader, EventSpools spools)
            throws IOException, ImportException {
        Long firstMillis = HostClock.firstWallMillis(file, limits(), "mono_ns", "epoch_ns");
        dated(firstMillis);
        String name = String.valueOf(file.getFileName());
        Capture capture = new Capture(
                name.length() > LONGEST_SOURCE ? name.substring(0, LONGEST_SOURCE) : name,
                spools.collector("sse-client", FileDigest.ofFirstLine(file), HostClock.MONOTONIC));
        reader.readLines(file, capture::accept);
        capture.end();
        if (capture.known == 0 && reader.result(false).read() > 0) {
            throw new ImportException(
                    file + ": no line of it is an event of a client (kind, req, mono_ns); name an sse_capture.jsonl");
        }
        if (capture.perChunk > 0) {
            note(name + ": " + capture.perChunk
                    + " answers count other numbers of tokens than of chunks with text, and do not say which held how many:"
                    + " their gaps are between chunks, not between tokens");
        }
        if (capture.withoutEnd > 0) {
            note(name + ": " + capture.withoutEnd + " requests have no end in the file");
        }
    }

    /** A request that is under way. */
    private static final class Open {
        private final Answer answer = new Answer();
        private final Map<String, String> aliases = new LinkedHashMap<>();
        private @Nullable Long sentNanos;
        private @Nullable Integer status;
        private @Nullable Long headersNanos;
        private @Nullable Long abortedNanos;
        private @Nullable Long failedNanos;
        private StreamChunk.@Nullable Failure refusal;
    }

    /** One file. */
    private static final class Capture {
        private final String source;
        private final CollectorSpool events;
        private final HostClock clock;
        private final Map<String, Open> open = new LinkedHashMap<>();
        private int openChunks;
        private long known;
        private long perChunk;
        private long withoutEnd;

        Capture(String source, CollectorSpool events) {
            this.source = source;
            this.events = events;
            this.clock = new HostClock(events, null);
        }

        @Nullable
        Long accept(Fields line) throws RejectedRecordException, IOException {
            String kind = line.text("kind");
            String requestId = line.id("req");
            known++;
            long nanos = line.stamp("mono_ns");
            Long epochNanos = line.optionalStamp("epoch_ns");
            clock.check(line, nanos, epochNanos);
            Long wallMillis = clock.wallMillis(nanos, epochNanos);
            switch (kind) {
                case "sent" -> sent(line, requestId, nanos, wallMillis);
                case "status" -> status(line, of(requestId), nanos);
                case "line" -> line(line, of(requestId), nanos);
                case "body" -> body(line, of(requestId), nanos);
                case "client_abort" -> of(requestId).abortedNanos = nanos;
                case "closed" -> closed(requestId, nanos, wallMillis);
                default -> throw line.refuse("kind", "none of sent, status, line, body, client_abort, closed");
            }
            clock.note(nanos, epochNanos, wallMillis);
            return wallMillis;
        }

        private Open of(String requestId) throws RejectedRecordException {
            Open request = open.get(requestId);
            if (request == null) {
                if (open.size() >= MAX_OPEN) {
                    throw new RejectedRecordException("more than " + MAX_OPEN + " requests under way at once");
                }
                request = new Open();
                open.put(requestId, request);
            }
            return request;
        }

        private void sent(Fields line, String requestId, long nanos, @Nullable Long wallMillis)
                throws RejectedRecordException, IOException {
            if (open.containsKey(requestId)) {
                throw line.refuse("req", "sent again while it is under way");
            }
            Fields body = line.optionalObject("body");
            RequestReceived received = new RequestReceived(
                    OBSERVER,
                    requestId,
                    null,
                    null,
                    body == null ? null : shortText(body, "model"),
                    shortText(line, "path"),
                    body == null ? null : whole(body, "priority"),
                    null,
                    body == null ? null : mostTokens(body),
                    body == null ? null : whole(body, "n"),
                    false);
            Open request = of(requestId);
            request.sentNanos = nanos;
            alias(request, requestId, header(line.optionalObject("headers"), "x-request-id"), "x-request-id");
            events.add(nanos, nanos, wallMillis, received);
        }

        private static @Nullable Long mostTokens(Fields body) {
            for (String name : new String[] {"max_tokens", "max_completion_tokens", "n_predict", "max_new_tokens"}) {
                JsonNode value = body.raw(name);
                if (value != null && value.isIntegralNumber() && value.canConvertToLong()) {
                    return value.longValue();
                }
            }
            return null;
        }

        /** What was asked for may be nonsense that the server then refused. */
        private static @Nullable Integer whole(Fields body, String name) {
            JsonNode value = body.raw(name);
            return value != null && value.isIntegralNumber() && value.canConvertToInt()
                    ? Integer.valueOf(value.intValue())
                    : null;
        }

        private static @Nullable String shortText(Fields fields, String name) throws RejectedRecordException {
            JsonNode value = fields.raw(name);
            return value == null || !value.isTextual() ? null : fields.optionalText(name);
        }

        private static @Nullable String header(@Nullable Fields headers, String name) throws RejectedRecordException {
            if (headers == null) {
                return null;
            }
            for (String given : headers.names()) {
                if (given.toLowerCase(Locale.ROOT).equals(name)) {
                    return shortText(headers, given);
                }
            }
            return null;
        }

        private void status(Fields line, Open request, long nanos) throws RejectedRecordException {
            Integer status = line.optionalCount("status");
            String sentBack = header(line.optionalObject("headers"), "x-request-id");
            request.status = status;
            request.headersNanos = nanos;
            if (sentBack != null && !sentBack.isEmpty()) {
                request.aliases.putIfAbsent(sentBack, "x-request-id");
            }
        }

        private void line(Fields line, Open request, long nanos) throws RejectedRecordException {
            JsonNode text = line.raw("line");
            if (text == null || !text.isTextual()) {
                throw line.refuse("line", "missing, or not text");
            }
            String event = text.textValue();
            if (!event.startsWith("data:")) {
                // A comment, or the event's name or number.
                return;
            }
            String data = event.substring("data:".length()).strip();
            if (data.isEmpty() || data.equals("[DONE]") || data.equals("null")) {
                // llama.cpp sends null where a prompt of several has nothing to say yet.
                return;
            }
            StreamChunk chunk;
            try {
                chunk = StreamChunk.parse(data);
            } catch (RejectedRecordException e) {
                throw new RejectedRecordException("the event's data: " + e.reason());
            }
            int before = request.answer.size();
            if (openChunks + chunk.parts().size() > MAX_OPEN_CHUNKS
                    || !request.answer.accept(chunk, event.getBytes(StandardCharsets.UTF_8).length, nanos)) {
                throw new RejectedRecordException("too many chunks of answers that have not ended");
            }
            openChunks += request.answer.size() - before;
            if (chunk.error() != null && request.failedNanos == null) {
                request.failedNanos = nanos;
            }
        }

        private void body(Fields line, Open request, long nanos) throws RejectedRecordException {
            JsonNode text = line.raw("line") == null ? line.raw("body") : line.raw("line");
            boolean refused = request.status != null && request.status >= FIRST_ERROR;
            if (text != null && text.isTextual() && text.textValue().startsWith("{")) {
                byte[] bytes = text.textValue().getBytes(StandardCharsets.UTF_8);
                Fields body = Fields.parse(bytes, bytes.length);
                JsonNode error = body.raw("error");
                if (error != null) {
                    request.refusal = StreamChunk.failure(error);
                    refused = true;
                }
                StreamChunk whole = refused ? null : StreamChunk.whole(body);
                if (whole != null) {
                    int before = request.answer.size();
                    if (openChunks + whole.parts().size() > MAX_OPEN_CHUNKS
                            || !request.answer.accept(whole, bytes.length, nanos)) {
                        throw new RejectedRecordException("too many chunks of answers that have not ended");
                    }
                    openChunks += request.answer.size() - before;
                }
            }
            if (refused) {
                request.failedNanos = nanos;
            }
        }

        private void closed(String requestId, long nanos, @Nullable Long wallMillis) throws IOException {
            Open request = open.remove(requestId);
            if (request == null) {
                // Nothing of it came before: an end is a request all the same.
                request = new Open();
            }
            complete(requestId, request, nanos, wallMillis);
        }

        private void complete(String requestId, Open request, long nanos, @Nullable Long wallMillis)
                throws IOException {
            flush(requestId, request, nanos, wallMillis);
            Answer answer = request.answer;
            boolean httpError = request.status != null && request.status >= FIRST_ERROR;
            StreamChunk.Failure failure = answer.failure() != null ? answer.failure() : request.refusal;
            String outcome = request.abortedNanos != null
                    ? "client-closed"
                    : httpError ? "http-error" : failure != null ? "failed" : "complete";
            Long ended = request.abortedNanos != null ? request.abortedNanos : request.failedNanos;
            long endNanos = ended == null ? nanos : ended;
            Integer promptTokens = answer.promptTokens();
            Integer output = answer.closingTokens();
            events.add(
                    endNanos,
                    endNanos,
                    earlier(wallMillis, nanos - endNanos),
                    new RequestCompleted(
                            OBSERVER,
                            requestId,
                            outcome,
                            request.status,
                            failure == null ? null : failure.contextFull() ? "context_full" : failure.type(),
                            (long) answer.events(),
                            output == null ? null : Long.valueOf(output),
                            request.headersNanos,
                            request.abortedNanos,
                            promptTokens == null ? null : Long.valueOf(promptTokens),
                            answer.cachedTokens() == null ? null : Long.valueOf(answer.cachedTokens()),
                            null,
                            null));
            samples(requestId, request, failure, endNanos, earlier(wallMillis, nanos - endNanos));
        }

        private static @Nullable Long earlier(@Nullable Long wallMillis, long nanos) {
            return wallMillis == null ? null : Long.valueOf(wallMillis - nanos / 1_000_000L);
        }

        /** The chunks, and the names that came with them. */
        private void flush(String requestId, Open request, long nanos, @Nullable Long wallMillis) throws IOException {
            Answer answer = request.answer;
            openChunks -= answer.size();
            if (answer.perChunk()) {
                perChunk++;
            }
            for (ChunkDelivered record : answer.records(OBSERVER, requestId)) {
                long arrived = record.chunks().get(0).arrivedNanos();
                events.add(arrived, arrived, earlier(wallMillis, nanos - arrived), record);
            }
            String id = answer.id();
            if (id != null) {
                alias(request, requestId, id, "stream-id");
                alias(request, requestId, AnswerId.core(id), "engine-id");
            }
            for (Map.Entry<String, String> name :
                    LlamaCppAnswer.names(answer, request.refusal).entrySet()) {
                alias(request, requestId, name.getKey(), name.getValue());
            }
            long sent = request.sentNanos == null ? nanos : request.sentNanos;
            for (Map.Entry<String, String> name : request.aliases.entrySet()) {
                events.add(
                        sent,
                        sent,
                        earlier(wallMillis, nanos - sent),
                        new IdAliased(requestId, name.getKey(), name.getValue()));
            }
        }

        private static void alias(Open request, String requestId, @Nullable String alias, String origin) {
            if (alias != null && !alias.isEmpty() && !alias.equals(requestId)) {
                request.aliases.putIfAbsent(alias, origin);
            }
        }

        /** What llama.cpp says of an answer's own work, as it says it. */
        private void samples(
                String requestId,
                Open request,
                StreamChunk.@Nullable Failure failure,
                long nanos,
                @Nullable Long wallMillis)
                throws IOException {
            Answer answer = request.answer;
            sample(requestId, "llamacpp:request_prompt_seconds", seconds(answer.promptMillis()), nanos, wallMillis);
            sample(
                    requestId,
                    "llamacpp:request_predicted_seconds",
                    seconds(answer.predictedMillis()),
                    nanos,
                    wallMillis);
            sample(requestId, "llamacpp:request_draft_tokens", number(answer.draftTokens()), nanos, wallMillis);
            sample(
                    requestId,
                    "llamacpp:request_draft_accepted_tokens",
                    number(answer.draftAcceptedTokens()),
                    nanos,
                    wallMillis);
            sample(requestId, "llamacpp:request_truncated", answer.truncated() ? 1.0 : null, nanos, wallMillis);
            boolean full = failure != null && failure.contextFull();
            sample(requestId, "llamacpp:request_context_full", full ? 1.0 : null, nanos, wallMillis);
        }

        private void sample(
                String requestId, String name, @Nullable Double value, long nanos, @Nullable Long wallMillis)
                throws IOException {
            if (value != null) {
                String label = LabelText.of("request_id", requestId);
                events.add(nanos, nanos, wallMillis, new MetricSampled(source, name, label, value));
            }
        }

        private static @Nullable Double seconds(@Nullable Double millis) {
            return millis == null ? null : Double.valueOf(millis / 1e3);
        }

        private static @Nullable Double number(@Nullable Integer count) {
            return count == null ? null : Double.valueOf(count);
        }

        /** The file has ended: what is under way has no end, but for what its client left, or what an error broke. */
        void end() throws IOException {
            for (Map.Entry<String, Open> entry : open.entrySet()) {
                Open request = entry.getValue();
                Long ended = request.abortedNanos != null ? request.abortedNanos : request.failedNanos;
                if (ended != null) {
                    complete(entry.getKey(), request, ended, clock.wallMillis(ended, null));
                    continue;
                }
                withoutEnd++;
                long nanos = request.sentNanos == null ? clock.lastNanos() : request.sentNanos;
                flush(entry.getKey(), request, nanos, clock.wallMillis(nanos, null));
            }
            open.clear();
            clock.end();
        }
    }
}
