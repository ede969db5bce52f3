package io.tokenstair.job.request;

import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Confidence;
import io.tokenstair.cause.DeliveryPart;
import io.tokenstair.narrative.Phrase;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which delivered tokens came late, and why. A chunk is late against what delivery usually takes in its stream (median and MAD of
 * the chunks that nobody held back), by the test that gaps are slow by. The cause is the part that grew most beyond its usual;
 * chunks of an engine's even cadence that come in groups again and again were held by a gateway, whoever saw them. Rules and
 * limits: docs/causes/README.md.
 */
final class DeliveryJudge {
    /** Most tokens of one group that wait for its end. */
    private static final int MAX_GROUP_TOKENS = 1_024;

    /** Most late tokens that wait until it is known whether groups are a habit. */
    private static final int MAX_UNDECIDED = 256;

    /** How many tokens later it is settled that groups are no habit. */
    private static final int UNDECIDED_TOKENS = 512;

    private static final int PARTS = DeliveryPart.values().length;

    private final TokenRows rows;
    private final ClockPaths clocks;
    private final RequestMilestones milestones;

    DeliveryJudge(TokenRows rows, ClockPaths clocks, RequestMilestones milestones) {
        this.milestones = milestones;
        this.clocks = clocks;
        this.rows = rows;
    }

    /** Takes a token whose chunk has come, in index order. */
    void arrived(LifetimeState lifetime, SequenceLife sequence, PendingToken token, ObserverStream deliverer) {
        if (lifetime.warmup) {
            return;
        }
        rows.taken(sequence, token);
        sequence.arriving.add(token);
        if (!token.lastOfChunk) {
            return;
        }
        if (token.clockStepped) {
            // How late it is, nothing says: it is not judged.
            beginAnew(lifetime, sequence);
            for (PendingToken unjudged : sequence.arriving) {
                rows.send(lifetime, sequence, unjudged);
            }
            sequence.arriving.clear();
            return;
        }
        if (!isBy(sequence.deliveredBy, deliverer)) {
            beginAnew(lifetime, sequence);
            sequence.deliveredBy = deliverer.observer + ' ' + deliverer.clockId;
            sequence.pathOffsetNanos = null;
        } else if (hasStepped(sequence, token)) {
            beginAnew(lifetime, sequence);
        }
        if (token.pathOffsetNanos != null) {
            sequence.pathOffsetNanos = token.pathOffsetNanos;
            sequence.pathBoundNanos = token.deliveryBoundNanos;
            sequence.pathNanos = token.endNanos;
        }
        // A client that does not read takes chunks in groups too: what its socket held up is no gateway's doing.
        long heldByClient = token.knows(DeliveryPart.CLIENT) ? token.deliveryPart(DeliveryPart.CLIENT) : 0;
        boolean oneGroup =
                sequence.delivery.accept(token.endNanos, token.endNanos + token.rawDeliveryNanos, heldByClient);
        if (sequence.arrivedTokens > 0 && (!oneGroup || sequence.arrivedTokens > MAX_GROUP_TOKENS)) {
            endGroup(lifetime, sequence, sequence.arrivedTokens);
        }
        sequence.arrivedTokens = sequence.arriving.size();
    }

    /** Nothing before compares with what follows: another observer, or a clock that stepped. */
    private void beginAnew(LifetimeState lifetime, SequenceLife sequence) {
        endGroup(lifetime, sequence, sequence.arrivedTokens);
        sequence.usualDelivery.clear();
        sequence.delivery.endRun();
        sequence.delivery.known = false;
        sequence.usualPartNanos = new long[0];
    }

    /** Whether its clocks are joined by another offset than those of the token before, beyond what bounds and drift explain. */
    private static boolean hasStepped(SequenceLife sequence, PendingToken token) {
        return token.pathOffsetNanos != null
                && sequence.pathOffsetNanos != null
                && ClockPaths.isStep(
                        sequence.pathOffsetNanos,
                        token.pathOffsetNanos,
                        sequence.pathBoundNanos + token.deliveryBoundNanos,
                        token.endNanos - sequence.pathNanos);
    }

