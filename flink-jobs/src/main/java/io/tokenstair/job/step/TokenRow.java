package io.tokenstair.job.step;

import io.tokenstair.cause.Part;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * One token as its engine's timeline judged it, in primitives, and its form in the rows of a {@link TokenBatch}. Most of a row follows
 * from the row before: what does is not written, and a bit says of each value that does not.
 */
public final class TokenRow {
    /** Stands for an absent number. */
    public static final long ABSENT = TokenBatch.ABSENT;

    /** Most bytes of a row. */
    static final int MAX_BYTES = 2 + 5 * Integer.BYTES + 9 * Long.BYTES + Part.COUNT * Long.BYTES;

    /** Where the token index and the context of a row lie that was written without one before. */
    private static final int TOKEN_INDEX_AT = 2;

    private static final int CONTEXT_AT = TOKEN_INDEX_AT + Integer.BYTES;

    private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    // What a row says itself, in the order in which it says it.
    private static final int TOKEN_INDEX = 1;
    private static final int CONTEXT = 1 << 1;
    private static final int STEP_ID = 1 << 2;
    private static final int BATCH_SEQUENCES = 1 << 3;
    private static final int FLAGS = 1 << 4;
    private static final int PART_MASK = 1 << 5;
    private static final int COARSE = 1 << 6;
    /** Bound and sigma differ from the row before: by what two shorts say, or, with {@link #WIDE_WIDTHS}, as two longs. */
    private static final int WIDTHS = 1 << 7;

    /** The gap is not the sum of its parts. */
    private static final int GAP = 1 << 8;

    private static final int END = 1 << 9;
    private static final int EPOCH = 1 << 10;
    private static final int WIDE_PARTS = 1 << 11;
    private static final int REFERENCE = 1 << 12;
    private static final int EXPECTED = 1 << 13;
    private static final int WIDE_WIDTHS = 1 << 14;
    /** The reference part is that of the row before, and not written. */
    private static final int SAME_REFERENCE = 1 << 15;

    /** What a row does not say that follows from the row before and from its parts in all else. */
    private static final int NOT_FOLLOWING = TOKEN_INDEX
            | CONTEXT
            | STEP_ID
            | BATCH_SEQUENCES
            | FLAGS
            | PART_MASK
            | COARSE
            | WIDE_WIDTHS
            | GAP
            | END
            | EPOCH;

    /** Parts that make up what the model expects. */
    private static final int EXPECTED_PARTS = 1 << Part.REFERENCE.ordinal()
            | 1 << Part.BATCH.ordinal()
            | 1 << Part.CONTEXT.ordinal()
            | 1 << Part.PREFILL.ordinal()
            | 1 << Part.RECOMPUTE_OWN.ordinal()
            | 1 << Part.RECOMPUTE_OTHER.ordinal()
            | 1 << Part.GRAPH.ordinal();

    private static final int REFERENCE_BIT = 1 << Part.REFERENCE.ordinal();

    public int tokenIndex;
    public int contextTokens;
    public long stepId;
    public int batchSequences;
    /** Bits of {@link TokenBatch}. */
    public int flags;

    public long coarseEpochMillis;
    /** Half-width of {@link #epochNanos}; {@link #ABSENT} where that is. */
    public long boundNanos;

    /** Statistical width of {@link #epochNanos}; {@link #ABSENT} where that is. */
    public long sigmaNanos;

    public long gapNanos;
    public long endNanos;
    public long epochNanos;
    public long referenceNanos;
    public long expectedNanos;

    /** Bits of the parts that are present. */
    public int partMask;
    /** How many are present. */
    public int partCount;
    /** Their values, in part order. */
    public final long[] partNanos = new long[Part.COUNT];

    // Of the parts that were read last: their mask, their number, and bits of those that make up what is expected.
    private int knownMask;
    private int knownCount;
    private int knownExpected;

    /** A row without values. */
    public TokenRow() {}

    /** Takes all parts away. */
    void clearParts() {
        partMask = 0;
        partCount = 0;
    }

    /** Appends a part. Parts must come in order. */
    public void part(Part part, long nanos) {
        partMask |= 1 << part.ordinal();
        partNanos[partCount++] = nanos;
    }

    /** The value of a part; {@link #ABSENT} where it is absent. */
    public long partNanos(Part part) {
        int bit = 1 << part.ordinal();
        return (partMask & bit) == 0 ? ABSENT : partNanos[Integer.bitCount(partMask & bit - 1)];
    }

