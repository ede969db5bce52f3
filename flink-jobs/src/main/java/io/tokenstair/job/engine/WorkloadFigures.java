package io.tokenstair.job.engine;

import io.tokenstair.archive.result.Remark;
import io.tokenstair.cause.Confidence;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.job.finding.Remarks;
import io.tokenstair.narrative.Phrase;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** Sums over a recorded workload, {@code workload:*}: what was asked for. Nobody measured a latency, so none is spoken of. */
public class WorkloadFigures {
    static final String PREFIX = "workload:";
    private static final long ABSENT = -1;

    public long requests = ABSENT;
    public long inputTokens = ABSENT;
    public long outputTokens = ABSENT;
    public long tickMillis = ABSENT;
    public long blocks = ABSENT;
    public long seenBefore = ABSENT;
    public long halfSeenBefore = ABSENT;
    public List<String> evidence = new ArrayList<>();

    /** For Flink's serializer. */
    public WorkloadFigures() {}

    void accept(String eventId, MetricSampled sample) {
        double value = sample.sampledValue();
        if (Double.isNaN(value) || value < 0 || value > 1e15) {
            return;
        }
        long figure = StrictMath.round(value);
        switch (sample.name().substring(PREFIX.length())) {
            case "requests" -> requests = figure;
            case "input_tokens" -> inputTokens = figure;
            case "output_tokens" -> outputTokens = figure;
            case "arrival_tick_millis" -> tickMillis = figure;
            case "prompt_blocks" -> blocks = figure;
            case "prompt_blocks_seen_before" -> seenBefore = figure;
            case "requests_half_seen_before" -> halfSeenBefore = figure;
            default -> {
                return;
            }
        }
        if (evidence.size() < Episode.EVIDENCE) {
            evidence.add(eventId);
        }
    }

    void finish(String subject, Consumer<Remark> output) {
        if (requests <= 0) {
            return;
        }
        String more = "";
        if (inputTokens >= 0 && outputTokens >= 0) {
            more += "; " + Phrase.TOKENS_ON_AVERAGE.say(inputTokens / requests, outputTokens / requests);
        }
        if (tickMillis > 0) {
            more += "; " + Phrase.ARRIVALS_ON_TICKS.say(tickMillis);
        }
        output.accept(
                remark("workload", subject, Phrase.WHY_COUNTED_OVER_TRACE.say(), Phrase.WORKLOAD.say(requests, more)));
        if (blocks > 0 && seenBefore >= 0 && halfSeenBefore >= 0) {
            output.accept(remark(
                    "prefix-sharing",
                    subject,
                    Phrase.WHY_HASHES_NO_CACHE.say(),
                    Phrase.PREFIXES_SHARED.say(
                            blocks,
                            String.format(Locale.ROOT, "%.1f", 100.0 * seenBefore / blocks),
                            String.format(Locale.ROOT, "%.1f", 100.0 * halfSeenBefore / requests))));
        }
    }

    private Remark remark(String topic, String subject, String why, String narrative) {
        return Remarks.of(
                topic,
                subject,
                null,
                null,
                Confidence.ESTABLISHED,
                why,
                evidence,
                List.of("client", "steps", "kv-events"),
                narrative);
    }
}