    private static boolean isBy(String deliveredBy, ObserverStream deliverer) {
        int observer = deliverer.observer.length();
        return deliveredBy.length() == observer + 1 + deliverer.clockId.length()
                && deliveredBy.startsWith(deliverer.observer)
                && deliveredBy.endsWith(deliverer.clockId);
    }

    /** Ends the stream: nothing more arrives. */
    void finish(LifetimeState lifetime, SequenceLife sequence) {
        sequence.delivery.endRun();
        sequence.gatewayWrites.endRun();
        endGroup(lifetime, sequence, sequence.arriving.size());
        decide(lifetime, sequence, sequence.undecided.size());
        if (wasGrouped(sequence)) {
            ObserverStream deliverer = lifetime.deliverer();
            milestones.concluded(
                    Cause.GATEWAY_BUFFERING,
                    lifetime,
                    sequence,
                    DeliveryFindings.culprit(Cause.GATEWAY_BUFFERING.name()),
                    deliverer == null || deliverer.completedEventId.isEmpty()
                            ? List.of()
                            : List.of(deliverer.completedEventId));
        }
    }

    /** Whether the stream's chunks were held and released in groups. */
    static boolean isGrouped(SequenceLife sequence) {
        return sequence.delivery.isHabit() || sequence.gatewayWrites.isHabit();
    }

    /** The same when the stream has ended: one group is enough if it is nearly all of it. */
    static boolean wasGrouped(SequenceLife sequence) {
        return isGrouped(sequence) || sequence.delivery.isWholeStream() || sequence.gatewayWrites.isWholeStream();
    }

    // ---- a group: chunks that came together, mostly one

    private void endGroup(LifetimeState lifetime, SequenceLife sequence, int tokens) {
        if (tokens == 0) {
            return;
        }
        List<PendingToken> group = sequence.arriving.subList(0, tokens);
        PendingToken last = group.get(tokens - 1);
        int chunks = 0;
        for (PendingToken token : group) {
            chunks += token.lastOfChunk ? 1 : 0;
        }
        UsualDelivery usual = sequence.usualDelivery;
        int from = 0;
        for (int at = 0; at < tokens; at++) {
            PendingToken end = group.get(at);
            if (end.lastOfChunk || at == tokens - 1) {
                long held = end.rawDeliveryNanos - last.rawDeliveryNanos;
                long excess = usual.warm() ? end.rawDeliveryNanos - usual.medianNanos : held;
                PendingToken next = at + 1 < sequence.arriving.size() ? sequence.arriving.get(at + 1) : null;
                boolean late = excess > limit(end, usual)
                        && (usual.warm() || chunks >= BurstMeter.GROUP_CHUNKS)
                        && !(isPublishedWithNext(end, next, excess, usual) && waitedAtTheEngine(sequence, end, excess));
                for (int i = from; i <= at; i++) {
                    settle(lifetime, sequence, group.get(i), end, late, excess, held, chunks);
                }
                from = at + 1;
                if (!late && end == last) {
                    learn(sequence, end);
                }
            }
        }
        usual.add(last.rawDeliveryNanos);
        if (isGrouped(sequence)) {
            milestones.grouped(lifetime, sequence, last);
        }
        group.clear();
        sequence.arrivedTokens = Math.max(0, sequence.arrivedTokens - tokens);
        if (!sequence.undecided.isEmpty()) {
            boolean habit = isGrouped(sequence);
            boolean over = last.tokenIndex - sequence.undecided.get(0).tokenIndex > UNDECIDED_TOKENS;
            if (habit || over) {
                decide(lifetime, sequence, sequence.undecided.size());
            } else if (sequence.undecided.size() > MAX_UNDECIDED) {
                decide(lifetime, sequence, sequence.undecided.size() - MAX_UNDECIDED);
            }
        }
    }

