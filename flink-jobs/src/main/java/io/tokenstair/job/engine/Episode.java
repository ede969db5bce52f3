package io.tokenstair.job.engine;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A stretch of an engine's time in which one thing goes on: what becomes one finding. About 300 bytes and {@value #EVIDENCE} ids. */
public class Episode {
    static final int EVIDENCE = 16;

    public boolean open;
    public long fromNanos;
    public long toNanos;
    public long fromStep;
    public long toStep;
    /** How often it happened: pauses, runs, preemptions. */
    public long count;

    public long steps;
    public long tokens;
    public long slowTokens;
    public long sumLostNanos;
    public long mostLostNanos;
    public boolean established;
    public @Nullable String culprit;
    public List<String> evidence = new ArrayList<>();

    // Of pauses: how long, and how far apart.
    public long leastNanos;
    public long mostNanos;
    public long firstNanos;
    public long lastNanos;
    public long leastApartNanos;
    public long mostApartNanos;
    public long lastStartNanos;
    public boolean growing;
    public boolean recordedCause;
    public String what = "";

    /** Whether it has been said that it began. */
    public boolean told;

    // Of sums: tokens or nanoseconds of the steps in it.
    public long sumA;
    public long sumB;
    public long longest;

    /** For Flink's serializer. */
    public Episode() {}

    void begin(long nanos, long step) {
        open = true;
        fromNanos = nanos;
        fromStep = step;
        toNanos = nanos;
        toStep = step;
    }

    void reach(long nanos, long step) {
        toNanos = Math.max(toNanos, nanos);
        toStep = step;
    }

    void cite(@Nullable String eventId) {
        if (eventId != null && !eventId.isEmpty() && evidence.size() < EVIDENCE && !evidence.contains(eventId)) {
            evidence.add(eventId);
        }
    }
}
