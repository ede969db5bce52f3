package io.tokenstair.job.staircase;

/**
 * Everything a {@link StaircaseDetector} remembers of one series, of fixed size: under 0.7 KB for the compact detector, under 1.6 KB for
 * the full one, with a stream engine's framing. A stream engine keeps it as it is: public fields, primitives and primitive arrays only,
 * all of them integers. Read and written by the detector alone. Levels are ln(time / expected time) in units of 2^-12; a
 * <em>tick</em> is what the detector judges at once, one or four values.
 */
public final class StaircaseState {
    /** Rises that are remembered one by one; later ones are only counted. */
    public static final int MAX_RISES = 8;

    /** Numbers in each of the sums below: tick number, its square, limited level, product, square of the level. */
    static final int SUMS = 5;

    /** Levels of the values of the tick that is being filled, or of the last values before the median of three. */
    public short[] openLevels = new short[0];

    /** How many there are. */
    public int openCount;

    /** Index of the first value of the tick that is being filled. */
    public int openIndex;

    /** Its values with KV events. */
    public int openKvCount;

    /** Level of its expected time. */
    public short openLoad;

    /** Ticks so far; the number of the next tick. */
    public int tickCount;

    /** Values with KV events so far, in closed ticks. */
    public int kvCount;

    /** Values with KV events in the block of ticks that is being filled; a block is as long as what counts as near a rise. */
    public int kvBlockCount;

    /** Their squares, over all closed blocks: how much the events come in bunches. */
    public int kvSquares;

    /** Closed blocks with a KV event. */
    public int kvHits;

    /** Of the closed blocks: those around rises. */
    public int nearBlocks;

    /** Values with KV events in them. */
    public int nearCount;

    /** The squares of those counts. */
    public int nearSquares;

    /** Those of them with a KV event. */
    public int nearHits;

    /** Levels of the last ticks, by tick modulo the length. */
    public short[] levels = new short[0];

    /** The same, limited to three deviations around the level of their segment. */
    public short[] limitedLevels = new short[0];

    /** Levels of the expected time itself in the last ticks, relative to 10 ms. */
    public short[] loads = new short[0];

    /** How far the index of each of the last ticks lies after that of the tick before, up to 65535, unsigned. */
    public short[] advances = new short[0];

    /** Values with KV events in each of the last ticks. */
    public byte[] kvOfTick = new byte[0];

    /** Index of the last closed tick. */
    public int lastIndex;

    /** Weight of the differences below, in 2^-16. */
    public long differenceWeight;

    /** Half the squared differences of neighbouring ticks, fading, in 2^-8. */
    public long difference1;

    /** Half the squared differences of ticks two or four apart, fading, in 2^-8. */
    public long differenceApart;

    /** Sums over all ticks. */
    public long[] total = new long[SUMS];

    /** Sums over the ticks of the current segment, with tick numbers counted from its start. */
    public long[] segment = new long[SUMS];

    /** First tick of the current segment. */
    public int segmentStart;

    /** First tick of the segment before; -1 before the first change. */
    public int previousStart = -1;

    /** Changes of level so far, confirmed or not. */
    public int changeCount;

    /** First tick of a change that still has to settle; -1 when there is none. */
    public int pendingOnset = -1;

    /** True while the change that began the current segment is not counted yet. */
    public boolean unproven;

    /** Pooled within-segment sums of the closed segments: tick squared, product, level squared, each about the segment's mean. */
    public long[] within = new long[3];

    /** The first two of them, without the first segment. */
    public long[] interior = new long[2];

    /** Sharp rises so far. */
    public int riseCount;

    /** Rises without an edge so far. */
    public int rampCount;

    /** Rises of the time, or of the expected time, that soon fell again. */
    public int burstCount;

    /** Lasting edges of the expected time itself. */
    public int loadEdgeCount;

    /** Heights of the sharp rises, added up. */
    public int riseSum;

    /** Depths of the falls, added up. */
    public int fallSum;

    /** Index at the onset of each remembered rise. */
    public int[] riseIndexes = new int[0];

    /** Height of each remembered rise. */
    public short[] riseHeights = new short[0];

    /** Values with KV events around each remembered rise. */
    public byte[] riseKvCounts = new byte[0];

    /** For a stream engine; {@link StaircaseDetector#start} makes one that works. */
    public StaircaseState() {}

    StaircaseState(int valuesPerTick, int ring) {
        openLevels = new short[valuesPerTick];
        levels = new short[ring];
        limitedLevels = new short[ring];
        loads = new short[ring];
        advances = new short[ring];
        kvOfTick = new byte[ring];
        riseIndexes = new int[MAX_RISES];
        riseHeights = new short[MAX_RISES];
        riseKvCounts = new byte[MAX_RISES];
    }

    /** Reads a little of each of its parts, which the detector needs next. */
    public long touch() {
        return differenceWeight
                + pendingOnset
                + openLevels.length
                + levels.length
                + limitedLevels.length
                + loads.length
                + advances.length
                + kvOfTick.length
                + total.length
                + segment.length;
    }

    StaircaseState copy() {
        StaircaseState copy = new StaircaseState();
        copy.openLevels = openLevels.clone();
        copy.openCount = openCount;
        copy.openIndex = openIndex;
        copy.openKvCount = openKvCount;
        copy.openLoad = openLoad;
        copy.tickCount = tickCount;
        copy.kvCount = kvCount;
        copy.kvBlockCount = kvBlockCount;
        copy.kvSquares = kvSquares;
        copy.kvHits = kvHits;
        copy.nearBlocks = nearBlocks;
        copy.nearCount = nearCount;
        copy.nearSquares = nearSquares;
        copy.nearHits = nearHits;
        copy.levels = levels.clone();
        copy.limitedLevels = limitedLevels.clone();
        copy.loads = loads.clone();
        copy.advances = advances.clone();
        copy.kvOfTick = kvOfTick.clone();
        copy.lastIndex = lastIndex;
        copy.differenceWeight = differenceWeight;
        copy.difference1 = difference1;
        copy.differenceApart = differenceApart;
        copy.total = total.clone();
        copy.segment = segment.clone();
        copy.segmentStart = segmentStart;
        copy.previousStart = previousStart;
        copy.changeCount = changeCount;
        copy.pendingOnset = pendingOnset;
        copy.unproven = unproven;
        copy.within = within.clone();
        copy.interior = interior.clone();
        copy.riseCount = riseCount;
        copy.rampCount = rampCount;
        copy.burstCount = burstCount;
        copy.loadEdgeCount = loadEdgeCount;
        copy.riseSum = riseSum;
        copy.fallSum = fallSum;
        copy.riseIndexes = riseIndexes.clone();
        copy.riseHeights = riseHeights.clone();
        copy.riseKvCounts = riseKvCounts.clone();
        return copy;
    }
}