    /** Takes over the values of another row. */
    void set(TokenRow other) {
        tokenIndex = other.tokenIndex;
        contextTokens = other.contextTokens;
        stepId = other.stepId;
        batchSequences = other.batchSequences;
        flags = other.flags;
        coarseEpochMillis = other.coarseEpochMillis;
        boundNanos = other.boundNanos;
        sigmaNanos = other.sigmaNanos;
        gapNanos = other.gapNanos;
        endNanos = other.endNanos;
        epochNanos = other.epochNanos;
        referenceNanos = other.referenceNanos;
        expectedNanos = other.expectedNanos;
        partMask = other.partMask;
        partCount = other.partCount;
        System.arraycopy(other.partNanos, 0, partNanos, 0, other.partCount);
    }

    // ---- what the next row follows from

    /** Longs of {@link #keep}. */
    static final int KEPT = 9;

    /** Keeps what the next row is read with, token index and context apart, in {@value #KEPT} longs. */
    void keep(long[] into, int at) {
        into[at] = endNanos;
        into[at + 1] = epochNanos;
        into[at + 2] = boundNanos;
        into[at + 3] = sigmaNanos;
        into[at + 4] = coarseEpochMillis;
        into[at + 5] = stepId;
        into[at + 6] = referencePart();
        into[at + 7] = sequencesAndFlags();
        into[at + 8] = partMask;
    }

    /** Whether the next row is read with the same. */
    boolean isKept(long[] from, int at) {
        return from[at] == endNanos
                && from[at + 1] == epochNanos
                && from[at + 2] == boundNanos
                && from[at + 3] == sigmaNanos
                && from[at + 4] == coarseEpochMillis
                && from[at + 5] == stepId
                && from[at + 6] == referencePart()
                && from[at + 7] == sequencesAndFlags()
                && from[at + 8] == partMask;
    }

    /** Becomes a row that the next one can be read behind, so many tokens later. Its gap, and what was expected, are those of no row. */
    void skipTo(long[] kept, int at, int tokens) {
        tokenIndex += tokens;
        contextTokens += tokens;
        endNanos = kept[at];
        epochNanos = kept[at + 1];
        boundNanos = kept[at + 2];
        sigmaNanos = kept[at + 3];
        coarseEpochMillis = kept[at + 4];
        stepId = kept[at + 5];
        partNanos[0] = kept[at + 6];
        batchSequences = (int) (kept[at + 7] >> Integer.SIZE);
        flags = (int) kept[at + 7];
        partMask = (int) kept[at + 8];
        partCount = Integer.bitCount(partMask);
    }

    private long sequencesAndFlags() {
        return (long) batchSequences << Integer.SIZE | flags & 0xFFFFFFFFL;
    }

    // ---- writing

    /** Writes a row that can be read behind any other. Returns the position behind it. */
    int write(byte[] to, int at) {
        return write(
                TOKEN_INDEX
                        | CONTEXT
                        | STEP_ID
                        | BATCH_SEQUENCES
                        | FLAGS
                        | PART_MASK
                        | COARSE
                        | WIDTHS
                        | WIDE_WIDTHS
                        | END
                        | EPOCH,
                0,
                0,
                false,
                to,
                at);
    }

    /** Writes a row that can be read behind {@code before} only. Returns the position behind it. */
    int write(TokenRow before, byte[] to, int at) {
        long coarse = coarseEpochMillis - before.coarseEpochMillis;
        long boundStep = boundNanos - before.boundNanos;
        long sigmaStep = sigmaNanos - before.sigmaNanos;
        boolean shortSteps = boundStep == (short) boundStep && sigmaStep == (short) sigmaStep;
        int own = (tokenIndex == before.tokenIndex + 1 ? 0 : TOKEN_INDEX)
                | (contextTokens == before.contextTokens + 1 ? 0 : CONTEXT)
                | (stepId == before.stepId + 1 ? 0 : STEP_ID)
                | (batchSequences == before.batchSequences ? 0 : BATCH_SEQUENCES)
                | (flags == before.flags ? 0 : FLAGS)
                | (partMask == before.partMask ? 0 : PART_MASK)
                | (coarse >= 0 && coarse < 256 ? 0 : COARSE)
                | (boundStep == 0 && sigmaStep == 0 ? 0 : shortSteps ? WIDTHS : WIDTHS | WIDE_WIDTHS)
                | (endNanos == before.endNanos + gapNanos ? 0 : END)
                | (epochNanos == endNanos + (before.epochNanos - before.endNanos) ? 0 : EPOCH);
        boolean sameReference =
                (partMask & before.partMask & REFERENCE_BIT) != 0 && partNanos[0] == before.partNanos[0];
        return write(own, (int) coarse, (int) (boundStep & 0xFFFF | sigmaStep << Short.SIZE), sameReference, to, at);
    }

