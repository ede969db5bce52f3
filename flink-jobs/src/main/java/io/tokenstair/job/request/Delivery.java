package io.tokenstair.job.request;

import io.tokenstair.cause.DeliveryPart;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The way of a sequence's tokens from the engine to its observers: pairs tokens with the chunks that brought them and cuts the time
 * between at the stamps there are.
 */
final class Delivery {
    /** Most tokens that wait for their chunks; beyond it the oldest are sent without. */
    static final int MAX_WAITING_TOKENS = 2_048;

    /** What is known of a token's chunk at an observer. */
    private enum Known {
        /** The chunk is first in the queue. */
        HERE,
        /** It may still come. */
        MAY_COME,
        /** It will not come. */
        NEVER
    }

    private final TokenRows rows;
    private final DeliveryJudge judge;
    private final StreamGaps gaps;
    private final ClockPaths clocks;

    Delivery(TokenRows rows, DeliveryJudge judge, StreamGaps gaps, ClockPaths clocks) {
        this.clocks = clocks;
        this.rows = rows;
        this.judge = judge;
        this.gaps = gaps;
    }

    /** Whether tokens wait for the chunks that brought them. */
    static boolean pairs(LifetimeState lifetime) {
        return lifetime.observed() && !lifetime.observersOverlap;
    }

    /** Takes a token that an engine made. */
    void produced(LifetimeState lifetime, SequenceLife sequence, PendingToken token) {
        if (pairs(lifetime)) {
            sequence.undelivered.add(token);
            match(lifetime, sequence);
        } else {
            rows.send(lifetime, sequence, token);
        }
    }

    /** Pairs tokens with the chunks that brought them, both in index order. */
    void match(LifetimeState lifetime, SequenceLife sequence) {
        List<PendingToken> tokens = sequence.undelivered;
        int at = 0;
        while (at < tokens.size()
                && deliver(lifetime, sequence, tokens.get(at), tokens.size() - at > MAX_WAITING_TOKENS)) {
            at++;
        }
        tokens.subList(0, at).clear();
        if (tokens.isEmpty() && !sequence.gatewayChunks.isEmpty() && lifetime.client != null && !sequence.fromEngine) {
            bound(sequence.gatewayChunks);
        }
        ObserverStream deliverer = lifetime.deliverer();
        if (deliverer != null && !sequence.fromEngine) {
            gaps.bound(lifetime, sequence, deliverer);
        }
    }

    private static void bound(ChunkQueue chunks) {
        while (chunks.size() > ChunkQueue.MAX_CHUNKS) {
            chunks.remove();
        }
    }

    /** Ends the sequence's stream: what waits goes out as it is. */
    void finish(LifetimeState lifetime, SequenceLife sequence) {
        for (PendingToken token : sequence.undelivered) {
            deliver(lifetime, sequence, token, true);
        }
        sequence.undelivered.clear();
        judge.finish(lifetime, sequence);
        ObserverStream deliverer = lifetime.deliverer();
        if (deliverer != null) {
            gaps.finish(lifetime, sequence, deliverer);
        }
    }

    /** Gives up pairing: chunks of several uses of the id can no longer be told apart. */
    void abandon(LifetimeState lifetime) {
        for (SequenceLife sequence : lifetime.sequences) {
            for (PendingToken token : sequence.undelivered) {
                deliver(lifetime, sequence, token, true);
            }
            sequence.undelivered.clear();
            judge.finish(lifetime, sequence);
            sequence.droppedChunks += sequence.clientChunks.size() + sequence.gatewayChunks.size();
            sequence.clientChunks = new ChunkQueue();
            sequence.gatewayChunks = new ChunkQueue();
        }
    }

    /** Sends a token with its delivery; false where a chunk that brought it may still come. */
    private boolean deliver(LifetimeState lifetime, SequenceLife sequence, PendingToken token, boolean atOnce) {
        ObserverStream deliverer = lifetime.deliverer();
        if (!atOnce && awaitsItsEngine(sequence, token, deliverer)) {
            return false;
        }
        Known atClient = find(lifetime, sequence, lifetime.client, deliverer, token.tokenIndex);
        Known atGateway = find(lifetime, sequence, lifetime.gateway, deliverer, token.tokenIndex);
        if (!atOnce && (atClient == Known.MAY_COME || atGateway == Known.MAY_COME)) {
            return false;
        }
        boolean byClient = deliverer != null && deliverer == lifetime.client;
        if (deliverer != null && (byClient ? atClient : atGateway) == Known.HERE) {
            stamp(
                    lifetime,
                    sequence,
                    token,
                    atClient == Known.HERE ? sequence.clientChunks : null,
                    atGateway == Known.HERE ? sequence.gatewayChunks : null,
                    byClient);
            take(sequence, token, atClient, atGateway, byClient);
            judge.arrived(lifetime, sequence, token, deliverer);
        } else {
            take(sequence, token, atClient, atGateway, byClient);
            rows.send(lifetime, sequence, token);
        }
        return true;
    }

