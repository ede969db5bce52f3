package io.tokenstair.collect.otlp;

import io.tokenstair.event.LabelText;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.SpanRecorded;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an engine's request span says of the request's waits, as samples under the name of the attribute, with the label
 * {@code request_id}: the engine's own figures of one request, from queued to scheduled, on to the first token, on to the last.
 */
final class RequestDurations {
    private static final String PER_TOKEN = "gen_ai.server.time_per_output_token";

    private RequestDurations() {}

    static void add(SpanRecorded span, List<TimedEvent> events) {
        String id = RequestIds.engineId(span);
        if (id == null) {
            return;
        }
        sample(span, id, GenAiNames.QUEUE_SECONDS.get(0), SpanReader.seconds(span, GenAiNames.QUEUE_SECONDS), events);
        sample(
                span,
                id,
                GenAiNames.PREFILL_SECONDS.get(0),
                SpanReader.seconds(span, GenAiNames.PREFILL_SECONDS),
                events);
        Double decode = SpanReader.seconds(span, GenAiNames.DECODE_SECONDS);
        Long tokens = SpanReader.count(span, GenAiNames.OUTPUT_TOKENS);
        if (decode != null && tokens != null && tokens > 1) {
            sample(span, id, PER_TOKEN, decode / (tokens - 1), events);
        }
    }

    private static void sample(
            SpanRecorded span, String id, String name, @Nullable Double seconds, List<TimedEvent> events) {
        if (seconds == null) {
            return;
        }
        String service = span.serviceName() == null ? "otlp" : span.serviceName();
        events.add(new TimedEvent(
                new MetricSampled(service, name, LabelText.of(Map.of("engine", service, "request_id", id)), seconds),
                span.endEpochNanos(),
                span.endEpochNanos()));
    }
}
