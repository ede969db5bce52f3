package io.tokenstair.job.step;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Confidence;
import io.tokenstair.cause.Severity;
import io.tokenstair.clock.AlignedStamp;
import io.tokenstair.event.EventHeader;
import io.tokenstair.job.engine.Detection;
import io.tokenstair.job.finding.Findings;
import io.tokenstair.job.layer.Layer;
import io.tokenstair.job.staircase.Rise;
import io.tokenstair.job.staircase.StaircaseDetector;
import io.tokenstair.job.staircase.StaircaseShape;
import io.tokenstair.job.staircase.StaircaseVerdict;
import io.tokenstair.narrative.Phrase;
import io.tokenstair.narrative.Tale;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Watches the time of an engine's steps over what the model expects of them, and says once when it is a staircase. A watch ends when no
 * rise came for {@link #QUIET_STEPS} steps, after {@link #WATCH_STEPS} in any case, and where the collector starts anew; then another
 * begins at the level of that moment.
 */
final class EngineStairs {
    static final int QUIET_STEPS = 4_096;
    static final int WATCH_STEPS = 16_384;

    /** A step with more of its expected time in prompts than this says too little of decoding. */
    private static final double MOST_PROMPT_SHARE = 0.5;

    /** Steps after a rise before it is weighed: a fall that takes it back would have come. */
    private static final int PROOF_STEPS = 64;

    private static final int CITED_KV_EVENTS = 3;
    /** Steps before and after an onset at which a KV event is near, as the detector has it. */
    private static final int KV_BEFORE = 10;

    private static final int KV_AFTER = 6;

    private final EngineState state;
    private final EngineOutput output;
    private final Consumer<Detection> detections;

    EngineStairs(EngineState state, EngineOutput output, Consumer<Detection> detections) {
        this.detections = detections;
        this.state = state;
        this.output = output;
    }

    /** A sign of KV pressure before the next step: an eviction, a preemption, a recomputation, a collapse of the hit rate. */
    void kvEvent(String eventId) {
        StairsState stairs = state.stairs;
        stairs.openKvEvents++;
        stairs.kvEventIds.add(eventId);
        stairs.kvSteps.add(stairs.stepCount);
        if (stairs.kvEventIds.size() > StairsState.KV_EVENTS) {
            stairs.kvEventIds.remove(0);
            stairs.kvSteps.remove(0);
        }
    }

    /** The next step, judged but not yet learnt from. */
    void step(EventHeader header, JudgedStep judged, @Nullable AlignedStamp aligned) {
        if (!state.stairs.space.equals(state.handleSpace)
                || state.stairs.stepCount >= WATCH_STEPS
                || state.stairs.stepCount - state.stairs.lastRiseStep >= QUIET_STEPS) {
            restart();
        }
        StairsState stairs = state.stairs;
        int number = stairs.stepCount++;
        int slot = number % StairsState.STEPS;
        stairs.stepIds[slot] = judged.stepId;
        stairs.stepSequences[slot] = header.sequence();
        stairs.stepEpochNanos[slot] = aligned == null ? TokenBatch.ABSENT : aligned.epochNanos();
        StaircaseDetector.FULL.accept(
                stairs.detector,
                number,
                tellsOfDecoding(judged) ? judged.stepNanos : 0,
                judged.warm
                        ? StrictMath.round(judged.expectedNanos * stairs.believedAtStart / state.model.level.believed)
                        : 0,
                stairs.openKvEvents);
        stairs.openKvEvents = 0;
        if (stairs.detector.riseCount != stairs.riseCount) {
            stairs.due = stairs.detector.riseCount > stairs.riseCount;
            stairs.riseCount = stairs.detector.riseCount;
            if (stairs.due) {
                stairs.lastRiseStep = number;
            }
            cite();
        }
        if (stairs.due && number - stairs.rises.get(stairs.rises.size() - 1).onset >= PROOF_STEPS) {
            stairs.due = false;
            conclude(judged, aligned);
        }
    }

    private boolean tellsOfDecoding(JudgedStep judged) {
        if (judged.decodeSequences == 0) {
            return false;
        }
        return judged.load.promptTokens() == 0
                || (StepTimeModel.isWarmForPrompts(state.model)
                        && judged.prefillNanos + judged.recomputeNanos <= MOST_PROMPT_SHARE * judged.expectedNanos);
    }

    private void restart() {
        StairsState fresh = new StairsState();
        fresh.space = state.handleSpace;
        fresh.believedAtStart = state.model.level.believed;
        fresh.openKvEvents = state.stairs.openKvEvents;
        state.stairs = fresh;
    }

    private void conclude(JudgedStep judged, @Nullable AlignedStamp aligned) {
        StaircaseVerdict verdict = StaircaseDetector.FULL.verdict(state.stairs.detector);
        if (verdict.shape() == StaircaseShape.STAIRCASE && !state.stairs.told) {
            state.stairs.told = true;
            Finding finding = finding(verdict, aligned);
            output.finding(finding);
            detections.accept(new Detection(
                    Cause.CONTEXT_STAIRCASE, judged.endNanos, judged.stepId, null, null, finding.evidence()));
        }
    }

    /** Keeps what can be cited for the rises there are. */
    private void cite() {
        StairsState stairs = state.stairs;
        List<Rise> rises = StaircaseDetector.FULL.rises(stairs.detector);
        for (Rise rise : rises) {
            if (stairs.rises.stream().noneMatch(cited -> cited.onset == rise.onsetIndex())) {
                stairs.rises.add(cite(rise.onsetIndex()));
            }
        }
        stairs.rises.removeIf(cited -> rises.stream().noneMatch(rise -> rise.onsetIndex() == cited.onset));
    }

    private StairsState.Cited cite(int onset) {
        StairsState stairs = state.stairs;
        int slot = Math.floorMod(onset, StairsState.STEPS);
        StairsState.Cited cited = new StairsState.Cited();
        cited.onset = onset;
        cited.stepId = stairs.stepIds[slot];
        cited.stepEventId = stairs.space + '/' + stairs.stepSequences[slot];
        cited.epochNanos = stairs.stepEpochNanos[slot];
        for (int i = 0; i < stairs.kvSteps.size() && cited.kvEventIds.size() < CITED_KV_EVENTS; i++) {
            int at = stairs.kvSteps.get(i);
            if (at >= onset - KV_BEFORE && at <= onset + KV_AFTER + 1) {
                cited.kvEventIds.add(stairs.kvEventIds.get(i));
            }
        }
        return cited;
    }

    private StairsState.Cited cited(int onset) {
        for (StairsState.Cited cited : state.stairs.rises) {
            if (cited.onset == onset) {
                return cited;
            }
        }
        return cite(onset);
    }

    private Finding finding(StaircaseVerdict verdict, @Nullable AlignedStamp aligned) {
        List<String> evidence = new ArrayList<>();
        Tale rises = new Tale();
        long from = TokenBatch.ABSENT;
        for (Rise rise : verdict.rises()) {
            StairsState.Cited cited = cited(rise.onsetIndex());
            from = evidence.isEmpty() ? cited.epochNanos : from;
            List<String> ids = new ArrayList<>(List.of(cited.stepEventId));
            ids.addAll(cited.kvEventIds);
            ids.stream().filter(id -> !evidence.contains(id)).forEach(evidence::add);
            rises.say(
                    Phrase.ROSE_AT_STEP.say(
                            cited.stepId,
                            String.format(Locale.ROOT, "%.0f", 100 * rise.levelChangeRatio()),
                            rise.kvCount()),
                    ids);
        }
        Tale tale = new Tale()
                .say(Phrase.STEPS_ROSE.say(verdict.riseCount()), evidence.subList(0, Math.min(1, evidence.size())))
                .add(List.of(rises.text()))
                .say(
                        (verdict.kvDriven() ? Phrase.ELSEWHERE_RARER : Phrase.NO_MORE_THERE).say(),
                        evidence.isEmpty() ? "" : evidence.get(evidence.size() - 1));
        return Findings.identified(new Finding(
                "",
                "engine-context-staircase",
                1,
                Cause.CONTEXT_STAIRCASE.name(),
                Severity.WARNING.severityName(),
                state.engineId,
                null,
                null,
                null,
                from == TokenBatch.ABSENT ? null : Long.valueOf(from),
                aligned == null ? null : aligned.epochNanos(),
                aligned == null ? null : aligned.boundNanos(),
                null,
                null,
                null,
                (verdict.kvDriven() ? Confidence.ESTABLISHED : Confidence.CONSISTENT_WITH).levelName(),
                verdict.kvDriven() ? Phrase.WHY_KV_AT_RISES.say() : Phrase.WHY_SHAPE_ALONE.say(),
                evidence,
                state.kvReported || !state.stairs.kvEventIds.isEmpty()
                        ? List.of()
                        : List.of(Layer.KV_EVENTS.layerName()),
                List.of(),
                List.of(),
                tale.text(),
                aligned == null ? null : Long.valueOf(aligned.sigmaNanos())));
    }
}