    /** The first token waits for the second: the engine that makes that one may make the first anew. */
    private static boolean awaitsItsEngine(
            SequenceLife sequence, PendingToken token, @Nullable ObserverStream deliverer) {
        return token.tokenIndex == 0 && sequence.nextTokenIndex == 1 && deliverer != null && !deliverer.completed;
    }

    private Known find(
            LifetimeState lifetime,
            SequenceLife sequence,
            @Nullable ObserverStream stream,
            @Nullable ObserverStream deliverer,
            int tokenIndex) {
        if (stream == null) {
            return Known.NEVER;
        }
        ChunkQueue chunks = sequence.chunks(stream.observer);
        while (!chunks.isEmpty() && chunks.endTokenIndex() <= tokenIndex) {
            if (stream == deliverer) {
                gaps.deliveredOnly(lifetime, sequence, deliverer, chunks, null);
            }
            chunks.remove();
        }
        if (chunks.isEmpty()) {
            return stream.completed ? Known.NEVER : Known.MAY_COME;
        }
        return chunks.firstTokenIndex() <= tokenIndex ? Known.HERE : Known.NEVER;
    }

    private static void take(
            SequenceLife sequence, PendingToken token, Known atClient, Known atGateway, boolean byClient) {
        if (atClient == Known.HERE) {
            boolean last = sequence.clientChunks.take(token.tokenIndex);
            token.lastOfChunk |= byClient && last;
        }
        if (atGateway == Known.HERE) {
            boolean last = sequence.gatewayChunks.take(token.tokenIndex);
            token.lastOfChunk |= !byClient && last;
        }
    }

    // ---- stamps

    private void stamp(
            LifetimeState lifetime,
            SequenceLife sequence,
            PendingToken token,
            @Nullable ChunkQueue client,
            @Nullable ChunkQueue gateway,
            boolean byClient) {
        ObserverStream deliverer = byClient ? lifetime.client : lifetime.gateway;
        ChunkQueue delivering = byClient ? client : gateway;
        if (deliverer == null || delivering == null) {
            return;
        }
        long delivered = byClient ? delivering.arrivedNanos() : left(delivering);
        token.delivered = true;
        token.rawDeliveryNanos = delivered - token.endNanos;
        token.recordSequence = delivering.recordSequence();
        if (gateway != null && lifetime.gateway != null) {
            atGateway(sequence, token, lifetime.gateway, gateway);
            if (byClient && gateway.writeEndNanos() != ChunkQueue.ABSENT) {
                ClockPath path = clocks.between(lifetime.gateway, gateway.writeEndNanos(), deliverer, delivered);
                long network = delivered - gateway.writeEndNanos();
                if (path.isBelowZero(network)) {
                    sequence.invalidStamps++;
                } else if (path.known()) {
                    token.deliveryPart(DeliveryPart.NETWORK, network + path.offsetNanos());
                }
            }
        }
        ClockPath path = clocks.fromEngine(sequence, token.endNanos, deliverer, delivered);
        if (path.isBelowZero(token.rawDeliveryNanos)) {
            sequence.invalidStamps++;
        } else if (path.known()) {
            token.deliveryNanos = token.rawDeliveryNanos + path.offsetNanos();
            token.deliverySigmaNanos = path.sigmaNanos();
            if (token.producedEpochNanos != null) {
                token.deliveredEpochNanos = token.producedEpochNanos + token.deliveryNanos;
            }
        } else {
            token.unjoined = true;
            token.clockStepped = path.stepped();
            sequence.unjoined = true;
        }
        if (path.known()) {
            token.pathOffsetNanos = path.offsetNanos();
            token.deliveryBoundNanos = path.boundNanos();
        }
    }

    /** When a chunk left the gateway, as far as the gateway says. */
    private static long left(ChunkQueue chunk) {
        return chunk.writeEndNanos() != ChunkQueue.ABSENT
                ? chunk.writeEndNanos()
                : chunk.writeStartNanos() != ChunkQueue.ABSENT ? chunk.writeStartNanos() : chunk.arrivedNanos();
    }

    private void atGateway(SequenceLife sequence, PendingToken token, ObserverStream stream, ChunkQueue chunk) {
        ClockPath path = clocks.fromEngine(sequence, token.endNanos, stream, chunk.arrivedNanos());
        if (path.stepped()) {
            // It may have been the gateway's clock, between any two stamps of it.
            return;
        }
        long output = chunk.arrivedNanos() - token.endNanos;
        if (path.isBelowZero(output)) {
            sequence.invalidStamps++;
        } else if (path.known()) {
            token.deliveryPart(DeliveryPart.OUTPUT, output + path.offsetNanos());
        }
        long start = chunk.writeStartNanos();
        long end = chunk.writeEndNanos();
        if (start != ChunkQueue.ABSENT) {
            within(sequence, token, DeliveryPart.GATEWAY, start - chunk.arrivedNanos());
            if (end != ChunkQueue.ABSENT) {
                within(sequence, token, DeliveryPart.CLIENT, end - start);
            }
        }
    }

    private static void within(SequenceLife sequence, PendingToken token, DeliveryPart part, long nanos) {
        if (nanos < 0) {
            sequence.invalidStamps++;
        } else {
            token.deliveryPart(part, nanos);
        }
    }
}
