package io.tokenstair.job.engine;

import io.tokenstair.archive.result.Remark;
import io.tokenstair.cause.Confidence;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.job.finding.Remarks;
import io.tokenstair.narrative.Phrase;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Contexts that were full: llama.cpp then ends every request under way, each with an error of its own. Those that ended within {@value
 * #ONE_MILLIS} ms are one incident, not many. State: the last {@value #MOST} incidents and a few numbers.
 */
public class FullContexts {
    static final int MOST = 64;
    static final long ONE_MILLIS = 100;

    /** What samples of it speak of: the streams and the log of a server tell of the same incident. */
    static final String SUBJECT = "llama.cpp";

    private static final String REQUEST = "llamacpp:request_context_full";
    private static final Set<String> NAMES = Set.of(REQUEST, "llamacpp:context_full");

    public long[] fromMillis = new long[MOST];
    public long[] toMillis = new long[MOST];
    public int incidents;
    /** Incidents that are not remembered any more. */
    public long earlier;

    public long requests;
    public long byLog;
    public String eventId = "";

    /** For Flink's serializer. */
    public FullContexts() {}

    static boolean isOne(MetricSampled sample) {
        return NAMES.contains(sample.name());
    }

    void accept(EventHeader header, MetricSampled sample) {
        eventId = eventId.isEmpty() ? header.eventId() : eventId;
        if (!sample.name().equals(REQUEST)) {
            byLog++;
            return;
        }
        requests++;
        long millis = header.coarseEpochMillis() == null ? 0 : header.coarseEpochMillis();
        for (int i = 0; i < incidents; i++) {
            if (millis >= fromMillis[i] - ONE_MILLIS && millis <= toMillis[i] + ONE_MILLIS) {
                fromMillis[i] = Math.min(fromMillis[i], millis);
                toMillis[i] = Math.max(toMillis[i], millis);
                return;
            }
        }
        if (incidents == MOST) {
            earlier++;
            incidents--;
            System.arraycopy(fromMillis, 1, fromMillis, 0, incidents);
            System.arraycopy(toMillis, 1, toMillis, 0, incidents);
        }
        fromMillis[incidents] = millis;
        toMillis[incidents] = millis;
        incidents++;
    }

    void finish(String subject, Consumer<Remark> output) {
        if (requests == 0 && byLog == 0) {
            return;
        }
        long longest = 0;
        for (int i = 0; i < incidents; i++) {
            longest = Math.max(longest, toMillis[i] - fromMillis[i]);
        }
        boolean dated = incidents > 0 && fromMillis[0] > 0;
        output.accept(Remarks.of(
                "context-full",
                subject,
                dated ? Long.valueOf(fromMillis[0] * 1_000_000) : null,
                dated ? Long.valueOf(toMillis[incidents - 1] * 1_000_000) : null,
                Confidence.ESTABLISHED,
                Phrase.WHY_CONTEXT_FULL.say(),
                eventId.isEmpty() ? List.of() : List.of(eventId),
                List.of("kv-events"),
                requests == 0
                        ? Phrase.CONTEXT_WAS_FULL_BY_LOG.say(EngineFindings.times(byLog, "time"))
                        : Phrase.CONTEXT_WAS_FULL.say(
                                EngineFindings.times(incidents + earlier, "time"),
                                EngineFindings.times(requests, "request"),
                                String.format(Locale.ROOT, "%d", Math.max(1, longest)))));
    }
}