    /** A microsecond at least: finer is not kept. */
    private static long limit(PendingToken token, UsualDelivery usual) {
        double ofReference = token.referenceNanos == null ? 0 : 0.15 * token.referenceNanos;
        double ofSpread = usual.warm() ? 4 * 1.4826 * usual.deviationNanos : 0;
        return (long) StrictMath.max(1_000, StrictMath.max(ofReference, ofSpread));
    }

    /** An engine that publishes a token with the step after its own delays nobody: the token waited for that step, no longer. */
    private static boolean isPublishedWithNext(
            PendingToken token, @Nullable PendingToken next, long excess, UsualDelivery usual) {
        if (next == null || next.tokenIndex != token.tokenIndex + 1 || next.gapNanos == null) {
            return false;
        }
        long nextNanos = next.endNanos - token.endNanos;
        long limit = limit(token, usual);
        if (Math.abs(excess - nextNanos) <= limit) {
            return true;
        }
        Long reference = token.referenceNanos;
        // Where that is the rule, the step after its own was longer than usual.
        return reference != null
                && usual.warm()
                && 2 * usual.medianNanos >= reference
                && Math.abs(excess - (nextNanos - reference)) <= limit;
    }

    /** What a gateway or a client held, as its stamps say, was published in time. */
    private static boolean waitedAtTheEngine(SequenceLife sequence, PendingToken token, long excess) {
        DeliveryPart owner = owner(sequence, token, excess);
        return owner == DeliveryPart.OUTPUT || owner == DeliveryPart.UNEXPLAINED;
    }

    private static void learn(SequenceLife sequence, PendingToken token) {
        if (token.deliveryMask == 0) {
            return;
        }
        boolean first = sequence.usualPartNanos.length == 0;
        if (first) {
            sequence.usualPartNanos = new long[PARTS];
        }
        for (int ordinal = 0; ordinal < PARTS; ordinal++) {
            long nanos = token.deliveryPart(part(ordinal));
            long usual = sequence.usualPartNanos[ordinal];
            sequence.usualPartNanos[ordinal] = first ? nanos : usual + (nanos - usual) / 8;
        }
    }

    private static DeliveryPart part(int ordinal) {
        return DeliveryPart.ofOrdinal(ordinal);
    }

    // ---- why

    private void settle(
            LifetimeState lifetime,
            SequenceLife sequence,
            PendingToken token,
            PendingToken end,
            boolean late,
            long excess,
            long held,
            int chunks) {
        if (!late) {
            rows.send(lifetime, sequence, token);
            return;
        }
        token.lateNanos = excess;
        token.heldNanos = Math.max(0, held);
        DeliveryPart owner = owner(sequence, end, excess);
        token.lateOwner = owner.ordinal();
        boolean mayBeHeld = (owner == DeliveryPart.OUTPUT || owner == DeliveryPart.UNEXPLAINED)
                && chunks >= BurstMeter.GROUP_CHUNKS
                && 2 * held >= excess;
        if (mayBeHeld && !isGrouped(sequence)) {
            sequence.undecided.add(token);
        } else {
            conclude(lifetime, sequence, token, mayBeHeld);
        }
    }

    private void decide(LifetimeState lifetime, SequenceLife sequence, int tokens) {
        boolean grouped = wasGrouped(sequence);
        for (PendingToken token : sequence.undecided.subList(0, tokens)) {
            conclude(lifetime, sequence, token, grouped);
        }
        sequence.undecided.subList(0, tokens).clear();
    }

    /** The part that grew most beyond its usual; the first of equals. */
    private static DeliveryPart owner(SequenceLife sequence, PendingToken token, long excess) {
        if (token.deliveryMask == 0) {
            return DeliveryPart.UNEXPLAINED;
        }
        DeliveryPart owner = DeliveryPart.UNEXPLAINED;
        long most = Long.MIN_VALUE;
        long left = excess;
        for (int ordinal = 0; ordinal < PARTS - 1; ordinal++) {
            DeliveryPart part = part(ordinal);
            if (token.knows(part)) {
                long usual = sequence.usualPartNanos.length == 0 ? 0 : sequence.usualPartNanos[ordinal];
                long grown = token.deliveryPart(part) - usual;
                left -= grown;
                if (grown > most) {
                    most = grown;
                    owner = part;
                }
            }
        }
        return left > most ? DeliveryPart.UNEXPLAINED : owner;
    }

