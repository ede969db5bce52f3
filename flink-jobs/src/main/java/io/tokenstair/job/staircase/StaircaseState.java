package io.tokenstair.job.staircase;

/**
 * Everything the detector remembers of one request, of fixed size (under 0.75 KB with a stream engine's framing). A stream engine keeps it as it is: public fields,
 * primitives and primitive arrays only. Read and written by {@link StaircaseDetector} alone. A <em>tick</em> is four judged tokens;
 * levels are ln(time / expected time) in units of 2^-20.
 */
public final class StaircaseState {
    /** Rises that are remembered one by one; later ones are only counted. */
    public static final int MAX_RISES = 8;

    static final int RING = 32;

    /** Levels of the tokens of the tick that is being filled. */
    public int[] tickLevels = new int[StaircaseDetector.TOKENS_PER_TICK];

    /** Tokens in it. */
    public int tickTokens;

    /** Index of its first token. */
    public int tickFirstTokenIndex;

    /** Its tokens with KV events. */
    public int tickKvTokens;

    /** Ticks so far; the number of the next tick. */
    public int tickCount;

    /** Tokens with KV events so far, in closed ticks. */
    public int kvTokens;

    /** Levels of the last ticks, by tick modulo the length. */
    public int[] levels = new int[RING];

    /** The same, limited to three deviations around the level of their segment. */
    public int[] limitedLevels = new int[RING];

    /** First token index of the last closed tick. */
    public int lastTickTokenIndex;

    /** How far the first token index of each of the last ticks lies after that of the tick before, up to 65535, unsigned. */
    public short[] tokenAdvances = new short[RING];

    /** Tokens with KV events in the last ticks. */
    public byte[] kvTokensOfTick = new byte[RING];

    /** Weight of the differences below. */
    public double differenceWeight;

    /** Half the squared differences of neighbouring ticks, fading. */
    public double difference1;

    /** Half the squared differences of ticks four apart, fading. */
    public double difference4;

    /** Sums over all ticks: tick number, its square, limited level, product, square of the level. */
    public long[] total = new long[5];

    /** The same sums over the ticks of the current segment, with tick numbers counted from its start. */
    public long[] segment = new long[5];

    /** First tick of the current segment. */
    public int segmentStart;

    /** First tick of the segment before; -1 before the first change. */
    public int previousSegmentStart = -1;

    /** Changes of level so far, confirmed or not. */
    public int changeCount;

    /** First tick of a change that still has to settle; -1 when there is none. */
    public int pendingOnset = -1;

    /** Pooled within-segment sums of the closed segments: tick squared, product, level squared, each about the segment's mean. */
    public double[] within = new double[3];

    /** The first two of them, without the first segment. */
    public double[] interior = new double[2];

    /** Sharp rises so far. */
    public int riseCount;

    /** Rises without an edge so far. */
    public int rampCount;

    /** Heights of the sharp rises, added up. */
    public long riseSum;

    /** Depths of the falls, added up. */
    public long fallSum;

    /** First token index of each remembered rise. */
    public int[] riseTokenIndexes = new int[MAX_RISES];

    /** Height of each remembered rise. */
    public int[] riseHeights = new int[MAX_RISES];

    /** Tokens with KV events around each remembered rise. */
    public byte[] riseKvTokens = new byte[MAX_RISES];
}
