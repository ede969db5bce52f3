package io.tokenstair.job.request;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Confidence;
import io.tokenstair.cause.DeliveryPart;
import io.tokenstair.cause.Severity;
import io.tokenstair.job.finding.Findings;
import io.tokenstair.narrative.Milliseconds;
import io.tokenstair.narrative.Phrase;
import io.tokenstair.narrative.Tale;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What is concluded of a sequence's delivery when it closes: its late tokens by cause, and whether its chunks were held in groups. */
final class DeliveryFindings {
    private static final int PARTS = DeliveryPart.values().length;

    private final String requestId;
    private final RequestOutput output;

    DeliveryFindings(String requestId, RequestOutput output) {
        this.requestId = requestId;
        this.output = output;
    }

    /** Says it, and adds the causes that the request carries. */
    void findings(
            LifetimeState lifetime,
            SequenceLife sequence,
            int index,
            List<String> missing,
            TreeSet<Cause> requestCauses) {
        boolean grouped = DeliveryJudge.wasGrouped(sequence);
        LateGroup held = null;
        for (LateGroup group : sequence.late) {
            if (grouped && group.cause.equals(Cause.GATEWAY_BUFFERING.name())) {
                held = group;
            } else {
                output.finding(finding(
                        lifetime,
                        sequence,
                        index,
                        missing,
                        group,
                        "late-delivery",
                        headline(group).text()));
            }
        }
        if (grouped) {
            requestCauses.add(Cause.GATEWAY_BUFFERING);
            buffering(lifetime, sequence, index, missing, held);
        }
    }

    private void buffering(
            LifetimeState lifetime, SequenceLife sequence, int index, List<String> missing, @Nullable LateGroup held) {
        boolean atGateway = sequence.gatewayWrites.isHabit() || sequence.gatewayWrites.isWholeStream();
        BurstMeter meter = atGateway ? sequence.gatewayWrites : sequence.delivery;
        LateGroup group = held;
        if (group == null) {
            group = new LateGroup();
            group.cause = Cause.GATEWAY_BUFFERING.name();
            group.tokens = meter.groupedChunks;
            group.mostLateNanos = meter.mostHeldNanos;
            group.sumLateNanos = meter.mostHeldNanos;
            group.fromEpochNanos = sequence.fromEpochNanos;
            group.toEpochNanos = sequence.toEpochNanos;
            group.boundNanos = sequence.boundNanos;
            group.sigmaNanos = sequence.sigmaNanos;
            group.lastTokenIndex = (int) Math.max(0, sequence.tokenCount - 1);
        }
        group.confidence = Confidence.ESTABLISHED.levelName();
        group.confidenceWhy = atGateway ? Phrase.WHY_ARRIVAL_AGAINST_WRITES.say() : Phrase.WHY_CADENCE.say();
        Tale tale = new Tale()
                .say(
                        Phrase.WENT_OUT_IN_GROUPS.say(
                                meter.groupedChunks,
                                meter.chunks,
                                meter.groups + (meter.groups == 1 ? " group" : " groups"),
                                Milliseconds.text(meter.mostHeldNanos),
                                atGateway ? "they reached the gateway one by one" : "the engine made them one by one"),
                        group.evidence);
        if (!group.worstSentence.isEmpty()) {
            tale.add(List.of(group.worstSentence));
        }
        output.finding(finding(lifetime, sequence, index, missing, group, "gateway-buffering", tale.text()));
    }

    private static Tale headline(LateGroup group) {
        String late = Milliseconds.text(group.mostLateNanos);
        String sentence = group.tokens == 1
                ? Phrase.DELIVERED_LATE.say(group.firstTokenIndex, late)
                : Phrase.DELIVERED_LATE_SEVERAL.say(group.tokens, group.firstTokenIndex, group.lastTokenIndex, late);
        return new Tale().say(sentence, Tale.idsOf(group.worstSentence)).add(List.of(group.worstSentence));
    }

    /** Who held what was delivered late: the client that did not read, or the gateway; neither says a name of its own. */
    static @Nullable String culprit(@Nullable String deliveryCause) {
        if (Cause.CLIENT_SLOW.name().equals(deliveryCause)) {
            return LifetimeState.CLIENT;
        }
        return Cause.GATEWAY_BUFFERING.name().equals(deliveryCause) ? "gateway" : null;
    }

    private Finding finding(
            LifetimeState lifetime,
            SequenceLife sequence,
            int index,
            List<String> missing,
            LateGroup group,
            String rule,
            String narrative) {
        List<String> names = new ArrayList<>();
        List<Long> nanos = new ArrayList<>();
        for (int ordinal = 0; ordinal < PARTS; ordinal++) {
            if ((group.partMask & 1 << ordinal) != 0) {
                names.add(DeliveryPart.ofOrdinal(ordinal).partName());
                nanos.add(group.partNanos[ordinal]);
            }
        }
        return Findings.identified(new Finding(
                "",
                rule,
                1,
                group.cause,
                Severity.of(group.mostLateNanos, group.sumLateNanos, group.tokens, sequence.tokenCount)
                        .severityName(),
                sequence.engineId(sequence.makingEngine),
                requestId,
                lifetime.ordinal,
                index,
                group.fromEpochNanos,
                group.toEpochNanos,
                group.boundNanos,
                group.firstTokenIndex,
                group.lastTokenIndex,
                culprit(group.cause),
                group.confidence,
                group.confidenceWhy,
                List.copyOf(group.evidence),
                missing,
                names,
                nanos,
                narrative,
                group.sigmaNanos));
    }
}