    /** Names the cause as far as the evidence goes: docs/causes/README.md, delivery. */
    private void conclude(LifetimeState lifetime, SequenceLife sequence, PendingToken token, boolean held) {
        DeliveryPart owner = part(token.lateOwner);
        Cause cause = Cause.UNRESOLVED_STALL;
        Confidence confidence = Confidence.UNRESOLVED;
        String why = Phrase.WHY_NO_STAMP_BETWEEN.say();
        if (held) {
            cause = Cause.GATEWAY_BUFFERING;
            confidence = Confidence.ESTABLISHED;
            why = Phrase.WHY_CADENCE.say();
            move(token, owner, DeliveryPart.GATEWAY, token.heldNanos);
            owner = DeliveryPart.GATEWAY;
        } else if (owner == DeliveryPart.GATEWAY) {
            cause = Cause.GATEWAY_BUFFERING;
            confidence = Confidence.ESTABLISHED;
            why = Phrase.WHY_ARRIVAL_AGAINST_WRITE.say();
        } else if (owner == DeliveryPart.CLIENT) {
            cause = Cause.CLIENT_SLOW;
            confidence = Confidence.ESTABLISHED;
            why = Phrase.WHY_SOCKET_FULL.say();
        } else if (owner == DeliveryPart.NETWORK) {
            long bound = token.deliveryBoundNanos;
            if (lifetime.client != null && lifetime.gateway != null) {
                bound = clocks.between(lifetime.gateway, lifetime.client, token.endNanos + token.rawDeliveryNanos)
                        .boundNanos();
            }
            if (bound < token.lateNanos) {
                cause = Cause.NETWORK;
                confidence = Confidence.ESTABLISHED;
                why = Phrase.WHY_BOTH_ENDS.say();
            } else {
                why = Phrase.WHY_CLOCKS_TOO_WIDE.say();
            }
        } else if (owner == DeliveryPart.OUTPUT) {
            boolean oneClock = lifetime.gateway != null && lifetime.gateway.clockId.equals(sequence.engineClockId);
            cause = Cause.OUTPUT_STALL;
            confidence = oneClock ? Confidence.ESTABLISHED : Confidence.CONSISTENT_WITH;
            why = oneClock ? Phrase.WHY_LEFT_LATE.say() : Phrase.WHY_LEFT_LATE_ALIGNED.say();
        } else if (lifetime.gateway == null
                && token.deliveryMask == 0
                && lifetime.client != null
                && lifetime.client.clockId.equals(sequence.engineClockId)) {
            cause = Cause.OUTPUT_STALL;
            confidence = Confidence.CONSISTENT_WITH;
            why = Phrase.WHY_NOTHING_BETWEEN.say();
            move(token, DeliveryPart.UNEXPLAINED, DeliveryPart.OUTPUT, token.lateNanos);
            owner = DeliveryPart.OUTPUT;
        }
        token.deliveryCause = cause.name();
        token.latePart = owner.partName();
        LateGroup group = LateTokens.add(lifetime, sequence, token, cause, confidence, why);
        milestones.delivered(lifetime, sequence, token, group);
        rows.send(lifetime, sequence, token);
    }

    /** Moves time between parts where there are any; their sum stays. */
    private static void move(PendingToken token, DeliveryPart from, DeliveryPart to, long nanos) {
        if (token.deliveryNanos == null || from == to) {
            return;
        }
        if (from != DeliveryPart.UNEXPLAINED) {
            token.deliveryPart(from, token.deliveryPart(from) - nanos);
        }
        token.deliveryPart(to, token.deliveryPart(to) + nanos);
    }
}
