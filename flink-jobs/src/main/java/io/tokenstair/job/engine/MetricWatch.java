package io.tokenstair.job.engine;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.Remark;
import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Confidence;
import io.tokenstair.cause.Severity;
import io.tokenstair.clock.AlignedStamp;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.job.finding.Remarks;
import io.tokenstair.narrative.Phrase;
import io.tokenstair.narrative.Tale;
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

    /** Scrapes at the limit of sequences from which it is told. */
    static final int SEAT_SCRAPES = 8;

    /** A pool that is used less than this has space. */
    static final double FREE = 0.8;

    /** Usage above this cannot be a share: the engine says per cent. */
    static final double MOST_SHARE = 1.5;

    private static final double ABSENT = -1;

    // The scrape at hand; negative where it did not say.
    public double running = ABSENT;
    public double waiting = ABSENT;
    public double usage = ABSENT;
    public double paused = ABSENT;
    public double preemptions = ABSENT;
    public double promptRate = ABSENT;
    public double generationRate = ABSENT;
    public double seats = ABSENT;
    /** Whether KV usage comes in per cent: a value was seen that no share can be. */
    public boolean percent;
    /** Stamp of the scrape at hand; {@link Long#MIN_VALUE} without one. */
    public long scrapeNanos = Long.MIN_VALUE;

    public String eventId = "";
    public long scrapeMillis = Long.MAX_VALUE;

    // Since the stretch began.
    public long fromMillis = Long.MAX_VALUE;
    public long toMillis = Long.MAX_VALUE;
    public long scrapes;
    public long fullAndWaiting;
    /** Of those, the ones that are full only if usage is a share. */
    public long fullAsShare;

    public long atMostRunning;
    public long waitingScrapes;
    public long pausedScrapes;
    public double mostPaused;
    public double mostRunning = ABSENT;
    public double leastRunning = Double.MAX_VALUE;
    public double mostUsage;
    // Running sequences while the pool was full.
    public double leastWhileFull = Double.MAX_VALUE;
    public double mostWhileFull = ABSENT;
    public long usageScrapes;
    public double mostWaiting;
    // Scrapes in which requests waited: at the limit of sequences, or beside a pool with space.
    public long atSeats;
    public double sumUsageAtSeats;
    public long waitingAtMost;
    public long waitingBesideFree;
    public double sumUsageBesideFree;
    public Rates rates = new Rates();
    public double sumRunning;
    public double firstPreemptions = ABSENT;
    public double lastPreemptions = ABSENT;
    public Swings swings = new Swings();
    public double lastRunning = ABSENT;
    public int lastDirection;
    /** How often the number of running sequences went the other way than from the scrape before. */
    public long flips;

    /** What has been said of this stretch already. */
    public boolean pressureSaid;

    public boolean swingsSaid;

    public List<String> evidence = new ArrayList<>();
    /** Samples that cannot be: not a number, infinite, or below 0. */
    public long absurdSamples;

    /** For Flink's serializer. */
    public MetricWatch() {}

    /** Takes a sample. */
    public void accept(
            EventHeader header,
            MetricSampled sample,
            String engineId,
            Consumer<Finding> output,
            Consumer<Remark> remarks) {
        EngineMetric metric = EngineMetric.of(sample.name());
        if (metric == null) {
            return;
        }
        double value = sample.sampledValue();
        if (Double.isNaN(value) || Double.isInfinite(value) || value < 0) {
            absurdSamples++;
            return;
        }
        if (metric == EngineMetric.KV_USAGE) {
            percent |= value > MOST_SHARE;
            if (value > 105) {
                absurdSamples++;
                return;
            }
            // Some say per cent. Until a value shows it, a value is taken for a share.
            value = percent ? value / 100 : value;
        }
        long stampNanos = header.clockNanos() == null ? Long.MIN_VALUE : header.clockNanos();
        if (value(metric) != ABSENT && stampNanos != Long.MIN_VALUE && stampNanos == scrapeNanos) {
            // Another series of the same scrape, of another rank: the first speaks for all.
            return;
        }
        if (value(metric) != ABSENT) {
            scraped();
            if (fromMillis != Long.MAX_VALUE && toMillis != Long.MAX_VALUE && toMillis - fromMillis >= LONGEST_MILLIS) {
                tell(engineId, output, remarks);
            }
        }
        eventId = header.eventId();
        scrapeNanos = stampNanos;
        scrapeMillis = header.coarseEpochMillis() == null ? Long.MAX_VALUE : header.coarseEpochMillis();
        switch (metric) {
            case RUNNING -> running = value;
            case WAITING -> waiting = value;
            case KV_USAGE -> usage = value;
            case PAUSED -> paused = value;
            case PREEMPTIONS -> preemptions = value;
            case SEATS -> seats = value;
            case PROMPT_RATE -> promptRate = value;
            case GENERATION_RATE -> generationRate = value;
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
            case PROMPT_RATE -> promptRate;
            case GENERATION_RATE -> generationRate;
        };
    }

    /** What has come to be seen of this stretch since it was asked last, each cause once: its finding is told when the stretch ends. */
    public List<Cause> begun() {
        List<Cause> begun = new ArrayList<>();
        if (!pressureSaid && (pausedScrapes > 0 || lastPreemptions > firstPreemptions || isFull(fullSoFar()))) {
            pressureSaid = true;
            begun.add(Cause.KV_PRESSURE);
        }
        if (!swingsSaid && swings()) {
            swingsSaid = true;
            begun.add(Cause.BATCH_OSCILLATION);
        }
        return begun;
    }

    /** Scrapes with a full pool: those that are full only if usage is a share do not count where it comes in per cent. */
    private long fullSoFar() {
        return percent ? fullAndWaiting - fullAsShare : fullAndWaiting;
    }

    /** Where nothing but the limit of sequences holds requests back, what runs is always the same: no sign of blocks. */
    private boolean isFull(long fullScrapes) {
        return scrapes >= SCRAPES && 2 * fullScrapes > scrapes && 2 * atMostRunning <= scrapes;
    }

    private boolean swings() {
        return scrapes >= SCRAPES && swings.turns >= EngineFindings.TURNS;
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
            mostWaiting = Math.max(mostWaiting, waiting);
        }
        if (usage != ABSENT) {
            usageScrapes++;
            mostUsage = Math.max(mostUsage, usage);
            boolean underSeats = seats == ABSENT || running < seats;
            if (waits && usage >= FULL && underSeats) {
                fullAndWaiting++;
                fullAsShare += percent ? 0 : 1;
                if (running != ABSENT) {
                    leastWhileFull = Math.min(leastWhileFull, running);
                    mostWhileFull = Math.max(mostWhileFull, running);
                }
                cite();
            }
            if (waits && usage < FREE) {
                waitingBesideFree++;
                sumUsageBesideFree += usage;
            }
        }
        if (running != ABSENT) {
            if (running > mostRunning) {
                mostRunning = running;
                atMostRunning = 0;
                waitingAtMost = 0;
            }
            waitingAtMost += waits && running == mostRunning ? 1 : 0;
            // A seat is free for a moment when a request has ended.
            if (waits && seats != ABSENT && running >= seats - Math.max(1, seats / 50)) {
                atSeats++;
                sumUsageAtSeats += usage == ABSENT ? 0 : usage;
            }
            atMostRunning += running == mostRunning ? 1 : 0;
            leastRunning = Math.min(leastRunning, running);
            sumRunning += running;
            int direction = lastRunning == ABSENT ? 0 : Double.compare(running, lastRunning);
            flips += direction * lastDirection < 0 ? 1 : 0;
            lastDirection = direction;
            lastRunning = running;
            swings.accept(running, Math.max(2, sumRunning / scrapes / 4));
        }
        if (running != ABSENT && promptRate != ABSENT && generationRate != ABSENT) {
            rates.accept(promptRate, generationRate, running);
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
        promptRate = ABSENT;
        generationRate = ABSENT;
    }

    private void cite() {
        if (evidence.size() < Episode.EVIDENCE) {
            evidence.add(eventId);
        }
    }

    /** The input has ended. */
    public void finish(String engineId, Consumer<Finding> output, Consumer<Remark> remarks) {
        if (running != ABSENT || waiting != ABSENT || usage != ABSENT || paused != ABSENT || preemptions != ABSENT) {
            scraped();
        }
        tell(engineId, output, remarks);
    }

    private void tell(String engineId, Consumer<Finding> output, Consumer<Remark> remarks) {
        fullAndWaiting = fullSoFar();
        long preempted = lastPreemptions == ABSENT ? 0 : Math.round(lastPreemptions - firstPreemptions);
        boolean full = isFull(fullAndWaiting);
        List<String> signs = new ArrayList<>();
        if (pausedScrapes > 0) {
            signs.add(Phrase.PAUSED_OBSERVED.say(pausedScrapes, scrapes, whole(mostPaused)));
        }
        if (preempted > 0) {
            signs.add(Phrase.COUNTED.say(EngineFindings.times(preempted, "preemption")));
        }
        if (full) {
            signs.add(poolFull());
        }
        if (!signs.isEmpty()) {
            output.accept(finding(
                    "kv-pressure-counters",
                    Cause.KV_PRESSURE,
                    engineId,
                    Phrase.WHY_COUNTERS_NO_BLOCK.say(),
                    Phrase.COUNTERS_OF_PRESSURE.say(String.join("; ", signs))));
        }
        if (swings()) {
            output.accept(finding(
                    "batch-oscillation-counters",
                    Cause.BATCH_OSCILLATION,
                    engineId,
                    Phrase.WHY_RUNNING_COUNT.say(),
                    Phrase.COUNTERS_OF_SWINGS.say(
                            swings.turns, scrapes, whole(leastRunning), whole(mostRunning), flips)));
        }
        remark(engineId, full, remarks);
        MetricWatch fresh = new MetricWatch();
        fullAsShare = 0;
        pressureSaid = false;
        swingsSaid = false;
        leastWhileFull = fresh.leastWhileFull;
        mostWhileFull = fresh.mostWhileFull;
        usageScrapes = 0;
        mostWaiting = 0;
        atSeats = 0;
        sumUsageAtSeats = 0;
        waitingAtMost = 0;
        waitingBesideFree = 0;
        sumUsageBesideFree = 0;
        rates = fresh.rates;
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
        flips = 0;
        evidence = fresh.evidence;
    }

    private String poolFull() {
        String least = whole(100 * FULL);
        String most = whole(mostWaiting);
        if (mostWhileFull == ABSENT) {
            return Phrase.POOL_FULL.say(least, most, fullAndWaiting, scrapes);
        }
        return seats == ABSENT
                ? Phrase.POOL_FULL_WHILE_RUNNING.say(
                        least, most, whole(leastWhileFull), whole(mostWhileFull), fullAndWaiting, scrapes)
                : Phrase.POOL_FULL_BELOW_SEATS.say(
                        least,
                        most,
                        whole(leastWhileFull),
                        whole(mostWhileFull),
                        whole(seats),
                        fullAndWaiting,
                        scrapes);
    }

    private static String whole(double value) {
        return String.format(Locale.ROOT, "%.0f", value);
    }

    /** What counters are consistent with where no cause may be named: no request of the engine is known. */
    private void remark(String engineId, boolean full, Consumer<Remark> remarks) {
        boolean usageKnown = usageScrapes > 0 && mostUsage > 0;
        if (usageScrapes >= SCRAPES && mostUsage == 0 && mostRunning > 0) {
            remarks.accept(remark(
                    "kv-usage-not-recorded",
                    engineId,
                    Confidence.ESTABLISHED,
                    Phrase.WHY_EVERY_SCRAPE.say(),
                    Phrase.USAGE_NOT_RECORDED.say(usageScrapes, whole(mostRunning))));
        }
        boolean limitKnown = seats != ABSENT;
        long held = limitKnown ? atSeats : waitingAtMost;
        boolean seatBound = scrapes >= SCRAPES && held >= SEAT_SCRAPES && 2 * held >= waitingScrapes;
        if (seatBound && !full) {
            double meanUsage = limitKnown && usageKnown ? sumUsageAtSeats / held : ABSENT;
            String limit = limitKnown
                    ? Phrase.RAN_AT_LIMIT.say(held, waitingScrapes, whole(mostWaiting), whole(seats))
                    : Phrase.RAN_AS_AT_LIMIT.say(held, waitingScrapes, whole(mostWaiting), whole(mostRunning));
            String pool = !usageKnown
                    ? Phrase.POOL_NOT_RECORDED.say()
                    : meanUsage == ABSENT
                            ? Phrase.POOL_AT_MOST.say(whole(100 * mostUsage))
                            : meanUsage < FULL
                                    ? Phrase.POOL_NOT_SHORT.say(whole(100 * meanUsage))
                                    : Phrase.POOL_SHORT_AS_WELL.say(whole(100 * meanUsage));
            remarks.accept(remark(
                    "seat-limit",
                    engineId,
                    Confidence.CONSISTENT_WITH,
                    Phrase.WHY_COUNTERS_NO_STAMPS.say(),
                    limit + " " + pool));
        } else if (!full && usageKnown && waitingBesideFree > 0 && 2 * waitingBesideFree > scrapes) {
            remarks.accept(remark(
                    "queue-beside-free-kv",
                    engineId,
                    Confidence.CONSISTENT_WITH,
                    Phrase.WHY_COUNTERS_NO_STAMPS.say(),
                    Phrase.WAITED_BESIDE_FREE_KV.say(
                                    waitingBesideFree,
                                    EngineFindings.times(scrapes, "scrape"),
                                    whole(mostWaiting),
                                    whole(Math.max(0, mostRunning)),
                                    whole(100 * sumUsageBesideFree / waitingBesideFree))
                            + " " + (limitKnown ? Phrase.FEWER_RAN : Phrase.LIMIT_NOT_REPORTED).say()));
        }
        if (rates.related()) {
            remarks.accept(remark(
                    "prompts-against-decodes",
                    engineId,
                    Confidence.CONSISTENT_WITH,
                    Phrase.WHY_RATES.say(),
                    rates.sentence()));
        }
    }

    private Remark remark(String topic, String engineId, Confidence confidence, String why, String narrative) {
        return Remarks.of(
                topic,
                engineId,
                nanos(fromMillis),
                nanos(toMillis),
                confidence,
                why,
                eventId.isEmpty() ? List.of() : List.of(eventId),
                List.of("steps"),
                narrative);
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
                new Tale().say(narrative, evidence).text());
    }

    private static @Nullable Long nanos(long millis) {
        return millis == Long.MAX_VALUE ? null : Long.valueOf(millis * 1_000_000);
    }

    /** A coarse wall reading as a moment. */
    private static @Nullable AlignedStamp coarse(long millis) {
        return millis == Long.MAX_VALUE ? null : new AlignedStamp(millis * 1_000_000, COARSE_BOUND_NANOS);
    }
}
