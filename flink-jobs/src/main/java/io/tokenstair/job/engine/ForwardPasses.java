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
 * Forward passes as an engine measured them, and the stretches in which requests that it had preempted waited to come back: as many, with as many
 * tokens. Which requests those were is not in the records. State: a histogram of at most 2,000 buckets and a few numbers.
 */
public class ForwardPasses {
    static final String PREFIX = "dynamo:fpm_";

    private static final Map<String, Integer> NAMES =
            Map.of(PREFIX + "wall_seconds", 0, PREFIX + "queued_decodes", 1, PREFIX + "paused_kv_tokens", 2);
    private static final int HALF = 5_000;
    private static final int MOST = 9_900;

    public DurationHistogram wall = new DurationHistogram();
    public long longestNanos;
    public String longestEventId = "";
    public long fromMillis = Long.MAX_VALUE;
    public long toMillis = Long.MIN_VALUE;
    public long stretches;
    public long waitedMillis;
    public long mostWaiting;
    public long mostTokens;
    /** Preempted requests that wait now. */
    public long waiting;

    public long waitingSinceMillis;
    public long waitingUntilMillis;

    /** For Flink's serializer. */
    public ForwardPasses() {}

    static boolean isOne(MetricSampled sample) {
        return NAMES.containsKey(sample.name());
    }

    void accept(EventHeader header, MetricSampled sample) {
        long millis = header.coarseEpochMillis() == null ? 0 : header.coarseEpochMillis();
        double value = sample.sampledValue();
        if (!(value >= 0 && value < 1e12)) {
            return;
        }
        fromMillis = Math.min(fromMillis, millis);
        toMillis = Math.max(toMillis, millis);
        switch (NAMES.getOrDefault(sample.name(), -1)) {
            case 0 -> {
                long nanos = StrictMath.round(Math.min(value, 3e7) * 1e9);
                wall = wall.plus(DurationHistogram.of(nanos));
                if (nanos > longestNanos) {
                    longestNanos = nanos;
                    longestEventId = header.eventId();
                }
            }
            case 1 -> waits(StrictMath.round(value), millis);
            default -> mostTokens = Math.max(mostTokens, StrictMath.round(value));
        }
    }

    private void waits(long count, long millis) {
        if (count != waiting) {
            ended();
            waiting = count;
            waitingSinceMillis = millis;
        }
        waitingUntilMillis = millis;
        mostWaiting = Math.max(mostWaiting, count);
    }

    private void ended() {
        if (waiting > 0) {
            stretches++;
            waitedMillis += waitingUntilMillis - waitingSinceMillis;
        }
    }

    void finish(String subject, Consumer<Remark> output) {
        if (wall.isEmpty()) {
            return;
        }
        ended();
        waiting = 0;
        String took = Phrase.FORWARD_PASSES_TOOK.say(
                wall.total,
                Milliseconds.text(wall.quantileNanos(HALF)),
                Milliseconds.text(wall.quantileNanos(MOST)),
                Milliseconds.text(longestNanos));
        output.accept(Remarks.of(
                "forward-passes",
                subject,
                fromMillis == 0 ? null : Long.valueOf(fromMillis * 1_000_000),
                fromMillis == 0 ? null : Long.valueOf(toMillis * 1_000_000),
                Confidence.ESTABLISHED,
                Phrase.WHY_FORWARD_PASSES.say(),
                longestEventId.isEmpty() ? List.of() : List.of(longestEventId),
                List.of(),
                stretches == 0
                        ? took
                        : took + " "
                                + Phrase.PREEMPTED_WAITED.say(
                                        EngineFindings.times(stretches, "stretch"),
                                        Milliseconds.text(waitedMillis * 1_000_000),
                                        EngineFindings.times(mostWaiting, "request"),
                                        mostTokens)));
    }
}