    private int write(int said, int coarse, int widthSteps, boolean sameReference, byte[] to, int at) {
        boolean wide = false;
        long sum = 0;
        for (int i = 0; i < partCount; i++) {
            wide |= partNanos[i] != (int) partNanos[i];
            sum += partNanos[i];
        }
        int firstPart = sameReference ? 1 : 0;
        int own = said
                | (wide ? WIDE_PARTS : 0)
                | (gapNanos == sum ? 0 : GAP)
                | (sameReference ? SAME_REFERENCE : 0)
                | (referenceNanos == referencePart() ? 0 : REFERENCE)
                | (expectedNanos == expectedParts() ? 0 : EXPECTED);
        SHORT.set(to, at, (short) own);
        int next = at + Short.BYTES;
        next = (own & TOKEN_INDEX) == 0 ? next : put(to, next, tokenIndex);
        next = (own & CONTEXT) == 0 ? next : put(to, next, contextTokens);
        next = (own & STEP_ID) == 0 ? next : put(to, next, stepId);
        next = (own & BATCH_SEQUENCES) == 0 ? next : put(to, next, batchSequences);
        next = (own & FLAGS) == 0 ? next : put(to, next, flags);
        next = (own & PART_MASK) == 0 ? next : put(to, next, partMask);
        if ((own & COARSE) == 0) {
            to[next++] = (byte) coarse;
        } else {
            next = put(to, next, coarseEpochMillis);
        }
        if ((own & WIDE_WIDTHS) != 0) {
            next = put(to, next, boundNanos);
            next = put(to, next, sigmaNanos);
        } else if ((own & WIDTHS) != 0) {
            next = put(to, next, widthSteps);
        }
        next = (own & GAP) == 0 ? next : put(to, next, gapNanos);
        next = (own & END) == 0 ? next : put(to, next, endNanos);
        next = (own & EPOCH) == 0 ? next : put(to, next, epochNanos);
        for (int i = firstPart; i < partCount; i++) {
            next = wide ? put(to, next, partNanos[i]) : put(to, next, (int) partNanos[i]);
        }
        next = (own & REFERENCE) == 0 ? next : put(to, next, referenceNanos);
        return (own & EXPECTED) == 0 ? next : put(to, next, expectedNanos);
    }

    private static int put(byte[] to, int at, int value) {
        INT.set(to, at, value);
        return at + Integer.BYTES;
    }

    private static int put(byte[] to, int at, long value) {
        LONG.set(to, at, value);
        return at + Long.BYTES;
    }

    /** Gives a row that was written without one before another token index and context. */
    static void rename(byte[] bytes, int at, int tokenIndex, int contextTokens) {
        INT.set(bytes, at + TOKEN_INDEX_AT, tokenIndex);
        INT.set(bytes, at + CONTEXT_AT, contextTokens);
    }

    /** The token index of a row that was written without one before. */
    static int tokenIndex(byte[] bytes, int at) {
        return (int) INT.get(bytes, at + TOKEN_INDEX_AT);
    }

    private long referencePart() {
        return (partMask & REFERENCE_BIT) == 0 ? ABSENT : partNanos[0];
    }

    private long expectedParts() {
        if ((partMask & REFERENCE_BIT) == 0) {
            return ABSENT;
        }
        long sum = 0;
        int bits = partMask;
        for (int i = 0; i < partCount; i++) {
            int bit = Integer.lowestOneBit(bits);
            bits ^= bit;
            sum += (EXPECTED_PARTS & bit) == 0 ? 0 : partNanos[i];
        }
        return sum;
    }

    // ---- reading

    /** Reads the row behind the one it holds. Returns the position behind that. */
    public int read(byte[] from, int at) {
        int own = (short) SHORT.get(from, at) & 0xFFFF;
        int next = at + Short.BYTES;
        long offsetNanos = epochNanos - endNanos;
        if ((own & NOT_FOLLOWING) == 0) {
            tokenIndex++;
            contextTokens++;
            stepId++;
            coarseEpochMillis += from[next++] & 0xFF;
            if ((own & WIDTHS) != 0) {
                next = readWidthSteps(from, next);
            }
            return readParts(own, offsetNanos, from, next);
        }
        next = readOwn(own, from, next);
        long ownGapNanos = 0;
        if ((own & GAP) != 0) {
            ownGapNanos = (long) LONG.get(from, next);
            next += Long.BYTES;
        }
        long ownEndNanos = 0;
        if ((own & END) != 0) {
            ownEndNanos = (long) LONG.get(from, next);
            next += Long.BYTES;
        }
        long ownEpochNanos = 0;
        if ((own & EPOCH) != 0) {
            ownEpochNanos = (long) LONG.get(from, next);
            next += Long.BYTES;
        }
        long before = endNanos;
        next = readParts(own, offsetNanos, from, next);
        if ((own & GAP) != 0) {
            gapNanos = ownGapNanos;
        }
        endNanos = (own & END) == 0 ? before + gapNanos : ownEndNanos;
        epochNanos = (own & EPOCH) == 0 ? endNanos + offsetNanos : ownEpochNanos;
        return next;
    }

