package io.tokenstair.job.request;

import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Part;
import io.tokenstair.cause.Severity;
import io.tokenstair.job.step.SlowToken;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Gathers the slow tokens of a sequence by cause and culprit. The first {@value #CULPRITS} of a cause have a group each; what any
 * further one did is one group without a culprit, so that what a request keeps does not grow with its tokens.
 */
final class SlowGroups {
    static final int CULPRITS = 8;

    private SlowGroups() {}

    /** Adds a slow token to the group of its cause and culprit, which it returns. */
    static SlowGroup add(SequenceLife sequence, PendingToken token, SlowToken slow) {
        boolean single = slow.cause.equals(Cause.PREEMPTION.name());
        SlowGroup group = null;
        SlowGroup last = null;
        int ofCause = 0;
        for (SlowGroup candidate : sequence.groups) {
            if (!candidate.cause.equals(slow.cause)) {
                continue;
            }
            if (!single && Objects.equals(candidate.culpritRequestId, slow.culpritRequestId)) {
                group = candidate;
                break;
            }
            last = candidate;
            ofCause++;
        }
        if (group == null && ofCause > CULPRITS) {
            group = last;
        }
        if (group == null) {
            group = new SlowGroup();
            group.cause = slow.cause;
            group.culpritRequestId = ofCause < CULPRITS ? slow.culpritRequestId : null;
            group.firstTokenIndex = token.tokenIndex;
            group.fromEpochNanos = token.producedEpochNanos;
            group.boundNanos = token.boundNanos;
            group.sigmaNanos = token.sigmaNanos;
            sequence.groups.add(group);
        }
        if (token.tokenIndex - group.lastTokenIndex > RequestMilestones.SPELL_TOKENS) {
            group.spellLostNanos = 0;
            group.spellTold = false;
        }
        // A spell is somebody's: where a group is of several, what one token lost.
        group.spellLostNanos = ofCause < CULPRITS ? group.spellLostNanos + slow.lostNanos : slow.lostNanos;
        group.lastTokenIndex = token.tokenIndex;
        group.toEpochNanos = token.producedEpochNanos;
        group.tokens++;
        group.sumLostNanos += slow.lostNanos;
        if (slow.lostNanos > group.mostLostNanos) {
            group.mostLostNanos = slow.lostNanos;
            group.worstTokenIndex = token.tokenIndex;
            group.worstEngine = sequence.engines.indexOf(token.engineId);
            group.worstChain = slow.chain;
            group.confidence = slow.confidence;
            group.confidenceWhy = slow.confidenceWhy;
        }
        for (int ordinal = 0; ordinal < Part.COUNT; ordinal++) {
            Long nanos = token.part(ordinal);
            if (nanos != null) {
                group.partMask |= 1 << ordinal;
                group.partNanos[ordinal] += nanos;
            }
        }
        for (String id : eventIds(slow)) {
            addEvidence(group.evidence, id);
        }
        return group;
    }

    /** How bad the tokens of a group are: of its own the slowest, and all that its cause cost the sequence, whoever the culprit. */
    static Severity severity(SequenceLife sequence, SlowGroup group) {
        long sum = 0;
        long tokens = 0;
        for (SlowGroup other : sequence.groups) {
            if (other.cause.equals(group.cause)) {
                sum += other.sumLostNanos;
                tokens += other.tokens;
            }
        }
        return Severity.of(group.mostLostNanos, sum, tokens, sequence.tokenCount);
    }

    /** The event ids of a slow token. */
    static List<String> eventIds(SlowToken slow) {
        List<String> ids = new ArrayList<>();
        for (int i = 1; i < slow.evidence.size(); i += 2) {
            addEvidence(ids, slow.evidence.get(i));
        }
        return ids;
    }

    /** Adds an event id once, up to {@value SlowGroup#EVIDENCE} of them. */
    static void addEvidence(List<String> evidence, @Nullable String id) {
        if (id != null && !id.isEmpty() && evidence.size() < SlowGroup.EVIDENCE && !evidence.contains(id)) {
            evidence.add(id);
        }
    }
}
