package io.tokenstair.collect.vllm;

import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Finish;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a streaming client saw, {@code client.jsonl}: a line per request and a line per server-sent event, grouped by request and in
 * any order. Consecutive chunks of a request travel together, at most 16 of them and at most 100 ms.
 */
final class ClientLayer {
    static final String FILE = "client.jsonl";
    static final String NAME = "client";
    static final String COLLECTOR = "vllm-client";

    private static final String OBSERVER = "client";
    private static final long MAX_RECORD_NANOS = 100_000_000L;
    private static final int MAX_OPEN_RECORDS = 4_096;

    private final CaptureClock clock;
    private final CollectorSpool events;
    private final Map<String, OpenRecord> openByRequest = new LinkedHashMap<>();
    /** What was read, so that a line that comes again does not count its tokens again. */
    private final Set<String> requestsRead = new HashSet<>();

    private final Set<Long> eventsRead = new HashSet<>();

    private static final class OpenRecord {
        private final @Nullable Long wallMillis;
        private final List<Chunk> chunks = new ArrayList<>(ChunkDelivered.MAX_CHUNKS);

        private OpenRecord(@Nullable Long wallMillis) {
            this.wallMillis = wallMillis;
        }

        private boolean takes(Chunk chunk) {
            long first = chunks.get(0).arrivedNanos();
            long last = chunks.get(chunks.size() - 1).arrivedNanos();
            return chunks.size() < ChunkDelivered.MAX_CHUNKS
                    && chunk.arrivedNanos() >= last
                    && chunk.arrivedNanos() - first <= MAX_RECORD_NANOS;
        }
    }

    ClientLayer(CaptureClock clock, CollectorSpool events) {
        this.clock = clock;
        this.events = events;
    }

    /** Reads the file; false when it is missing. */
    boolean read(LayerReader reader) throws IOException {
        Path file = reader.capture().find(FILE);
        if (file == null) {
            return false;
        }
        reader.readLines(file, this::accept);
        for (Map.Entry<String, OpenRecord> open : openByRequest.entrySet()) {
            close(open.getKey(), open.getValue());
        }
        openByRequest.clear();
        return true;
    }

    private @Nullable Long accept(Fields line) throws RejectedRecordException, IOException {
        String type = line.text("type");
        return switch (type) {
            case "request" -> request(line);
            case "event" -> event(line);
            default -> throw line.refuse("type", "neither request nor event");
        };
    }

    private @Nullable Long request(Fields line) throws RejectedRecordException, IOException {
        String requestId = line.id("req");
        long sentNanos = clock.clockNanos(line, "send_mono_ns");
        Long sentWallMillis = clock.wallMillis(line, "send_wall_ns", sentNanos);
        if (!requestsRead.add(sentNanos + " " + requestId)) {
            throw line.refuse("req", "this request, sent at the same instant, was read before");
        }
        Long endNanos = clock.optionalClockNanos(line, "end_mono_ns");
        if (endNanos != null && endNanos < sentNanos) {
            throw line.refuse("end_mono_ns", endNanos + " lies before send_mono_ns, " + sentNanos);
        }
        Long closedNanos = clock.optionalClockNanos(line, "close_mono_ns");
        String outcome = line.optionalText("outcome");
        // max_tokens and n are what the client asked for, which may be nonsense that the server then refused.
        RequestReceived received = new RequestReceived(
                OBSERVER,
                requestId,
                line.optionalHex("trace_id", 32),
                line.optionalHex("parent_span_id", 16),
                null,
                null,
                line.optionalInt("priority"),
                line.optionalLongCount("prompt_tokens"),
                line.optionalLong("max_tokens"),
                line.optionalInt("n"),
                "warmup".equals(line.optionalText("role")));
        String streamId = line.optionalId("id");
        RequestCompleted completed = null;
        if (endNanos != null) {
            String ourOutcome = outcome(line, outcome);
            String errorType = line.optionalText("error_type");
            completed = new RequestCompleted(
                    OBSERVER,
                    requestId,
                    ourOutcome,
                    line.optionalCount("status"),
                    errorType == null && ourOutcome.equals("failed") ? outcome : errorType,
                    line.optionalLongCount("events"),
                    line.optionalSumOfCounts("tokens"),
                    clock.optionalClockNanos(line, "headers_mono_ns"),
                    closedNanos);
        }
        events.add(sentNanos, sentNanos, sentWallMillis, received);
        if (streamId != null && !streamId.equals(requestId)) {
            events.add(sentNanos, sentNanos, sentWallMillis, new IdAliased(requestId, streamId, "stream-id"));
        }
        if (endNanos != null && completed != null) {
            Long endWallMillis =
                    sentWallMillis == null ? null : Long.valueOf(sentWallMillis + (endNanos - sentNanos) / 1_000_000L);
            events.add(endNanos, endNanos, endWallMillis, completed);
        }
        return sentWallMillis;
    }

