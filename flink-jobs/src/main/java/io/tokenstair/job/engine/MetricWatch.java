package io.tokenstair.job.engine;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Confidence;
import io.tokenstair.cause.Severity;
import io.tokenstair.clock.AlignedStamp;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.MetricSampled;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What can be said of an engine that is known from scraped counters only: never more than consistent-with. A scrape is what comes until a
 * metric comes again. State is a few numbers.
 */
public class MetricWatch {
    /** Scrapes from which anything is concluded. */
    static final int SCRAPES = 30;

    /** A pool that is fuller than this is full. */
    static final double FULL = 0.95;

    /** A stretch that goes on for so long is told, and goes on as another one. */
    static final long LONGEST_MILLIS = 600_000;

    /** How far a coarse wall reading may be from the moment it was made for. */
    private static final long COARSE_BOUND_NANOS = 2_000_000;

    private static final double ABSENT = -1;

    // The scrape at hand; negative where it did not say.
    public double running = ABSENT;
    public double waiting = ABSENT;
    public double usage = ABSENT;
    public double paused = ABSENT;
    public double preemptions = ABSENT;
    public double seats = ABSENT;
    public String eventId = "";
    public long scrapeMillis = Long.MAX_VALUE;

    // Since the stretch began.
    public long fromMillis = Long.MAX_VALUE;
    public long toMillis = Long.MAX_VALUE;
    public long scrapes;
    public long fullAndWaiting;
    public long atMostRunning;
    public long waitingScrapes;
    public long pausedScrapes;
    public double mostPaused;
    public double mostRunning = ABSENT;
    public double leastRunning = Double.MAX_VALUE;
    public double mostUsage;
    public double sumRunning;
    public double firstPreemptions = ABSENT;
    public double lastPreemptions = ABSENT;
    public Swings swings = new Swings();
    public List<String> evidence = new ArrayList<>();
    /** Samples that cannot be: not a number, infinite, or below 0. */
    public long absurdSamples;

    /** For Flink's serializer. */
    public MetricWatch() {}

    /** Takes a sample. */
    public void accept(EventHeader header, MetricSampled sample, String engineId, Consumer<Finding> output) {
        EngineMetric metric = EngineMetric.of(sample.name());
        if (metric == null) {
            return;
        }
        double value = sample.sampledValue();
        if (Double.isNaN(value) || Double.isInfinite(value) || value < 0) {
            absurdSamples++;
            return;
        }
        if (metric == EngineMetric.KV_USAGE && value > 1) {
            // Some say per cent.
            value /= 100;
        }
        if (value(metric) != ABSENT) {
            scraped();
            if (fromMillis != Long.MAX_VALUE && toMillis != Long.MAX_VALUE && toMillis - fromMillis >= LONGEST_MILLIS) {
                tell(engineId, output);
            }
        }
        eventId = header.eventId();
        scrapeMillis = header.coarseEpochMillis() == null ? Long.MAX_VALUE : header.coarseEpochMillis();
        switch (metric) {
            case RUNNING -> running = value;
            case WAITING -> waiting = value;
            case KV_USAGE -> usage = value;
            case PAUSED -> paused = value;
            case PREEMPTIONS -> preemptions = value;
            case SEATS -> seats = value;
        }
    }

    private double value(EngineMetric metric) {
        return switch (metric) {
            case RUNNING -> running;
            case WAITING -> waiting;
            case KV_USAGE -> usage;
            case PAUSED -> paused;
            case PREEMPTIONS -> preemptions;
            case SEATS -> seats;
        };
    }

    private void scraped() {
        scrapes++;
        if (fromMillis == Long.MAX_VALUE) {
            fromMillis = scrapeMillis;
        }
        toMillis = scrapeMillis;
        boolean waits = waiting > 0;
        if (waits) {
            waitingScrapes++;
        }
        if (usage != ABSENT) {
            mostUsage = Math.max(mostUsage, usage);
            boolean underSeats = seats == ABSENT || running < seats;
            if (waits && usage >= FULL && underSeats) {
                fullAndWaiting++;
                cite();
            }
        }
        if (running != ABSENT) {
            if (running > mostRunning) {
                mostRunning = running;
                atMostRunning = 0;
            }
            atMostRunning += running == mostRunning ? 1 : 0;
            leastRunning = Math.min(leastRunning, running);
            sumRunning += running;
            swings.accept(running, Math.max(2, sumRunning / scrapes / 4));
        }
        if (paused > 0) {
            pausedScrapes++;
            mostPaused = Math.max(mostPaused, paused);
            cite();
        }
        if (preemptions != ABSENT) {
            if (firstPreemptions == ABSENT || preemptions < lastPreemptions) {
                // The first, or the engine started anew.
                firstPreemptions = preemptions - (firstPreemptions == ABSENT ? 0 : lastPreemptions - firstPreemptions);
            }
            if (lastPreemptions != ABSENT && preemptions > lastPreemptions) {
                cite();
            }
            lastPreemptions = preemptions;
        }
        running = ABSENT;
        waiting = ABSENT;
        usage = ABSENT;
        paused = ABSENT;
        preemptions = ABSENT;
    }

