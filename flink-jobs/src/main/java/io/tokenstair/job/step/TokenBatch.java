package io.tokenstair.job.step;

import io.tokenstair.cause.Part;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * Up to {@value #CAPACITY} consecutive tokens of one sequence in columns: what crosses the exchange between engines and requests,
 * so that nothing is paid per token that can be paid per batch. Cut by the token-index grid and by age in the engine's own time,
 * never by arrival.
 */
@TypeInfo(TokenBatchTypeInfo.Factory.class)
public class TokenBatch {
    /** Most tokens in a batch. */
    public static final int CAPACITY = 16;

    /** Stands for an absent number in the columns. */
    public static final long ABSENT = Long.MIN_VALUE;

    /** Flag: core records cover the gap. */
    public static final int HOST_COVERED = 1;
    /** Flag: own tokens were computed again in the gap. */
    public static final int RECOMPUTED = 2;
    /** Flag: the token is slow. */
    public static final int SLOW = 4;
    /** Flag: the step gave the sequence several tokens. */
    public static final int SEVERAL = 8;
    /** Flag: KV blocks of the engine were evicted or lost in the gap. */
    public static final int KV_EVENT = 16;
    /** Flag: the engine's KV events are reported. */
    public static final int KV_REPORTED = 32;

    private static final long[] EMPTY = new long[0];

    public SequenceName name = new SequenceName();
    public String clockId = "";
    public int count;
    public int[] tokenIndex;
    public long[] stepId;
    public long[] endNanos;
    public long[] coarseEpochMillis;
    public long[] epochNanos;
    public long[] boundNanos;
    public long[] gapNanos;
    public long[] expectedNanos;
    public long[] referenceNanos;
    public int[] contextTokens;
    public int[] batchSequences;
    public int[] flags;
    public int[] partMask;
    /** Values of the parts whose bit is set, row by row, in part order. */
    public long[] partNanos = EMPTY;

    public int partCount;
    public List<SlowToken> slow = new ArrayList<>();
    /** Expected ns per resident token when the last row was judged: evidence for growth with context. */
    public double residentNanosPerToken;

    /** An empty batch, to be built. */
    public TokenBatch() {
        this(
                new int[CAPACITY],
                new long[CAPACITY],
                new long[CAPACITY],
                new long[CAPACITY],
                new long[CAPACITY],
                new long[CAPACITY],
                new long[CAPACITY],
                new long[CAPACITY],
                new long[CAPACITY],
                new int[CAPACITY],
                new int[CAPACITY],
                new int[CAPACITY],
                new int[CAPACITY]);
        partNanos = new long[CAPACITY * 6];
    }

    /** A batch of these columns, without parts. */
    TokenBatch(
            int[] tokenIndex,
            long[] stepId,
            long[] endNanos,
            long[] coarseEpochMillis,
            long[] epochNanos,
            long[] boundNanos,
            long[] gapNanos,
            long[] expectedNanos,
            long[] referenceNanos,
            int[] contextTokens,
            int[] batchSequences,
            int[] flags,
            int[] partMask) {
        this.tokenIndex = tokenIndex;
        this.stepId = stepId;
        this.endNanos = endNanos;
        this.coarseEpochMillis = coarseEpochMillis;
        this.epochNanos = epochNanos;
        this.boundNanos = boundNanos;
        this.gapNanos = gapNanos;
        this.expectedNanos = expectedNanos;
        this.referenceNanos = referenceNanos;
        this.contextTokens = contextTokens;
        this.batchSequences = batchSequences;
        this.flags = flags;
        this.partMask = partMask;
    }

    /** A batch of its own that holds the same; names and slow tokens, which nobody changes, are shared. */
    TokenBatch copy() {
        TokenBatch copy = new TokenBatch(
                tokenIndex.clone(),
                stepId.clone(),
                endNanos.clone(),
                coarseEpochMillis.clone(),
                epochNanos.clone(),
                boundNanos.clone(),
                gapNanos.clone(),
                expectedNanos.clone(),
                referenceNanos.clone(),
                contextTokens.clone(),
                batchSequences.clone(),
                flags.clone(),
                partMask.clone());
        copy.name = name;
        copy.clockId = clockId;
        copy.count = count;
        copy.partNanos = partNanos.clone();
        copy.partCount = partCount;
        copy.slow = new ArrayList<>(slow);
        copy.residentNanosPerToken = residentNanosPerToken;
        return copy;
    }

    /** Appends a part of the row that is being built. Parts must come in order. */
    public void part(Part part, long nanos) {
        if (partCount == partNanos.length) {
            partNanos = Arrays.copyOf(partNanos, partNanos.length * 2);
        }
        partMask[count] |= 1 << part.ordinal();
        partNanos[partCount++] = nanos;
    }

    /** The slow token of a row, or null. */
    public @Nullable SlowToken slowAt(int row) {
        for (SlowToken token : slow) {
            if (token.row == row) {
                return token;
            }
        }
        return null;
    }

    /** Shortens the columns to what they hold, for shipping. */
    public TokenBatch trimmed() {
        if (count < CAPACITY) {
            tokenIndex = Arrays.copyOf(tokenIndex, count);
            stepId = Arrays.copyOf(stepId, count);
            endNanos = Arrays.copyOf(endNanos, count);
            coarseEpochMillis = Arrays.copyOf(coarseEpochMillis, count);
            epochNanos = Arrays.copyOf(epochNanos, count);
            boundNanos = Arrays.copyOf(boundNanos, count);
            gapNanos = Arrays.copyOf(gapNanos, count);
            expectedNanos = Arrays.copyOf(expectedNanos, count);
            referenceNanos = Arrays.copyOf(referenceNanos, count);
            contextTokens = Arrays.copyOf(contextTokens, count);
            batchSequences = Arrays.copyOf(batchSequences, count);
            flags = Arrays.copyOf(flags, count);
            partMask = Arrays.copyOf(partMask, count);
        }
        partNanos = Arrays.copyOf(partNanos, partCount);
        return this;
    }
}
