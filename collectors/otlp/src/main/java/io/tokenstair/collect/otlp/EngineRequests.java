package io.tokenstair.collect.otlp;

import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Event;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.SpanRecorded;
import io.tokenstair.event.wire.Utf8;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Requests by the one span that an engine writes of each ({@code llm_request} of vLLM and TensorRT-LLM, the root span of SGLang), for a place
 * where nothing else records them: when the server took the request up, when its first token came, when it ended and with how many
 * tokens. What lies between first and last token is not in such a span, and nothing is made up. Spans of one id that overlap are the
 * sequences of one request (n above 1), or of its prompts where their ids differ: the prompts' tokens are then added up. At most {@value #MOST} spans are held.
 */
public final class EngineRequests {
    static final int MOST = 1 << 18;

    private static final String SERVER = "gateway";

    /** By id, so that the order in which files came says nothing. */
    private final Map<String, List<Answer>> answers = new TreeMap<>();

    private final Set<String> withTokens = new HashSet<>();
    private int held;
    private long leftOut;

    private record Answer(
            String engineId,
            String spanId,
            String traceId,
            @Nullable String parentSpanId,
            long startNanos,
            long endNanos,
            @Nullable Long firstTokenNanos,
            @Nullable String model,
            @Nullable Long promptTokens,
            @Nullable Long cachedTokens,
            @Nullable Long outputTokens,
            @Nullable Long decodeNanos,
            @Nullable Long maxTokens,
            @Nullable Integer choices,
            boolean failed) {}

    /** Takes what a request became: its spans of engines' requests are kept until the end. */
    public void accept(List<TimedEvent> events) {
        for (TimedEvent timed : events) {
            if (timed.event() instanceof ChunkDelivered chunks) {
                withTokens.add(chunks.requestId());
            } else if (timed.event() instanceof SpanRecorded span) {
                accept(span);
            }
        }
    }

    private void accept(SpanRecorded span) {
        String id = SpanReader.attribute(span, GenAiNames.REQUEST_ID);
        Long start = span.startEpochNanos();
        Long end = span.endEpochNanos();
        if (id == null || start == null || end == null || !isOfEngine(span)) {
            return;
        }
        if (held >= MOST) {
            leftOut++;
            return;
        }
        held++;
        Long toFirst = SpanReader.nanos(span, GenAiNames.FIRST_TOKEN_SECONDS);
        String wrapped = RequestIds.wrappedId(id);
        answers.computeIfAbsent(wrapped == null ? id : wrapped, name -> new ArrayList<>())
                .add(new Answer(
                        id,
                        span.spanId(),
                        span.traceId(),
                        span.parentSpanId(),
                        start,
                        end,
                        toFirst == null || start + toFirst > end ? null : Long.valueOf(start + toFirst),
                        SpanReader.attribute(span, GenAiNames.MODEL),
                        SpanReader.promptTokens(span),
                        SpanReader.cachedTokens(span),
                        SpanReader.count(span, GenAiNames.OUTPUT_TOKENS),
                        SpanReader.nanos(span, GenAiNames.DECODE_SECONDS),
                        SpanReader.count(span, GenAiNames.MAX_TOKENS),
                        choices(span),
                        "ERROR".equals(SpanReader.attribute(span, "otel.status_code"))));
    }

    private static boolean isOfEngine(SpanRecorded span) {
        return !"SPAN_KIND_CLIENT".equals(span.spanKind())
                && !"tokenstair".equals(span.serviceName())
                && (span.name().equals("llm_request")
                        || "sglang::request".equals(SpanReader.attribute(span, "module"))
                        || SpanReader.attribute(span, "gen_ai.latency.e2e") != null
                        || SpanReader.attribute(span, "gen_ai.latency.time_to_first_token") != null);
    }

    private static @Nullable Integer choices(SpanRecorded span) {
        Long choices = SpanReader.count(span, GenAiNames.CHOICES);
        return choices == null || choices < 1 || choices > 1024 ? null : Integer.valueOf(choices.intValue());
    }

    /** Spans of requests that were not taken, as too many were there. */
    public long leftOut() {
        return leftOut;
    }

    /** Gives the requests' events. Nothing may be added afterwards. */
    public void finish(Consumer<TimedEvent> output) {
        for (Map.Entry<String, List<Answer>> request : answers.entrySet()) {
            List<Answer> sorted = request.getValue();
            sorted.sort(Comparator.comparingLong(Answer::startNanos).thenComparing(Answer::spanId));
            List<Answer> use = new ArrayList<>();
            long end = Long.MIN_VALUE;
            for (Answer answer : sorted) {
                if (!use.isEmpty() && answer.startNanos() >= end) {
                    tell(request.getKey(), use, output);
                    use.clear();
                }
                use.add(answer);
                end = Math.max(end, answer.endNanos());
            }
            tell(request.getKey(), use, output);
        }
        answers.clear();
    }

    /** One use of an id. */
    private void tell(String requestId, List<Answer> sequences, Consumer<TimedEvent> output) {
        Answer first = sequences.get(0);
        Set<String> prompts = new HashSet<>();
        Long promptTokens = 0L;
        Long cachedTokens = 0L;
        for (Answer sequence : sequences) {
            // The engine's id names the prompt: several answers to one prompt share it.
            if (prompts.add(sequence.engineId())) {
                promptTokens = sum(promptTokens, sequence.promptTokens());
                cachedTokens = sum(cachedTokens, sequence.cachedTokens());
            }
        }
        long end = first.endNanos();
        Long outputTokens = 0L;
        boolean failed = false;
        for (Answer sequence : sequences) {
            end = Math.max(end, sequence.endNanos());
            outputTokens = sum(outputTokens, sequence.outputTokens());
            failed |= sequence.failed();
        }
        give(
                output,
                first.startNanos(),
                new RequestReceived(
                        SERVER,
                        requestId,
                        first.traceId(),
                        first.parentSpanId(),
                        first.model() == null ? null : Utf8.cut(first.model(), 256),
                        null,
                        null,
                        promptTokens,
                        first.maxTokens(),
                        sequences.size() > prompts.size()
                                ? Integer.valueOf((sequences.size() + prompts.size() - 1) / prompts.size())
                                : first.choices(),
                        false));
        boolean stamped = withTokens.contains(requestId);
        Answer only = sequences.size() == 1 ? first : null;
        Long decode = only == null ? null : only.decodeNanos();
        Long tokens = only == null ? null : only.outputTokens();
        give(
                output,
                end,
                new RequestCompleted(
                        SERVER,
                        requestId,
                        failed ? "failed" : "complete",
                        null,
                        null,
                        null,
                        outputTokens,
                        null,
                        null,
                        promptTokens,
                        cachedTokens,
                        stamped ? null : firstToken(sequences),
                        stamped || decode == null || tokens == null || tokens < 2
                                ? null
                                : Long.valueOf(decode / (tokens - 1))));
    }

    private static @Nullable Long sum(@Nullable Long known, @Nullable Long more) {
        return known == null || more == null ? null : Long.valueOf(known + more);
    }

    /** When the first token of any sequence came; null where one does not say. */
    private static @Nullable Long firstToken(List<Answer> sequences) {
        Long earliest = null;
        for (Answer sequence : sequences) {
            Long at = sequence.firstTokenNanos();
            if (at == null || sequence.outputTokens() == null || sequence.outputTokens() == 0) {
                return null;
            }
            earliest = earliest == null ? at : Long.valueOf(Math.min(earliest, at));
        }
        return earliest;
    }

    private static void give(Consumer<TimedEvent> output, long at, Event event) {
        output.accept(new TimedEvent(event, at, at));
    }
}
