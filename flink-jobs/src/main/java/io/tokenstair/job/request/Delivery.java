package io.tokenstair.job.request;

import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Confidence;
import io.tokenstair.cause.Part;
import io.tokenstair.job.step.SlowToken;
import io.tokenstair.job.window.SortedWindow;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The way of a sequence's tokens from the engine to an observer. */
final class Delivery {
    private static final int DELIVERY_WARM = 16;
    private static final int STREAM_WARM = 16;
    private static final int STREAM_GAPS = 4_096;

    private final TokenRows rows;

    Delivery(TokenRows rows) {
        this.rows = rows;
    }

    /** Pairs tokens with the chunks that brought them, both in index order. */
    void match(LifetimeState lifetime, SequenceLife sequence) {
        int tokenAt = 0;
        int chunkAt = 0;
        List<Long> chunks = sequence.unmatched;
        while (tokenAt < sequence.undelivered.size() && chunkAt < chunks.size()) {
            PendingToken token = sequence.undelivered.get(tokenAt);
            long first = chunks.get(chunkAt);
            long count = chunks.get(chunkAt + 1);
            if (token.tokenIndex >= first + count) {
                chunkAt += 3;
                deliveredOnly(lifetime, sequence, first, count, chunks.get(chunkAt - 1), null);
            } else if (token.tokenIndex < first) {
                tokenAt++;
                rows.send(lifetime, sequence, token);
            } else {
                tokenAt++;
                delivered(lifetime, sequence, token, chunks.get(chunkAt + 2));
                if (token.tokenIndex == first + count - 1) {
                    chunkAt += 3;
                } else if (token.tokenIndex > first) {
                    // The rest of the chunk still waits for its tokens.
                    chunks.set(chunkAt, (long) token.tokenIndex + 1);
                    chunks.set(chunkAt + 1, first + count - token.tokenIndex - 1);
                } else {
                    chunks.set(chunkAt, first + 1);
                    chunks.set(chunkAt + 1, count - 1);
                }
            }
        }
        sequence.undelivered.subList(0, tokenAt).clear();
        chunks.subList(0, chunkAt).clear();
    }

    private void delivered(LifetimeState lifetime, SequenceLife sequence, PendingToken token, long arrivedNanos) {
        if (lifetime.observerClockId.equals(sequence.engineClockId)) {
            long delivery = arrivedNanos - token.endNanos;
            token.deliveryNanos = delivery;
            if (token.producedEpochNanos != null) {
                token.deliveredEpochNanos = token.producedEpochNanos + delivery;
            }
            if (sequence.deliveryWindow.size() >= DELIVERY_WARM) {
                double limit = StrictMath.max(
                        token.referenceNanos == null ? 0 : 0.15 * token.referenceNanos,
                        4 * 1.4826 * sequence.deliveryWindow.medianAbsoluteDeviation());
                token.deliverySlow = delivery - sequence.deliveryWindow.median() > limit;
            }
            sequence.deliveryWindow.add(delivery);
        }
        sequence.lastArrivedNanos = arrivedNanos;
        rows.send(lifetime, sequence, token);
    }

    /** Tokens that no engine record made: their gaps are differences of arrivals. */
    void deliveredOnly(
            LifetimeState lifetime,
            SequenceLife sequence,
            long first,
            long count,
            long arrivedNanos,
            @Nullable SortedWindow usual) {
        for (long i = 0; i < count; i++) {
            if (first + i < sequence.nextSentIndex) {
                // A chunk that came twice, or behind one that was sent after it: its token has been said.
                continue;
            }
            PendingToken token = new PendingToken();
            token.tokenIndex = (int) (first + i);
            token.gapBasis = "delivered";
            if (i > 0) {
                token.gapNanos = 0L;
            } else if (token.tokenIndex == 0) {
                token.gapNanos = lifetime.sentKnown ? Long.valueOf(arrivedNanos - lifetime.sentNanos) : null;
            } else if (sequence.lastArrivedNanos != null) {
                token.gapNanos = arrivedNanos - sequence.lastArrivedNanos;
            }
            if (token.gapNanos != null) {
                token.partMask = 1 << Part.UNEXPLAINED.ordinal();
                token.partNanos = new long[] {token.gapNanos};
                if (usual != null && token.tokenIndex > 0 && i == 0) {
                    judgeByStream(lifetime, sequence, token, count, usual);
                }
                if (token.tokenIndex > 0) {
                    sequence.gapSumNanos += token.gapNanos;
                    sequence.gapCount++;
                }
            }
            if (sequence.epochOffsetNanos != null && lifetime.observerClockId.equals(sequence.engineClockId)) {
                token.deliveredEpochNanos = arrivedNanos + sequence.epochOffsetNanos;
                token.boundNanos = sequence.boundNanos;
            } else if (lifetime.observerOffsetNanos != null) {
                token.deliveredEpochNanos = arrivedNanos + lifetime.observerOffsetNanos;
                token.boundNanos = RequestLife.COARSE_BOUND_NANOS;
            }
            sequence.tokenCount++;
            rows.send(lifetime, sequence, token);
        }
        sequence.lastArrivedNanos = arrivedNanos;
    }

    /** Gaps per token of a stream that no engine record made, as far as there are enough to call one of them unusual. */
    static @Nullable SortedWindow usualGaps(List<Long> chunks) {
        int gaps = chunks.size() / 3 - 1;
        if (gaps < STREAM_WARM) {
            return null;
        }
        SortedWindow usual = new SortedWindow(Math.min(gaps, STREAM_GAPS));
        for (int i = 3; i < chunks.size() && usual.size() < STREAM_GAPS; i += 3) {
            usual.add((chunks.get(i + 2) - chunks.get(i - 1)) / Math.max(1, chunks.get(i + 1)));
        }
        return usual;
    }

    /** Without steps a token can be slow against its own stream; nothing can say why. */
    private static void judgeByStream(
            LifetimeState lifetime, SequenceLife sequence, PendingToken token, long count, SortedWindow usual) {
        if (token.gapNanos == null) {
            return;
        }
        long gap = token.gapNanos;
        long reference = usual.median();
        token.referenceNanos = reference;
        token.partMask = 1 << Part.REFERENCE.ordinal() | 1 << Part.UNEXPLAINED.ordinal();
        token.partNanos = new long[] {reference, gap - reference};
        double limit = StrictMath.max(0.15 * reference, 4 * 1.4826 * usual.medianAbsoluteDeviation());
        if (lifetime.warmup || (double) gap / count - reference <= limit) {
            return;
        }
        SlowToken slow = new SlowToken();
        slow.cause = Cause.UNRESOLVED_STALL.name();
        slow.confidence = Confidence.UNRESOLVED.levelName();
        slow.confidenceWhy = "no engine step was reported for this request";
        slow.lostNanos = gap - reference;
        slow.chain.add(String.format(
                Locale.ROOT,
                "Token %d arrived %.1f ms after the one before; usual in this stream are %.1f ms, and no engine step was reported"
                        + " that could say why.",
                token.tokenIndex,
                gap / 1e6,
                reference / 1e6));
        token.slow = slow;
        SlowGroups.add(sequence, token, slow);
    }
}