    private void cite() {
        if (evidence.size() < Episode.EVIDENCE) {
            evidence.add(eventId);
        }
    }

    /** The input has ended. */
    public void finish(String engineId, Consumer<Finding> output) {
        if (running != ABSENT || waiting != ABSENT || usage != ABSENT || paused != ABSENT || preemptions != ABSENT) {
            scraped();
        }
        tell(engineId, output);
    }

    private void tell(String engineId, Consumer<Finding> output) {
        long preempted = lastPreemptions == ABSENT ? 0 : Math.round(lastPreemptions - firstPreemptions);
        // Where nothing but the limit of sequences holds requests back, what runs is always the same.
        boolean pinned = 2 * atMostRunning > scrapes;
        boolean full = scrapes >= SCRAPES && 2 * fullAndWaiting > scrapes && !pinned;
        List<String> signs = new ArrayList<>();
        if (pausedScrapes > 0) {
            signs.add(String.format(
                    Locale.ROOT,
                    "paused requests observed in %d of %d scrapes, %.0f at most",
                    pausedScrapes,
                    scrapes,
                    mostPaused));
        }
        if (preempted > 0) {
            signs.add(EngineFindings.times(preempted, "preemption") + " counted");
        }
        if (full) {
            signs.add(String.format(
                    Locale.ROOT,
                    "at least %.0f %% of the KV pool in use while requests waited and %.0f to %.0f ran, in %d of %d scrapes",
                    100 * FULL,
                    leastRunning,
                    mostRunning,
                    fullAndWaiting,
                    scrapes));
        }
        if (!signs.isEmpty()) {
            output.accept(finding(
                    "kv-pressure-counters",
                    Cause.KV_PRESSURE,
                    engineId,
                    "counters of the engine; no record of a block that was taken and needed again",
                    "Consistent with too little KV space: " + String.join("; ", signs)));
        }
        if (scrapes >= SCRAPES && swings.turns >= EngineFindings.TURNS) {
            output.accept(finding(
                    "batch-oscillation-counters",
                    Cause.BATCH_OSCILLATION,
                    engineId,
                    "the count of running sequences; no step times",
                    String.format(
                            Locale.ROOT,
                            "Consistent with a swinging batch: the number of running sequences turned %d times in %d scrapes,"
                                    + " between %.0f and %.0f",
                            swings.turns,
                            scrapes,
                            leastRunning,
                            mostRunning)));
        }
        MetricWatch fresh = new MetricWatch();
        fromMillis = fresh.fromMillis;
        toMillis = fresh.toMillis;
        scrapes = 0;
        fullAndWaiting = 0;
        atMostRunning = 0;
        waitingScrapes = 0;
        pausedScrapes = 0;
        mostPaused = 0;
        mostRunning = ABSENT;
        leastRunning = fresh.leastRunning;
        mostUsage = 0;
        sumRunning = 0;
        firstPreemptions = lastPreemptions;
        swings = fresh.swings;
        evidence = fresh.evidence;
    }

    private Finding finding(String rule, Cause cause, String engineId, String why, String narrative) {
        return EngineFindings.finding(
                rule,
                cause,
                Severity.INFO,
                engineId,
                coarse(fromMillis),
                coarse(toMillis),
                null,
                Confidence.CONSISTENT_WITH,
                why,
                evidence,
                List.of("steps"),
                narrative + (evidence.isEmpty() ? "" : " [" + String.join(", ", evidence) + "]") + ".");
    }

    /** A coarse wall reading as a moment. */
    private static @Nullable AlignedStamp coarse(long millis) {
        return millis == Long.MAX_VALUE ? null : new AlignedStamp(millis * 1_000_000, COARSE_BOUND_NANOS);
    }
}