    private static String outcome(Fields line, @Nullable String outcome) throws RejectedRecordException {
        if (outcome == null) {
            throw line.refuse("outcome", "missing");
        }
        return switch (outcome) {
            case "complete" -> "complete";
            case "client_closed", "client_cancelled" -> "client-closed";
            case "http_error" -> "http-error";
            // The client notes the class of any other error.
            default -> "failed";
        };
    }

    private @Nullable Long event(Fields line) throws RejectedRecordException, IOException {
        String requestId = line.id("req");
        long arrivedNanos = clock.clockNanos(line, "mono_ns");
        Long wallMillis = clock.wallMillis(line, "wall_ns", arrivedNanos);
        int chunkIndex = line.count("ev");
        int sizeBytes = line.count("bytes");
        // Request, number and arrival to the nanosecond in one number: two events that share it are one.
        if (!eventsRead.add((arrivedNanos * 1_000_003L + chunkIndex) * 1_000_003L + requestId.hashCode())) {
            throw line.refuse("ev", "this event, arrived at the same instant, was read before");
        }
        if (!line.has("choice")) {
            if (!line.has("done") && !line.has("final_usage") && !line.has("error_type")) {
                throw line.refuse("choice", "missing, and the event is neither the usage, the end nor an error");
            }
            return wallMillis;
        }
        int tokenCount = line.count("ntok");
        Integer firstToken = tokenCount == 0 ? line.optionalCount("tok") : Integer.valueOf(line.count("tok"));
        if (firstToken != null && firstToken > Integer.MAX_VALUE - tokenCount) {
            throw line.refuse("tok", "too large, " + firstToken);
        }
        Chunk chunk = new Chunk(
                line.count("choice"),
                chunkIndex,
                tokenCount == 0 ? null : firstToken,
                tokenCount,
                sizeBytes,
                arrivedNanos,
                finish(line.optionalText("finish")));
        OpenRecord open = openByRequest.get(requestId);
        if (open != null && !open.takes(chunk)) {
            openByRequest.remove(requestId);
            close(requestId, open);
            open = null;
        }
        if (open == null) {
            open = new OpenRecord(wallMillis);
            openByRequest.put(requestId, open);
            closeOldest();
        }
        open.chunks.add(chunk);
        return wallMillis;
    }

    private void closeOldest() throws IOException {
        if (openByRequest.size() > MAX_OPEN_RECORDS) {
            Iterator<Map.Entry<String, OpenRecord>> entries =
                    openByRequest.entrySet().iterator();
            Map.Entry<String, OpenRecord> oldest = entries.next();
            close(oldest.getKey(), oldest.getValue());
            entries.remove();
        }
    }

    private void close(String requestId, OpenRecord open) throws IOException {
        long arrivedNanos = open.chunks.get(0).arrivedNanos();
        events.add(arrivedNanos, arrivedNanos, open.wallMillis, new ChunkDelivered(OBSERVER, requestId, open.chunks));
    }

    static Finish finish(@Nullable String finish) {
        if (finish == null) {
            return Finish.NONE;
        }
        return switch (finish.toLowerCase(Locale.ROOT)) {
            case "stop" -> Finish.STOP;
            case "length" -> Finish.LENGTH;
            case "abort", "aborted" -> Finish.ABORTED;
            case "error" -> Finish.ERROR;
            default -> Finish.OTHER;
        };
    }
}
