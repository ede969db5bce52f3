package io.tokenstair.job.request;

import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Confidence;
import io.tokenstair.cause.Part;
import io.tokenstair.clock.AlignedStamp;
import io.tokenstair.job.step.SlowToken;
import io.tokenstair.job.window.SortedWindow;
import io.tokenstair.narrative.Milliseconds;
import io.tokenstair.narrative.Phrase;
import io.tokenstair.narrative.Tale;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Tokens that no engine record made: their gaps are differences of arrivals at one observer. */
final class StreamGaps {
    private static final int WARM = 16;
    private static final int MAX_GAPS = 4_096;

    private final TokenRows rows;
    private final ClockPaths clocks;

    StreamGaps(TokenRows rows, ClockPaths clocks) {
        this.clocks = clocks;
        this.rows = rows;
    }

    /** Says the older half of the chunks of a stream that goes on and on. */
    void bound(LifetimeState lifetime, SequenceLife sequence, ObserverStream deliverer) {
        ChunkQueue chunks = sequence.chunks(deliverer.observer);
        if (chunks.size() <= ChunkQueue.MAX_CHUNKS) {
            return;
        }
        SortedWindow usual = usualGaps(chunks);
        while (chunks.size() > ChunkQueue.MAX_CHUNKS / 2) {
            deliveredOnly(lifetime, sequence, deliverer, chunks, usual);
            chunks.remove();
        }
    }

    /** Says what is left of the stream. */
    void finish(LifetimeState lifetime, SequenceLife sequence, ObserverStream deliverer) {
        ChunkQueue chunks = sequence.chunks(deliverer.observer);
        // An engine that says who it is, and not when it made a token, leaves the stream to speak for itself.
        SortedWindow usual = sequence.makingEngine >= 0 ? null : usualGaps(chunks);
        while (!chunks.isEmpty()) {
            deliveredOnly(lifetime, sequence, deliverer, chunks, usual);
            sequence.streamOnly = true;
            chunks.remove();
        }
    }

    /** Says the tokens of the first chunk. */
    void deliveredOnly(
            LifetimeState lifetime,
            SequenceLife sequence,
            ObserverStream deliverer,
            ChunkQueue chunks,
            @Nullable SortedWindow usual) {
        long first = chunks.firstTokenIndex();
        long count = chunks.endTokenIndex() - first;
        long arrivedNanos = chunks.arrivedNanos();
        for (long i = 0; i < count; i++) {
            if (first + i < sequence.nextSentIndex) {
                // Behind one that was sent after it: its token has been said.
                if (i == 0) {
                    sequence.droppedChunks++;
                }
                continue;
            }
            PendingToken token = new PendingToken();
            token.tokenIndex = (int) (first + i);
            token.gapBasis = "delivered";
            if (i > 0) {
                token.gapNanos = 0L;
            } else {
                token.gapNanos = gap(sequence, deliverer, token.tokenIndex, arrivedNanos);
            }
            if (token.gapNanos != null) {
                token.partMask = 1 << Part.UNEXPLAINED.ordinal();
                token.partNanos = new long[] {token.gapNanos};
                if (usual != null && token.tokenIndex > 0 && i == 0) {
                    judge(lifetime, sequence, token, count, usual, deliverer.eventId(chunks.recordSequence()));
                }
                if (token.tokenIndex > 0) {
                    sequence.gapSumNanos += token.gapNanos;
                    sequence.gapCount++;
                }
            }
            ClockPath path = clocks.fromEngine(sequence, deliverer, arrivedNanos);
            AlignedStamp aligned = path.known() ? null : clocks.toEpoch(deliverer.clockId, arrivedNanos);
            if (sequence.epochOffsetNanos != null && sequence.boundNanos != null && path.known()) {
                token.deliveredEpochNanos = arrivedNanos + path.offsetNanos() + sequence.epochOffsetNanos;
                token.boundNanos = sequence.boundNanos + path.boundNanos();
                token.sigmaNanos = sequence.sigmaNanos == null
                        ? null
                        : Long.valueOf(AlignedStamp.combinedSigma(sequence.sigmaNanos, path.sigmaNanos()));
            } else if (aligned != null) {
                token.deliveredEpochNanos = aligned.epochNanos();
                token.boundNanos = aligned.boundNanos();
                token.sigmaNanos = aligned.sigmaNanos();
            } else if (deliverer.coarseOffsetNanos != null) {
                token.deliveredEpochNanos = arrivedNanos + deliverer.coarseOffsetNanos;
                token.boundNanos = RequestLife.COARSE_BOUND_NANOS;
            }
            sequence.tokenCount++;
            rows.send(lifetime, sequence, token);
        }
        sequence.lastArrivedNanos = arrivedNanos;
    }

    /** From the arrival before, or for the first token from the sending; absent where that is not known or comes after it. */
    private static @Nullable Long gap(
            SequenceLife sequence, ObserverStream deliverer, int tokenIndex, long arrivedNanos) {
        Long before = tokenIndex > 0
                ? sequence.lastArrivedNanos
                : deliverer.sentKnown ? Long.valueOf(deliverer.sentNanos) : null;
        if (before == null) {
            return null;
        }
        if (arrivedNanos < before) {
            sequence.invalidStamps++;
            return null;
        }
        return arrivedNanos - before;
    }

    /**
     * Gaps per token of a stream that no engine record made, as far as there are enough to call one of them unusual. A chunk that came
     * with the one before it - a draft of the same step, or both were read at once after a stall - is no gap of its own: the median of
     * many such would be next to nothing, and every step slow. It came with it where its gap is less than a tenth of a gap that at most
     * a twentieth of all, or {@value #WARM}, are larger than.
     */
    private static @Nullable SortedWindow usualGaps(ChunkQueue chunks) {
        int gaps = Math.min(chunks.size() - 1, MAX_GAPS);
        if (gaps < WARM) {
            return null;
        }
        long[] pairs = chunks.arrivalsAndCounts();
        long[] perToken = new long[gaps];
        for (int i = 0; i < gaps; i++) {
            int at = 2 * i + 2;
            perToken[i] = (pairs[at] - pairs[at - 2]) / Math.max(1, pairs[at + 1]);
        }
        long[] sorted = perToken.clone();
        Arrays.sort(sorted);
        long together = sorted[Math.max(0, gaps - 1 - Math.max(WARM, gaps / 20))] / 10;
        SortedWindow usual = new SortedWindow(gaps);
        for (long gap : perToken) {
            if (gap >= together) {
                usual.add(gap);
            }
        }
        return usual;
    }

    /** Without steps a token can be slow against its own stream; nothing can say why. */
    private static void judge(
            LifetimeState lifetime,
            SequenceLife sequence,
            PendingToken token,
            long count,
            SortedWindow usual,
            String arrivalEventId) {
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
        slow.confidenceWhy = Phrase.WHY_NO_STEP.say();
        slow.lostNanos = gap - reference;
        slow.chain.add(new Tale()
                .say(
                        Phrase.STREAM_GAP.say(token.tokenIndex, Milliseconds.text(gap), Milliseconds.text(reference)),
                        arrivalEventId)
                .text());
        token.slow = slow;
        SlowGroups.add(sequence, token, slow);
    }
}
