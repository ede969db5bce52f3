package io.tokenstair.collect.engine.dynamo;

import com.fasterxml.jackson.databind.JsonNode;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.Quantities;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.live.EventsOut;
import io.tokenstair.event.Event;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LabelText;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.RequestReceived;
import java.io.IOException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Records of the schema {@code dynamo.request.trace.v1}, one a request, written at its end. The frontend is a gateway:
 * it knows when the first token came and how many followed, not when each of them did. What it says of the cache is its router's forecast,
 * and its prefill time holds the wait for admission: both are kept as samples, and neither as what the engine did.
 */
public final class DynamoRequestTrace {
    private static final String OBSERVER = "gateway";
    private static final long NANOS_PER_MILLI = 1_000_000L;
    /** Ends are stamped in ms, and by another thread than durations. */
    private static final long SLACK_NANOS = 1_000_000_000L;

    private final String source;
    private final String clockId;
    private final EventsOut events;
    private int handle;
    private long known;
    private long otherRecords;
    private long percents;

    /**
     * Traces that have not been read yet.
     *
     * @param source what the samples are said to be of
     * @param clockId the wall clock of the frontend
     * @param events takes what they say
     */
    public DynamoRequestTrace(String source, String clockId, EventsOut events) {
        this.source = source;
        this.clockId = clockId;
        this.events = events;
    }

    private void add(long nanos, Event event) throws IOException {
        events.add(clockId, nanos, nanos, nanos / NANOS_PER_MILLI, event);
    }

    /** Records of the schema so far, of any kind. */
    public long knownCount() {
        return known;
    }

    /** Records of other kinds than request_end so far. */
    public long otherCount() {
        return otherRecords;
    }

    /** Hit rates in per cent so far, which were taken as shares. */
    public long percentCount() {
        return percents;
    }

    /** Takes a record: returns when its request was received, in ms since 1970; null for one of another kind. */
    public @Nullable Long accept(Fields line) throws RejectedRecordException, IOException {
        Fields event = line.has("event") ? line.optionalObject("event") : line;
        if (event == null) {
            throw line.refuse("event", "missing");
        }
        String schema = event.optionalText("schema");
        if (schema == null || !schema.startsWith("dynamo.") || !schema.endsWith(".trace.v1")) {
            throw event.refuse("schema", "not dynamo.request.trace.v1");
        }
        known++;
        String type = event.optionalText("event_type");
        Fields request = event.optionalObject("request");
        if (request == null || !"request_end".equals(type)) {
            if (type == null || type.equals("request_end")) {
                throw event.refuse("request", "missing");
            }
            otherRecords++;
            return null;
        }
        return request(event, request);
    }

