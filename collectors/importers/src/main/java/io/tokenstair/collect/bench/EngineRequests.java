package io.tokenstair.collect.bench;

import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.event.LabelText;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestQueued;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Requests with the stamps that a vLLM engine keeps of each: {@code arrival_time} by the wall clock of the API server, the others by the
 * engine's monotonic clock. Nothing of the one is ever subtracted from the other. Between first and last token no time is known, and none
 * is made up.
 */
final class EngineRequests {
    private static final long MOST_NANOS = Long.MAX_VALUE / 4;

    private final String engineId;
    private final String clockId;
    private final CollectorSpool events;
    private final Set<String> ids = new HashSet<>();
    private int handle;

    EngineRequests(String engineId, CollectorSpool events) {
        this.engineId = engineId;
        this.clockId = engineId + "/monotonic";
        this.events = events;
    }

    /** Whether an object is such a request. */
    static boolean isRecord(BenchObject object) {
        return object.number("queued_ts") != null
                || object.number("scheduled_ts") != null
                || object.number("first_token_ts") != null;
    }

    /** Takes a request; returns its wall reading in ms. */
    @Nullable
    Long accept(BenchObject object) throws IOException, RejectedRecordException {
        String id = object.text("request_id");
        if (id == null || id.isEmpty()) {
            throw new RejectedRecordException("field request_id: missing, or longer than an id may be");
        }
        Fields.bounded(id, "request_id");
        if (ids.contains(id)) {
            throw new RejectedRecordException("field request_id: this request was read before");
        }
        Long queued = stamp(object, "queued_ts");
        Long scheduled = stamp(object, "scheduled_ts");
        Long first = stamp(object, "first_token_ts");
        Long last = stamp(object, "last_token_ts");
        Long arrival = stamp(object, "arrival_time");
        Integer input = tokens(object, "input_toks");
        Integer output = tokens(object, "output_toks");
        if (queued == null) {
            throw new RejectedRecordException("field queued_ts: missing, or 0: the request was not queued");
        }
        inOrder("scheduled_ts", queued, scheduled);
        inOrder("first_token_ts", scheduled == null ? queued : scheduled, first);
        inOrder("last_token_ts", first == null ? queued : first, last);
        ids.add(id);
        Long wallMillis = arrival == null ? null : Long.valueOf(arrival / 1_000_000L);
        events.add(
                clockId,
                queued,
                queued,
                wallMillis,
                new RequestQueued(
                        engineId, 0, handle++, id, arrival, input == null ? null : Long.valueOf(input), null, null));
        Long end = last == null ? first : last;
        Long endWallMillis =
                wallMillis == null || end == null ? null : Long.valueOf(wallMillis + (end - queued) / 1_000_000L);
        duration(queued, scheduled, id, "queue", scheduled, wallMillis, queued);
        duration(scheduled, first, id, "prefill", first, wallMillis, queued);
        duration(first, last, id, "decode", last, wallMillis, queued);
        if (output != null && output > 1 && first != null && last != null) {
            events.add(
                    clockId,
                    last,
                    last,
                    endWallMillis,
                    new MetricSampled(
                            engineId,
                            "vllm:request_time_per_output_token_seconds",
                            labels(id),
                            (last - first) / 1e9 / (output - 1)));
        }
        events.add(
                clockId,
                end == null ? queued : end,
                end,
                endWallMillis == null ? wallMillis : endWallMillis,
                new RequestFinished(engineId, 0, id, "unknown", output == null ? null : Long.valueOf(output), null));
        return wallMillis;
    }

    private String labels(String id) {
        Map<String, @Nullable String> labels = new HashMap<>();
        labels.put("engine", engineId);
        labels.put("request_id", id);
        return LabelText.of(labels);
    }

    /** A duration inside the engine's clock, as vLLM names it where it counts them in a histogram. */
    private void duration(
            @Nullable Long from,
            @Nullable Long to,
            String id,
            String what,
            @Nullable Long at,
            @Nullable Long wallMillis,
            long queued)
            throws IOException {
        if (from == null || to == null || at == null) {
            return;
        }
        events.add(
                clockId,
                at,
                at,
                wallMillis == null ? null : Long.valueOf(wallMillis + (at - queued) / 1_000_000L),
                new MetricSampled(engineId, "vllm:request_" + what + "_time_seconds", labels(id), (to - from) / 1e9));
    }

    private static void inOrder(String name, long before, @Nullable Long stamp) throws RejectedRecordException {
        if (stamp != null && stamp < before) {
            throw new RejectedRecordException("field " + name + ": before the stamp it must follow");
        }
    }

    /** A stamp in ns; null where it is absent or 0, which is what the engine starts it with. */
    private static @Nullable Long stamp(BenchObject object, String name) throws RejectedRecordException {
        Double seconds = object.number(name);
        if (seconds == null || seconds == 0) {
            return null;
        }
        double nanos = StrictMath.rint(seconds * 1e9);
        if (!(nanos >= 0) || nanos > MOST_NANOS) {
            throw new RejectedRecordException("field " + name + ": not a stamp in seconds");
        }
        return (long) nanos;
    }

    private static @Nullable Integer tokens(BenchObject object, String name) throws RejectedRecordException {
        Double tokens = object.number(name);
        if (tokens == null) {
            return null;
        }
        if (!(tokens >= 0) || tokens > Integer.MAX_VALUE || tokens != StrictMath.rint(tokens)) {
            throw new RejectedRecordException("field " + name + ": not a count");
        }
        return tokens.intValue();
    }

    List<String> notes() {
        List<String> notes = new ArrayList<>();
        if (!ids.isEmpty()) {
            notes.add(
                    ids.size()
                            + " requests with the engine's stamps: arrival by the wall clock, queued, scheduled, first and"
                            + " last token by its monotonic clock, never subtracted from one another; no time of a token between");
        }
        return notes;
    }
}
