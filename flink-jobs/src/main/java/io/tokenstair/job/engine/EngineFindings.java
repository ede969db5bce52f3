package io.tokenstair.job.engine;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Confidence;
import io.tokenstair.cause.Severity;
import io.tokenstair.clock.AlignedStamp;
import io.tokenstair.job.finding.Findings;
import io.tokenstair.narrative.Milliseconds;
import io.tokenstair.narrative.Phrase;
import io.tokenstair.narrative.Tale;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * What is concluded of an engine over many steps. What belongs together becomes one finding, said when it has ended: nothing more of it
 * for {@link #QUIET_NANOS} of the engine's time, or {@link #LONGEST_NANOS} after it began, when it goes on as another one.
 */
public final class EngineFindings {
    /** How long nothing must happen for a stretch to have ended. */
    public static final long QUIET_NANOS = 60_000_000_000L;

    /** A stretch that goes on for so long is told, and goes on as another one. */
    public static final long LONGEST_NANOS = 600_000_000_000L;

    /** Pauses that make a series. */
    static final int PAUSES = 3;

    /** Steps by graph after which it is known that an engine runs by graphs. */
    static final int GRAPH_STEPS = 16;

    /** Consecutive decode-only steps without a graph that are a point from which on steps ran another way. */
    static final int EAGER_STEPS = 16;

    /** How much longer steps without a graph must be to matter, in hundredths. */
    static final int EAGER_PERCENT = 115;

    /** A storm: recomputed tokens are at least one in so many of all computed ones. */
    static final int STORM_SHARE = 5;

    /** It has ended when they are fewer than one in so many. */
    static final int STORM_END_SHARE = 10;

    /** Preemptions in the window of a storm. */
    static final int STORM_PREEMPTIONS = 6;

    /** The share of a step's time that a swing of the batch must change. */
    static final double SWING_SHARE = 0.3;

    /** Turns of the batch that are an oscillation. */
    static final int TURNS = 6;

    /** Correlation of batch and step time from which on they move together. */
    private static final double TURNS_CORRELATION = 0.5;

    private final EngineWatch watch;
    private final String engineId;
    private final Consumer<Finding> output;
    private final Consumer<Detection> detections;
    private final LongFunction<@Nullable AlignedStamp> epoch;

    /**
     * Findings of an engine.
     *
     * @param detections takes each cause when it is seen first, long before its finding is told
     * @param epoch the engine's clock on the common axis
     */
    public EngineFindings(
            EngineWatch watch,
            String engineId,
            Consumer<Finding> output,
            Consumer<Detection> detections,
            LongFunction<@Nullable AlignedStamp> epoch) {
        this.detections = detections;
        this.watch = watch;
        this.engineId = engineId;
        this.output = output;
        this.epoch = epoch;
    }

    /** Takes a judged step and what its tokens lost. */
    public void step(EngineStep step, @Nullable Integer largestGraph, long usualSequences) {
        pauses(step);
        byTokens(watch.driver, Cause.DRIVER_ERROR, step);
        byTokens(watch.thermal, Cause.THERMAL_CLOCK, step);
        fallback(step);
        kernels(step);
        storm(step);
        count(watch.pressure, step, Cause.PREEMPTION, Cause.RECOMPUTE, Cause.KV_PRESSURE);
        oscillation(step, usualSequences);
        close(step.previousNanos, false, largestGraph);
    }

    /** Ends the input: every stretch has ended. */
    public void finish(@Nullable Integer largestGraph) {
        close(Long.MAX_VALUE, true, largestGraph);
        watch.shards.finish(engineId, output, epoch);
    }

    private void close(long nanos, boolean end, @Nullable Integer largestGraph) {
        if (isOver(watch.pauses, nanos, end)) {
            tellPauses();
        }
        if (isOver(watch.driver, nanos, end)) {
            tellDriver();
        }
        if (isOver(watch.thermal, nanos, end)) {
            tellThermal();
        }
        if (isOver(watch.fallback, nanos, end)) {
            tellFallback(largestGraph);
        }
        if (isOver(watch.kernels, nanos, end)) {
            tellKernels();
        }
        if (isOver(watch.storm, nanos, end)) {
            tellStorm();
        }
        if (isOver(watch.pressure, nanos, end)) {
            tellPressure();
        }
        if (isOver(watch.oscillation, nanos, end)) {
            tellOscillation();
        }
    }

    private static boolean isOver(Episode episode, long nanos, boolean end) {
        return episode.open
                && (end || nanos - episode.toNanos > QUIET_NANOS || nanos - episode.fromNanos > LONGEST_NANOS);
    }

    private static void count(Episode episode, EngineStep step, Cause... causes) {
        if (!episode.open) {
            return;
        }
        episode.steps++;
        episode.tokens += step.tokens();
        for (Cause cause : causes) {
            episode.slowTokens += step.slowTokens(cause);
            episode.sumLostNanos += step.sumLostNanos(cause);
            episode.mostLostNanos = Math.max(episode.mostLostNanos, step.mostLostNanos(cause));
            episode.established |= step.isEstablished(cause);
        }
    }

    // ---- what tokens carry already

    private void byTokens(Episode episode, Cause cause, EngineStep step) {
        if (step.slowTokens(cause) > 0) {
            if (!episode.open) {
                episode.begin(step.previousNanos, step.stepId);
            }
            episode.count++;
            episode.reach(step.endNanos, step.stepId);
            episode.cite(step.record(cause));
            String by = step.culprit(cause);
            episode.culprit = by == null ? episode.culprit : by;
        }
        count(episode, step, cause);
        if (episode.open) {
            detected(cause, episode, step.endNanos, step.stepId);
        }
    }

    /** Says that something has begun, once. */
    private void detected(Cause cause, Episode episode, long nanos, long stepId) {
        if (!episode.told) {
            episode.told = true;
            detections.accept(new Detection(
                    cause,
                    nanos,
                    stepId,
                    episode.culprit,
                    episode.sumLostNanos == 0 ? null : Long.valueOf(episode.sumLostNanos),
                    List.copyOf(episode.evidence)));
        }
    }

    private void tellDriver() {
        Episode episode = watch.driver;
        tell(
                "driver-error",
                Cause.DRIVER_ERROR,
                episode,
                episode.established ? Confidence.ESTABLISHED : Confidence.CONSISTENT_WITH,
                Phrase.WHY_DRIVER_CODES.say(),
                new Tale()
                        .say(Phrase.DRIVER_ERRORS.say(times(episode.count, "step"), span(episode)), episode.evidence));
        watch.driver = new Episode();
    }

    private void tellThermal() {
        Episode episode = watch.thermal;
        tell(
                "thermal-clock",
                Cause.THERMAL_CLOCK,
                episode,
                episode.established ? Confidence.ESTABLISHED : Confidence.CONSISTENT_WITH,
                episode.established ? Phrase.WHY_ALL_KERNELS_LONGER.say() : Phrase.WHY_STEPS_LONGER_BY_CLOCK.say(),
                new Tale()
                        .say(
                                episode.culprit == null
                                        ? Phrase.CLOCK_WAS_LOWER.say(times(episode.count, "step"), span(episode))
                                        : Phrase.CLOCK_WAS_LOWER_ON.say(
                                                episode.culprit, times(episode.count, "step"), span(episode)),
                                episode.evidence));
        watch.thermal = new Episode();
    }

    // ---- pauses

    private void pauses(EngineStep step) {
        Episode episode = watch.pauses;
        long lengthNanos = step.mostLostNanos(Cause.HOST_PAUSE);
        if (step.slowTokens(Cause.HOST_PAUSE) > 0) {
            long startNanos = step.endNanos - lengthNanos;
            if (!episode.open) {
                episode.begin(startNanos, step.stepId);
                episode.firstNanos = lengthNanos;
                episode.leastNanos = lengthNanos;
                episode.growing = true;
                episode.leastApartNanos = Long.MAX_VALUE;
            } else {
                long apart = startNanos - episode.lastStartNanos;
                episode.leastApartNanos = Math.min(episode.leastApartNanos, apart);
                episode.mostApartNanos = Math.max(episode.mostApartNanos, apart);
                episode.growing &= lengthNanos > episode.lastNanos;
            }
            episode.lastStartNanos = startNanos;
            episode.lastNanos = lengthNanos;
            episode.leastNanos = Math.min(episode.leastNanos, lengthNanos);
            episode.mostNanos = Math.max(episode.mostNanos, lengthNanos);
            episode.sumA += lengthNanos;
            episode.recordedCause = episode.count == 0
                    ? !step.pauseCause.isEmpty()
                    : episode.recordedCause && step.pauseCause.equals(episode.what);
            episode.what = step.pauseCause;
            episode.count++;
            episode.reach(step.endNanos, step.stepId);
            episode.cite(step.record(Cause.HOST_PAUSE));
            String by = step.culprit(Cause.HOST_PAUSE);
            episode.culprit = by == null ? episode.culprit : by;
        }
        count(episode, step, Cause.HOST_PAUSE);
        if (episode.count >= PAUSES) {
            detected(Cause.HOST_PAUSE, episode, step.endNanos, step.stepId);
        }
    }

    private void tellPauses() {
        Episode episode = watch.pauses;
        watch.pauses = new Episode();
        if (episode.count < PAUSES) {
            // The tokens it held up have said it.
            return;
        }
        boolean periodic = episode.mostApartNanos <= episode.leastApartNanos + episode.leastApartNanos / 2;
        String process = episode.culprit == null ? "of the engine" : episode.culprit;
        String least = Milliseconds.text(episode.leastNanos);
        String most = Milliseconds.text(episode.mostNanos);
        String growing = episode.growing ? ", each time for longer" : "";
        Tale tale = new Tale()
                .say(
                        periodic
                                ? Phrase.PAUSED_PERIODICALLY.say(
                                        process,
                                        episode.count,
                                        span(episode),
                                        seconds(episode.mostApartNanos / 2 + episode.leastApartNanos / 2),
                                        least,
                                        most,
                                        growing)
                                : Phrase.PAUSED_APART.say(
                                        process,
                                        episode.count,
                                        span(episode),
                                        seconds(episode.leastApartNanos),
                                        seconds(episode.mostApartNanos),
                                        least,
                                        most,
                                        growing),
                        episode.evidence);
        tale.say(
                episode.recordedCause ? Phrase.RECORDED_AS.say(episode.what) : Phrase.NO_RECORD_SAYS_WHY.say(),
                lastOf(episode));
        tell("host-pauses", Cause.HOST_PAUSE, episode, Confidence.ESTABLISHED, Phrase.WHY_PAUSES.say(), tale);
    }

    private static String lastOf(Episode episode) {
        return episode.evidence.isEmpty() ? "" : episode.evidence.get(episode.evidence.size() - 1);
    }

    // ---- graphs

    private void fallback(EngineStep step) {
        String mode = step.graphMode;
        if (mode == null || step.sequences == 0) {
            return;
        }
        boolean eager = mode.equals("eager");
        if (!step.decodeOnly) {
            count(watch.fallback, step, Cause.KERNEL_FALLBACK);
            return;
        }
        if (!eager) {
            watch.graphSteps++;
            watch.graphStepNanos.add(step.stepNanos);
            if (watch.eager) {
                watch.eager = false;
                watch.fallback.toStep = step.stepId;
            }
            count(watch.fallback, step, Cause.KERNEL_FALLBACK);
            return;
        }
        if (watch.graphSteps < GRAPH_STEPS) {
            // It never ran otherwise: there is nothing to fall back from.
            return;
        }
        Episode episode = watch.fallback;
        if (!episode.open) {
            episode.begin(step.previousNanos, step.stepId);
            watch.leastEagerSequences = step.sequences;
            watch.mostEagerSequences = step.sequences;
        }
        if (!watch.eager) {
            watch.eager = true;
            watch.runSteps = 0;
            episode.count++;
        }
        watch.runSteps++;
        episode.longest = Math.max(episode.longest, watch.runSteps);
        watch.leastEagerSequences = Math.min(watch.leastEagerSequences, step.sequences);
        watch.mostEagerSequences = Math.max(watch.mostEagerSequences, step.sequences);
        episode.sumA++;
        episode.sumB += step.stepNanos;
        episode.reach(step.endNanos, step.stepId);
        episode.cite(step.eventId);
        count(episode, step, Cause.KERNEL_FALLBACK);
        if (episode.slowTokens > 0 || watch.runSteps >= EAGER_STEPS) {
            detected(Cause.KERNEL_FALLBACK, episode, step.endNanos, step.stepId);
        }
    }

    private void tellFallback(@Nullable Integer largestGraph) {
        Episode episode = watch.fallback;
        boolean stillEager = watch.eager;
        watch.fallback = new Episode();
        watch.eager = false;
        if (episode.sumA == 0) {
            return;
        }
        long usual = watch.graphStepNanos.median();
        long eagerNanos = episode.sumB / episode.sumA;
        boolean lasting = episode.longest >= EAGER_STEPS && eagerNanos * 100 >= usual * EAGER_PERCENT;
        if (!lasting && episode.slowTokens == 0) {
            return;
        }
        String sequences = watch.leastEagerSequences == watch.mostEagerSequences
                ? watch.leastEagerSequences + " sequences"
                : watch.leastEagerSequences + " to " + watch.mostEagerSequences + " sequences";
        String took = Milliseconds.text(eagerNanos);
        String instead = Milliseconds.text(usual);
        String times = String.format(Locale.ROOT, "%.1f", (double) eagerNanos / Math.max(1, usual));
        String last = lastOf(episode);
        Tale tale = new Tale()
                .say(
                        episode.count == 1
                                ? Phrase.RAN_EAGERLY.say(episode.fromStep, sequences, took, instead, times)
                                : Phrase.RAN_EAGERLY_IN_RUNS.say(
                                        times(episode.sumA, "decode step"),
                                        episode.count,
                                        sequences,
                                        took,
                                        instead,
                                        times),
                        episode.evidence);
        if (largestGraph != null) {
            tale.say(Phrase.LARGEST_CAPTURED.say(largestGraph), last);
        }
        String steps = times(episode.sumA, "step");
        if (episode.count == 1) {
            tale.say(stillEager ? Phrase.NOT_RETURNED.say(steps) : Phrase.RETURNED.say(episode.toStep, steps), last);
        } else {
            tale.say((stillEager ? Phrase.LAST_NOT_RETURNED : Phrase.RETURNED_EACH_TIME).say(), last);
        }
        tell(
                "kernel-fallback",
                Cause.KERNEL_FALLBACK,
                episode,
                Confidence.ESTABLISHED,
                Phrase.WHY_GRAPH_MODES.say(),
                tale);
    }

    // ---- kernels

    /** Steps that ran other kernels than usual, where the graph mode does not say it already. */
    private void kernels(EngineStep step) {
        Episode episode = watch.kernels;
        if (step.otherKernelNanos > 0) {
            if (!episode.open) {
                episode.begin(step.previousNanos, step.stepId);
                watch.otherKernel = step.otherKernel;
                watch.usualKernel = step.usualKernel;
            }
            episode.count++;
            episode.sumA += step.otherKernelNanos;
            episode.reach(step.endNanos, step.stepId);
            episode.cite(step.otherKernelEventId);
            count(episode, step, Cause.KERNEL_FALLBACK);
            if (episode.count >= EAGER_STEPS || episode.slowTokens > 0) {
                detected(Cause.KERNEL_FALLBACK, episode, step.endNanos, step.stepId);
            }
        }
    }

    private void tellKernels() {
        Episode episode = watch.kernels;
        watch.kernels = new Episode();
        if (episode.count < EAGER_STEPS && episode.slowTokens == 0) {
            return;
        }
        tell(
                "kernel-variant",
                Cause.KERNEL_FALLBACK,
                episode,
                Confidence.ESTABLISHED,
                Phrase.WHY_KERNELS_OF_STEPS.say(),
                new Tale()
                        .say(
                                Phrase.OTHER_KERNELS_RAN.say(
                                        episode.fromStep,
                                        watch.otherKernel,
                                        watch.usualKernel,
                                        times(episode.count, "step"),
                                        Milliseconds.text(episode.sumA / episode.count)),
                                episode.evidence));
    }

    // ---- preemptions

    /** A sequence lost its blocks. */
    public void preempted(long nanos) {
        watch.preemptionsOfStep++;
        watch.firstOpenPreemptionNanos = Math.min(watch.firstOpenPreemptionNanos, nanos);
    }

    /**
     * Blocks that were taken are needed again: a preempted sequence was scheduled again, or evicted blocks are computed again.
     *
     * @param evictionEventId the record of their loss
     * @param holder who held most of the other space; null when not known
     * @param proven true when the record says that space was short
     */
    public void neededAgain(
            long nanos,
            long stepId,
            boolean preemption,
            String evictionEventId,
            @Nullable String holder,
            boolean proven) {
        Episode episode = watch.pressure;
        long from = preemption ? Math.min(nanos, watch.firstOpenPreemptionNanos) : nanos;
        if (!episode.open) {
            episode.begin(from, stepId);
        }
        episode.sumA += preemption ? 1 : 0;
        episode.sumB += preemption ? 0 : 1;
        episode.count++;
        episode.established |= proven;
        episode.culprit = holder == null ? episode.culprit : holder;
        episode.reach(nanos, stepId);
        episode.cite(evictionEventId);
        watch.firstOpenPreemptionNanos = Long.MAX_VALUE;
        detected(Cause.KV_PRESSURE, episode, nanos, stepId);
    }

    private void tellPressure() {
        Episode episode = watch.pressure;
        boolean proven = episode.established || episode.sumA > 0;
        tell(
                "kv-pressure",
                Cause.KV_PRESSURE,
                episode,
                proven ? Confidence.ESTABLISHED : Confidence.CONSISTENT_WITH,
                proven ? Phrase.WHY_NEEDED_AGAIN.say() : Phrase.WHY_EVICTED_NEEDED_AGAIN.say(),
                new Tale().say(taken(episode), episode.evidence));
        watch.pressure = new Episode();
    }

    private static String taken(Episode episode) {
        String preemptions = times(episode.sumA, "preemption");
        String prefixes = times(episode.sumB, "prefix");
        if (episode.sumB == 0) {
            return Phrase.TAKEN_PREEMPTIONS.say(preemptions, span(episode));
        }
        return episode.sumA == 0
                ? Phrase.TAKEN_PREFIXES.say(prefixes, span(episode))
                : Phrase.TAKEN_BOTH.say(preemptions, prefixes, span(episode));
    }

    private void storm(EngineStep step) {
        int at = watch.ringNext;
        watch.computedInWindow += step.computedTokens - watch.computedRing[at];
        watch.recomputedInWindow += step.recomputeTokens - watch.recomputedRing[at];
        watch.preemptionsInWindow += watch.preemptionsOfStep - watch.preemptionsRing[at];
        watch.computedRing[at] = step.computedTokens;
        watch.recomputedRing[at] = step.recomputeTokens;
        watch.preemptionsRing[at] = watch.preemptionsOfStep;
        watch.ringNext = (at + 1) % EngineWatch.STORM_STEPS;
        watch.ringCount = Math.min(watch.ringCount + 1, EngineWatch.STORM_STEPS);
        Episode episode = watch.storm;
        boolean full = watch.ringCount == EngineWatch.STORM_STEPS;
        boolean begins = full
                && watch.recomputedInWindow * STORM_SHARE >= watch.computedInWindow
                && watch.preemptionsInWindow >= STORM_PREEMPTIONS;
        boolean goesOn = full
                && watch.recomputedInWindow * STORM_END_SHARE >= watch.computedInWindow
                && watch.preemptionsInWindow > 0;
        if (!episode.open && begins) {
            episode.begin(step.previousNanos, step.stepId);
            episode.count = watch.preemptionsInWindow - watch.preemptionsOfStep;
        }
        if (episode.open && goesOn) {
            episode.count += watch.preemptionsOfStep;
            episode.sumA += step.recomputeTokens;
            episode.sumB += step.computedTokens;
            if (step.recomputeTokens > 0) {
                // It lasts as long as tokens are computed again, not as long as the window remembers it.
                episode.longest = episode.steps;
                episode.reach(step.endNanos, step.stepId);
                episode.cite(step.eventId);
            }
        }
        count(episode, step, Cause.PREEMPTION, Cause.RECOMPUTE);
        watch.preemptionsOfStep = 0;
        if (episode.open && episode.longest >= EngineWatch.STORM_STEPS) {
            detected(Cause.PREEMPTION_STORM, episode, step.endNanos, step.stepId);
        }
        if (episode.open && !goesOn) {
            tellStorm();
        }
    }

    private void tellStorm() {
        Episode episode = watch.storm;
        watch.storm = new Episode();
        if (episode.longest < EngineWatch.STORM_STEPS) {
            // Not lasting: preemptions that come close together are not yet a storm.
            return;
        }
        tell(
                "preemption-storm",
                Cause.PREEMPTION_STORM,
                episode,
                Confidence.ESTABLISHED,
                Phrase.WHY_RECOMPUTED_TOKENS.say(),
                new Tale()
                        .say(
                                Phrase.COMPUTED_BEFORE.say(
                                        episode.sumB,
                                        span(episode),
                                        episode.sumA,
                                        100 * episode.sumA / Math.max(1, episode.sumB),
                                        times(episode.count, "preemption")),
                                episode.evidence));
    }

    // ---- the batch

    private void oscillation(EngineStep step, long usualSequences) {
        if (step.decodeSequences == 0) {
            // Prompts alone: the batch that decodes waits, it has not become smaller.
            return;
        }
        if (step.decodeOnly && step.stepNanos > 0 && step.stepNanos < QUIET_NANOS) {
            watch.regress(step.sequences, step.stepNanos / 1_000);
        }
        double slope = watch.slope();
        // A swing counts that changes the time of a step: by what a sequence costs here.
        double amplitude = slope <= 0
                ? Double.MAX_VALUE
                : StrictMath.max(2, StrictMath.max(usualSequences / 2.0, SWING_SHARE * watch.meanY() / slope));
        boolean turned = watch.swings.accept(step.decodeSequences, amplitude);
        Episode episode = watch.oscillation;
        if (turned) {
            if (!episode.open) {
                episode.begin(step.previousNanos, step.stepId);
            }
            episode.count++;
            episode.reach(step.endNanos, step.stepId);
            episode.cite(step.eventId);
        }
        count(episode, step, Cause.BATCH_GROWTH);
        if (turned && episode.count >= TURNS && watch.correlation() >= TURNS_CORRELATION) {
            detected(Cause.BATCH_OSCILLATION, episode, step.endNanos, step.stepId);
        }
    }

    private void tellOscillation() {
        Episode episode = watch.oscillation;
        watch.oscillation = new Episode();
        double lowest = watch.swings.lowest;
        double highest = watch.swings.highest;
        watch.swings.restart();
        double correlation = watch.correlation();
        if (episode.count < TURNS || correlation < TURNS_CORRELATION) {
            return;
        }
        double slope = watch.slope();
        double meanX = watch.meanX();
        double meanY = watch.meanY();
        tell(
                "batch-oscillation",
                Cause.BATCH_OSCILLATION,
                episode,
                Confidence.ESTABLISHED,
                Phrase.WHY_MOVED_TOGETHER.say(),
                new Tale()
                        .say(
                                Phrase.BATCH_TURNED.say(
                                        episode.count,
                                        span(episode),
                                        StrictMath.round(lowest),
                                        StrictMath.round(highest),
                                        millis(StrictMath.max(0, meanY + slope * (lowest - meanX))),
                                        millis(meanY + slope * (highest - meanX)),
                                        String.format(Locale.ROOT, "%.2f", correlation)),
                                episode.evidence));
    }

    private static String millis(double micros) {
        return String.format(Locale.ROOT, "%.1f ms", micros / 1e3);
    }

    // ---- telling

    private void tell(String rule, Cause cause, Episode episode, Confidence confidence, String why, Tale tale) {
        AlignedStamp from = epoch.apply(episode.fromNanos);
        AlignedStamp to = epoch.apply(episode.toNanos);
        Severity severity =
                Severity.of(episode.mostLostNanos, episode.sumLostNanos, episode.slowTokens, episode.tokens);
        output.accept(finding(
                rule,
                cause,
                severity,
                engineId,
                from,
                to,
                episode.culprit,
                confidence,
                why,
                episode.evidence,
                List.of(),
                tale.text()));
    }

    static Finding finding(
            String rule,
            Cause cause,
            Severity severity,
            String engineId,
            @Nullable AlignedStamp from,
            @Nullable AlignedStamp to,
            @Nullable String culprit,
            Confidence confidence,
            String why,
            List<String> evidence,
            List<String> missing,
            String narrative) {
        return Findings.identified(new Finding(
                "",
                rule,
                1,
                cause.name(),
                severity.severityName(),
                engineId,
                null,
                null,
                null,
                from == null ? null : Long.valueOf(from.epochNanos()),
                to == null ? null : Long.valueOf(to.epochNanos()),
                from == null ? null : Long.valueOf(from.boundNanos()),
                null,
                null,
                culprit,
                confidence.levelName(),
                why,
                new ArrayList<>(evidence),
                missing,
                List.of(),
                List.of(),
                narrative,
                from == null ? null : Long.valueOf(from.sigmaNanos())));
    }

    private static String span(Episode episode) {
        return episode.fromStep == episode.toStep
                ? "in step " + episode.fromStep
                : "from step " + episode.fromStep + " to " + episode.toStep + " ("
                        + seconds(episode.toNanos - episode.fromNanos) + ")";
    }

    static String times(long count, String what) {
        return count + " " + (count == 1 ? what : what.endsWith("x") || what.endsWith("ch") ? what + "es" : what + "s");
    }

    static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
    }
}