    private Long request(Fields event, Fields request) throws RejectedRecordException, IOException {
        String id = request.id("request_id");
        long received = Quantities.epochNanos(request, "request_received_ms", NANOS_PER_MILLI);
        Long ended = Quantities.optionalEpochNanos(event, "event_time_unix_ms", NANOS_PER_MILLI);
        Long total = Quantities.optionalNanos(request, "total_time_ms", NANOS_PER_MILLI);
        Long ttft = Quantities.optionalNanos(request, "ttft_ms", NANOS_PER_MILLI);
        Long wait = Quantities.optionalNanos(request, "prefill_wait_time_ms", NANOS_PER_MILLI);
        Long prefill = Quantities.optionalNanos(request, "prefill_time_ms", NANOS_PER_MILLI);
        Long meanGap = Quantities.optionalNanos(request, "avg_itl_ms", NANOS_PER_MILLI);
        Integer input = request.optionalCount("input_tokens");
        Integer output = request.optionalCount("output_tokens");
        Integer forecast = request.optionalCount("cached_tokens");
        Integer queueDepth = request.optionalCount("queue_depth");
        Double hitRate = Quantities.optionalNumber(request, "kv_hit_rate");
        Fields worker = request.optionalObject("worker");
        String engineId = worker == null ? null : Quantities.optionalName(worker, "decode_worker_id");
        if (worker != null && engineId == null) {
            engineId = Quantities.optionalName(worker, "prefill_worker_id");
        }
        Integer rank = worker == null ? null : worker.optionalCount("decode_dp_rank");
        engineId = engineId == null ? null : WorkerName.of(engineId);
        if (total != null && ttft != null && ttft > total) {
            throw request.refuse("ttft_ms", "longer than total_time_ms");
        }
        if (output != null && output > 0 && total != null && total == 0) {
            throw request.refuse("total_time_ms", "0 with output tokens: no measurement");
        }
        if (ended != null && total != null && Math.abs(ended - received - total) > SLACK_NANOS) {
            throw request.refuse(
                    "total_time_ms",
                    "does not lead from request_received_ms to event_time_unix_ms: mixed units or clocks");
        }
        if (hitRate != null && (hitRate < 0 || hitRate > 100)) {
            throw request.refuse("kv_hit_rate", "neither a share nor per cent");
        }
        if (hitRate != null && hitRate > 1) {
            percents++;
            hitRate = hitRate / 100;
        }
        Long end = total != null ? Long.valueOf(received + total) : ended;
        String alias = request.optionalId("x_request_id");
        add(
                received,
                new RequestReceived(
                        OBSERVER,
                        id,
                        null,
                        null,
                        request.optionalText("model"),
                        null,
                        null,
                        input == null ? null : Long.valueOf(input),
                        null,
                        null,
                        false));
        if (alias != null && !alias.equals(id)) {
            add(received, new IdAliased(id, alias, "x-request-id"));
        }
        if (engineId != null) {
            long handed = received + (wait == null ? 0 : wait);
            add(
                    handed,
                    new RequestQueued(
                            engineId,
                            rank == null ? 0 : rank,
                            handle++,
                            id,
                            received,
                            input == null ? null : Long.valueOf(input),
                            null,
                            null));
        }
        long at = end == null ? received : end;
        String reason = reason(request);
        if (engineId != null && end != null) {
            add(
                    end,
                    new RequestFinished(
                            engineId,
                            rank == null ? 0 : rank,
                            id,
                            reason == null ? "unknown" : reason,
                            output == null ? null : Long.valueOf(output),
                            null));
        }
        if (end != null) {
            boolean tokens = output == null || output > 0;
            add(
                    end,
                    new RequestCompleted(
                            OBSERVER,
                            id,
                            "error".equals(reason) ? "failed" : "complete",
                            null,
                            null,
                            null,
                            output == null ? null : Long.valueOf(output),
                            null,
                            null,
                            input == null ? null : Long.valueOf(input),
                            null,
                            ttft == null || !tokens ? null : Long.valueOf(received + ttft),
                            output != null && output < 2 ? null : meanGap));
        }
        Map<String, @Nullable String> labels = new HashMap<>();
        labels.put("request_id", id);
        labels.put("worker", engineId);
        String written = LabelText.of(labels);
        sample(at, "dynamo:request_prefill_wait_seconds", written, seconds(wait));
        sample(at, "dynamo:request_wait_and_prefill_seconds", written, seconds(prefill));
        sample(at, "dynamo:router_forecast_cached_tokens", written, number(forecast));
        sample(at, "dynamo:router_forecast_hit_ratio", written, hitRate);
        sample(at, "dynamo:router_queue_depth", written, number(queueDepth));
        return received / NANOS_PER_MILLI;
    }

    /** Why it ended, in our words; null where the trace does not say. */
    private static @Nullable String reason(Fields request) throws RejectedRecordException {
        JsonNode told = request.raw("finish_reason");
        if (told == null) {
            JsonNode raw = request.raw("finish_reason_metadata");
            Fields metadata = raw != null && raw.isObject() ? request.optionalObject("finish_reason_metadata") : null;
            told = metadata == null ? raw : metadata.raw("finish_reason");
        }
        if (told == null || !told.isTextual()) {
            return null;
        }
        return switch (told.textValue().toLowerCase(Locale.ROOT)) {
            case "length" -> "length";
            case "stop", "eos", "tool_calls" -> "stop";
            case "cancelled", "abort", "aborted" -> "aborted";
            case "error" -> "error";
            default -> "unknown";
        };
    }

    private static @Nullable Double seconds(@Nullable Long nanos) {
        return nanos == null ? null : Double.valueOf(nanos / 1e9);
    }

    private static @Nullable Double number(@Nullable Integer count) {
        return count == null ? null : Double.valueOf(count);
    }

    private void sample(long nanos, String name, String labels, @Nullable Double value) throws IOException {
        if (value != null) {
            add(nanos, new MetricSampled(source, name, labels, value));
        }
    }
}