    /** Reads the parts, and sets all that follows from them. */
    private int readParts(int own, long offsetNanos, byte[] from, int at) {
        int next = at;
        if (partMask != knownMask) {
            know(partMask);
        }
        int count = knownCount;
        int expected = knownExpected;
        partCount = count;
        int first = (own & SAME_REFERENCE) == 0 ? 0 : 1;
        long sum = first == 0 ? 0 : partNanos[0];
        long expectedSum = sum;
        if ((own & WIDE_PARTS) == 0) {
            for (int i = first; i < count; i++) {
                int nanos = (int) INT.get(from, next);
                next += Integer.BYTES;
                partNanos[i] = nanos;
                sum += nanos;
                expectedSum += nanos & -(expected >>> i & 1);
            }
        } else {
            for (int i = first; i < count; i++) {
                long nanos = (long) LONG.get(from, next);
                next += Long.BYTES;
                partNanos[i] = nanos;
                sum += nanos;
                expectedSum += nanos & -(long) (expected >>> i & 1);
            }
        }
        gapNanos = sum;
        endNanos += sum;
        epochNanos = endNanos + offsetNanos;
        if ((own & REFERENCE) == 0) {
            referenceNanos = referencePart();
        } else {
            referenceNanos = (long) LONG.get(from, next);
            next += Long.BYTES;
        }
        if ((own & EXPECTED) == 0) {
            expectedNanos = (partMask & REFERENCE_BIT) == 0 ? ABSENT : expectedSum;
        } else {
            expectedNanos = (long) LONG.get(from, next);
            next += Long.BYTES;
        }
        return next;
    }

    /** Which of the parts that a row has make up what is expected: nearly always the same as in the row before. */
    private void know(int mask) {
        knownMask = mask;
        knownCount = 0;
        knownExpected = 0;
        for (int bits = mask; bits != 0; bits &= bits - 1) {
            knownExpected |= (EXPECTED_PARTS & Integer.lowestOneBit(bits)) == 0 ? 0 : 1 << knownCount;
            knownCount++;
        }
    }

    private int readOwn(int own, byte[] from, int at) {
        int next = at;
        if ((own & TOKEN_INDEX) == 0) {
            tokenIndex++;
        } else {
            tokenIndex = (int) INT.get(from, next);
            next += Integer.BYTES;
        }
        if ((own & CONTEXT) == 0) {
            contextTokens++;
        } else {
            contextTokens = (int) INT.get(from, next);
            next += Integer.BYTES;
        }
        if ((own & STEP_ID) == 0) {
            stepId++;
        } else {
            stepId = (long) LONG.get(from, next);
            next += Long.BYTES;
        }
        if ((own & BATCH_SEQUENCES) != 0) {
            batchSequences = (int) INT.get(from, next);
            next += Integer.BYTES;
        }
        if ((own & FLAGS) != 0) {
            flags = (int) INT.get(from, next);
            next += Integer.BYTES;
        }
        if ((own & PART_MASK) != 0) {
            partMask = (int) INT.get(from, next);
            next += Integer.BYTES;
        }
        if ((own & COARSE) == 0) {
            coarseEpochMillis += from[next++] & 0xFF;
        } else {
            coarseEpochMillis = (long) LONG.get(from, next);
            next += Long.BYTES;
        }
        if ((own & WIDE_WIDTHS) != 0) {
            boundNanos = (long) LONG.get(from, next);
            sigmaNanos = (long) LONG.get(from, next + Long.BYTES);
            next += 2 * Long.BYTES;
        } else if ((own & WIDTHS) != 0) {
            next = readWidthSteps(from, next);
        }
        return next;
    }

    private int readWidthSteps(byte[] from, int at) {
        int steps = (int) INT.get(from, at);
        boundNanos += (short) steps;
        sigmaNanos += steps >> Short.SIZE;
        return at + Integer.BYTES;
    }
}
