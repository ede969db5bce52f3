package io.tokenstair.job.step;

import io.tokenstair.job.staircase.Rise;
import io.tokenstair.job.staircase.StaircaseDetector;
import io.tokenstair.job.staircase.StaircaseState;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What the shared rows of a block say, read once for all batches that have them. A row follows from the one before; of sequences that decode
 * together all rows are the same but for token index and context. So the first batch that comes to a step brings the row before it, and any
 * other one is told by its own row before whether it is one of them. Sums run over steps, so that those of a run are a difference.
 *
 * <p>Size: {@value #LONGS} longs, three ints and two bytes per step, dropped with the block.
 */
public final class SharedColumns {
    /** A longer gap is in no sum: sums of squares would not fit. */
    public static final long LONGEST_SUMMED_NANOS = 100_000_000_000L;

    /** So many batches are worth it per step: reading a step into columns costs as much as a few rows. */
    private static final int STEPS_PER_BATCH = 20;

    private static final byte NOT_READ = -1;

    private static final int NOT_PLAIN = TokenBatch.SLOW | TokenBatch.SEVERAL | TokenBatch.RECOMPUTED;

    // Of a place, behind what the next row is read with: sums over the steps before it.
    private static final int GAP_NANOS = TokenRow.KEPT;
    private static final int GAP_MICROS = GAP_NANOS + 1;
    private static final int GAP_SQUARES = GAP_NANOS + 2;
    private static final int GAP_BY_PLACE = GAP_NANOS + 3;
    private static final int SEQUENCES = GAP_NANOS + 4;
    private static final int SPECIAL = GAP_NANOS + 5;
    private static final int DATED = GAP_NANOS + 6;
    private static final int LONGS = GAP_NANOS + 7;

    private final SentShare share;
    private final int steps;

    /** By place, which is a step or what lies behind the last one: what the row before it is, and the sums. */
    private final long[] places;

    /** By place: whether that is known. If it is, so it is of all places up to the next step without a row. */
    private final boolean[] known;

    private final int[] levels;
    private final int[] flags;

    // Of a tick that begins at a place: its levels, and its tokens with KV events or NOT_READ. Made when first wanted.
    private final int[] ticks;
    private final byte[] kvEventsOfTick;

    private final TokenRow row = new TokenRow();
    private final long[] joining = new long[LONGS];

    SharedColumns(SentShare share, int steps) {
        this.share = share;
        this.steps = steps;
        places = new long[(steps + 1) * LONGS];
        known = new boolean[steps + 1];
        levels = new int[steps];
        flags = new int[steps];
        ticks = new int[steps];
        kvEventsOfTick = new byte[steps];
        Arrays.fill(kvEventsOfTick, NOT_READ);
    }

    /** Whether columns cost less than reading the rows of so many batches. */
    static boolean areWorthIt(int batches, int steps) {
        return steps <= batches * STEPS_PER_BATCH;
    }

    /** Whether the shared rows from a place on follow from this row as they follow from the others'. */
    boolean follow(TokenRow before, int place) {
        if (!known[place]) {
            read(before, place);
        }
        return before.isKept(places, place * LONGS);
    }

    private void read(TokenRow before, int first) {
        row.set(before);
        row.keep(places, first * LONGS);
        known[first] = true;
        for (int place = first; place < steps && share.hasRow(place); place++) {
            row.read(share.bytes(), share.from(place));
            levels[place] = StaircaseDetector.levels(row.gapNanos, row.expectedNanos);
            flags[place] = row.flags;
            int next = (place + 1) * LONGS;
            if (known[place + 1] && row.isKept(places, next)) {
                // Those behind are read already, by a batch that begins later.
                sum(place, joining, 0);
                joinSums(first, place + 1);
                return;
            }
            row.keep(places, next);
            sum(place, places, next);
            known[place + 1] = true;
        }
    }

    private void sum(int place, long[] into, int next) {
        int at = place * LONGS;
        long micros = row.gapNanos / 1_000;
        boolean special = (row.flags & NOT_PLAIN) != 0
                || row.gapNanos == TokenRow.ABSENT
                || row.gapNanos >= LONGEST_SUMMED_NANOS
                || row.expectedNanos == TokenRow.ABSENT;
        into[next + GAP_NANOS] = places[at + GAP_NANOS] + row.gapNanos;
        into[next + GAP_MICROS] = places[at + GAP_MICROS] + micros;
        into[next + GAP_SQUARES] = places[at + GAP_SQUARES] + micros * micros;
        into[next + GAP_BY_PLACE] = places[at + GAP_BY_PLACE] + place * micros;
        into[next + SEQUENCES] = places[at + SEQUENCES] + row.batchSequences;
        into[next + SPECIAL] = places[at + SPECIAL] + (special ? 1 : 0);
        into[next + DATED] = places[at + DATED] + (row.epochNanos == TokenRow.ABSENT ? 0 : 1);
    }

    /** Lets sums of the places before one go on there. */
    private void joinSums(int first, int joined) {
        for (int place = first; place < joined; place++) {
            for (int sum = GAP_NANOS; sum < LONGS; sum++) {
                places[place * LONGS + sum] += places[joined * LONGS + sum] - joining[sum];
            }
        }
    }

    private long sum(int sum, int place, int count) {
        return places[(place + count) * LONGS + sum] - places[place * LONGS + sum];
    }

    // ---- what a run says, by its first place and its steps

    /** Whether nothing need be said of its tokens but their numbers, and all are dated, or none is. */
    public boolean arePlain(int place, int count) {
        long dated = sum(DATED, place, count);
        return sum(SPECIAL, place, count) == 0 && (dated == 0 || dated == count);
    }

    /** Sum of the gaps, in ns. */
    public long gapNanos(int place, int count) {
        return sum(GAP_NANOS, place, count);
    }

    /** Sum of the gaps, each in whole us. */
    public long gapMicros(int place, int count) {
        return sum(GAP_MICROS, place, count);
    }

    /** Sum of the squares of the gaps in whole us. */
    public long gapMicrosSquared(int place, int count) {
        return sum(GAP_SQUARES, place, count);
    }

    /** Sum of the gaps in whole us, that of the first token 0 times, of the next one once, and so on. */
    public long gapMicrosByToken(int place, int count) {
        return sum(GAP_BY_PLACE, place, count) - place * gapMicros(place, count);
    }

    /** Sum of the sequences of the steps. */
    public long batchSequences(int place, int count) {
        return sum(SEQUENCES, place, count);
    }

    /** Flags that any of the tokens has: bits of {@link TokenBatch}. */
    public int flags(int place, int count) {
        int any = 0;
        for (int i = place; i < place + count; i++) {
            any |= flags[i];
        }
        return any;
    }

    // ---- what a step says

    /** Lets the detector of a sequence take in the token of a step. */
    public @Nullable Rise accept(StaircaseState staircase, int place, int tokenIndex) {
        return StaircaseDetector.COMPACT.acceptLevels(
                staircase, tokenIndex, levels[place], (flags[place] & TokenBatch.KV_EVENT) == 0 ? 0 : 1);
    }

    /** Whether so many tokens from a step on can be taken in as a tick of the detector's. */
    public boolean isTick(StaircaseState staircase, int place, int count) {
        return count >= StaircaseDetector.TICK_VALUES
                && StaircaseDetector.COMPACT.beginsTick(staircase)
                && tick(place) != StaircaseDetector.NO_LEVELS;
    }

    /** Lets the detector take in a tick. */
    public @Nullable Rise acceptTick(StaircaseState staircase, int place, int tokenIndex) {
        return StaircaseDetector.COMPACT.acceptTick(
                staircase, tokenIndex, levels, place, tick(place), kvEventsOfTick[place]);
    }

    private int tick(int place) {
        if (kvEventsOfTick[place] == NOT_READ) {
            byte kvEvents = 0;
            for (int i = place; i < place + StaircaseDetector.TICK_VALUES; i++) {
                kvEvents += (byte) ((flags[i] & TokenBatch.KV_EVENT) == 0 ? 0 : 1);
            }
            ticks[place] = StaircaseDetector.levelsOfTick(levels, place);
            kvEventsOfTick[place] = kvEvents;
        }
        return ticks[place];
    }

    /** Its end on the engine's clock. */
    public long endNanos(int place) {
        return places[(place + 1) * LONGS];
    }

    /** Its end on the epoch's axis; {@link TokenRow#ABSENT} where it has none. */
    public long epochNanos(int place) {
        return places[(place + 1) * LONGS + 1];
    }

    /** Half-width of that; {@link TokenRow#ABSENT} where that is. */
    public long boundNanos(int place) {
        return places[(place + 1) * LONGS + 2];
    }

    /** Statistical width of that; {@link TokenRow#ABSENT} where that is. */
    public long sigmaNanos(int place) {
        return places[(place + 1) * LONGS + 3];
    }

    /** Makes a row the one that the next row behind so many steps is read behind. */
    void skip(TokenRow reading, int place, int count) {
        reading.skipTo(places, (place + count) * LONGS, count);
    }
}
