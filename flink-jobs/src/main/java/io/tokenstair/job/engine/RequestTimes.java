package io.tokenstair.job.engine;

import io.tokenstair.archive.result.Remark;
import io.tokenstair.cause.Confidence;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.job.finding.Remarks;
import io.tokenstair.job.statistics.DurationHistogram;
import io.tokenstair.narrative.Milliseconds;
import io.tokenstair.narrative.Phrase;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Durations of single requests by the engine's own clock, as vLLM keeps them of each and its request span tells them, and Triton's trace: from queued to scheduled, on to the first token, on to
 * the last. They tell how long requests waited, and nothing of any token between first and last. State: four histograms of at most
 * 2,000 buckets.
 */
public class RequestTimes {
    private static final String QUEUE = "vllm:request_queue_time_seconds";
    private static final String PREFILL = "vllm:request_prefill_time_seconds";
    private static final String DECODE = "vllm:request_decode_time_seconds";
    private static final String PER_TOKEN = "vllm:request_time_per_output_token_seconds";
    /** The names that metrics have, and those that an engine's request span has. */
    private static final Map<String, String> NAMES = Map.of(
            QUEUE,
            QUEUE,
            PREFILL,
            PREFILL,
            DECODE,
            DECODE,
            PER_TOKEN,
            PER_TOKEN,
            "gen_ai.latency.time_in_queue",
            QUEUE,
            "triton:request_queue_seconds",
            QUEUE,
            "gen_ai.latency.time_in_model_prefill",
            PREFILL,
            "gen_ai.server.time_per_output_token",
            PER_TOKEN);

    private static final int HALF = 5_000;
    private static final int MOST = 9_900;

    public DurationHistogram queue = new DurationHistogram();
    public DurationHistogram prefill = new DurationHistogram();
    public DurationHistogram perToken = new DurationHistogram();
    public long longestQueueNanos;
    public long longestPerTokenNanos;
    public String longestQueueEventId = "";
    public long fromMillis = Long.MAX_VALUE;
    public long toMillis = Long.MIN_VALUE;
    /** Samples not taken: not a number, negative, or of more than a year. */
    public long absurdSamples;

    /** For Flink's serializer. */
    public RequestTimes() {}

    /** Whether a sample is the duration of one request, and not a histogram over many. */
    static boolean isOfRequest(MetricSampled sample) {
        return NAMES.containsKey(sample.name())
                && !EngineMetric.label(sample.labels(), "request_id").isEmpty();
    }

    void accept(EventHeader header, MetricSampled sample) {
        double nanos = sample.sampledValue() * 1e9;
        if (!(nanos >= 0) || nanos > 3.2e16) {
            absurdSamples++;
            return;
        }
        long taken = StrictMath.round(nanos);
        if (header.coarseEpochMillis() != null) {
            fromMillis = Math.min(fromMillis, header.coarseEpochMillis());
            toMillis = Math.max(toMillis, header.coarseEpochMillis());
        }
        switch (NAMES.getOrDefault(sample.name(), "")) {
            case QUEUE -> {
                queue = queue.plus(DurationHistogram.of(taken));
                if (taken > longestQueueNanos) {
                    longestQueueNanos = taken;
                    longestQueueEventId = header.eventId();
                }
            }
            case PREFILL -> prefill = prefill.plus(DurationHistogram.of(taken));
            case PER_TOKEN -> {
                perToken = perToken.plus(DurationHistogram.of(taken));
                longestPerTokenNanos = Math.max(longestPerTokenNanos, taken);
            }
            default -> {
                // Of the whole answer: what it says is in the time per token.
            }
        }
    }

    void finish(String subject, Consumer<Remark> output) {
        if (queue.isEmpty() && perToken.isEmpty()) {
            return;
        }
        output.accept(Remarks.of(
                "request-times",
                subject,
                fromMillis == Long.MAX_VALUE ? null : Long.valueOf(fromMillis * 1_000_000),
                toMillis == Long.MIN_VALUE ? null : Long.valueOf(toMillis * 1_000_000),
                Confidence.ESTABLISHED,
                Phrase.WHY_REQUEST_STAMPS.say(),
                longestQueueEventId.isEmpty() ? List.of() : List.of(longestQueueEventId),
                List.of("steps"),
                narrative()));
    }

    private String narrative() {
        String half = usual(prefill);
        String first = prefill.isEmpty() ? "" : "; " + Phrase.FIRST_TOKEN_LATER.say(half);
        String usual = usual(perToken);
        String most = text(longestPerTokenNanos);
        String onwards = perToken.isEmpty() ? "" : "; " + Phrase.TOKEN_TOOK_FROM_THERE.say(usual, most);
        if (!queue.isEmpty()) {
            return Phrase.WAITED_TO_BE_SCHEDULED.say(
                    queue.total,
                    text(queue.quantileNanos(HALF)),
                    text(queue.quantileNanos(MOST)),
                    text(longestQueueNanos),
                    first + onwards);
        }
        return prefill.isEmpty() ? Phrase.FROM_THERE_ON.say(usual, most) : Phrase.THEIR_FIRST_TOKEN.say(half, onwards);
    }

    private static String usual(DurationHistogram times) {
        return times.isEmpty() ? "" : text(times.quantileNanos(HALF));
    }

    private static String text(long nanos) {
        return nanos >= 10_000_000_000L ? EngineFindings.seconds(nanos) : Milliseconds.text(nanos);
    }
}
