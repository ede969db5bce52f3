package io.tokenstair.job.step;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * Up to {@value #CAPACITY} consecutive tokens of one sequence, row behind row in the form of {@link TokenRow}: what crosses the exchange
 * between engines and requests, so that nothing is paid per token that can be paid per batch. Cut by the token-index grid and by age
 * in the engine's own time, never by arrival.
 */
@TypeInfo(TokenBatchTypeInfo.Factory.class)
public class TokenBatch {
    /** Most tokens in a batch. */
    public static final int CAPACITY = 64;

    /** Stands for an absent number. */
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
    /** Flag: records of the engine's device (kernels, stalls, memory, clocks) are reported. */
    public static final int GPU_REPORTED = 256;

    /** Flag: the token is slow, and its step's load explains it. */
    public static final int LOAD = 64;
    /** Flag: the token is slow beyond what its step's load explains. */
    public static final int ANOMALY = 128;

    private static final int[] NO_RUNS = {};
    private static final byte[] NO_ROWS = {};

    /** Room for what an ordinary batch has of its own. */
    private static final int USUAL_BYTES = 256;

    public SequenceName name = new SequenceName();
    public String clockId = "";
    public int count;
    public long firstEndNanos;
    public long firstCoarseEpochMillis;
    public long lastCoarseEpochMillis;
    /** Its own rows, between two positions: all that it has, where it is {@link #whole}. */
    public byte[] rows;

    public int rowsFrom;
    public int rowsTo;
    public List<SlowToken> slow = new ArrayList<>(0);
    /** Collector and epoch of the steps that made the tokens: with a number of theirs, the id of an event. */
    public String origin = "";
    /** The number, at that collector, of the step that made the last token. */
    public long lastStepSequence;
    /** Expected ns per resident token when the last row was judged: evidence for growth with context. */
    public double residentNanosPerToken;

    /** {@link #name}, {@link #clockId} and {@link #origin} as they travel; null until they have. Not part of the content. */
    byte @Nullable [] packedName;

    /** Most runs of shared rows that are known of a batch. */
    private static final int MAX_RUNS = 8;

    // Rows that other sequences have too, in runs of consecutive steps: behind how many bytes of its own each comes,
    // its first step
    // counted from that of the first run, and how many there are. They are in the shared rows, and not copied before
    // somebody wants all.
    private int[] runs = NO_RUNS;

    private int runCount;
    private long runStep;
    private @Nullable SharedRows shared;

    /** Where its rows lie, of one that came in a block; null where it has none of its own there. */
    private @Nullable BlockRows blockRows;

    /** Appends the rows of so many steps that are shared, the last one of this event time. It must have a row before them. */
    void addShared(SharedRows rowsOfSteps, long step, int steps, long moreCoarseEpochMillis) {
        if (shared != null && shared != rowsOfSteps && !share(rowsOfSteps)) {
            ownAll();
        }
        int last = 3 * (runCount - 1);
        if (runCount > 0 && runs[last] == rowsTo - rowsFrom && runStep + runs[last + 1] + runs[last + 2] == step) {
            runs[last + 2] += steps;
        } else if (runCount < MAX_RUNS) {
            if (runCount == 0) {
                runStep = step;
                shared = rowsOfSteps;
            }
            if (3 * runCount == runs.length) {
                runs = Arrays.copyOf(runs, Math.max(6, 2 * runs.length));
            }
            runs[3 * runCount] = rowsTo - rowsFrom;
            runs[3 * runCount + 1] = (int) (step - runStep);
            runs[3 * runCount + 2] = steps;
            runCount++;
        } else {
            int length = rowsOfSteps.from(step + steps) - rowsOfSteps.from(step);
            room(length);
            System.arraycopy(rowsOfSteps.bytes(), rowsOfSteps.from(step), rows, rowsTo, length);
            rowsTo += length;
        }
        count += steps;
        lastCoarseEpochMillis = moreCoarseEpochMillis;
    }

    /** Takes its shared rows from there, if all of them are there. */
    boolean share(@Nullable SharedRows rowsOfSteps) {
        if (runCount == 0 || rowsOfSteps == null) {
            return false;
        }
        int last = runCount - 1;
        if (rowsOfSteps.has(runStep, (int) (runStep(last) + runSteps(last) - runStep))) {
            shared = rowsOfSteps;
            return true;
        }
        return false;
    }

    /** Where its shared rows are; null where it has none. */
    @Nullable
    SharedRows shared() {
        return shared;
    }

    /** Its rows where they lie in a block; null where they do not. */
    @Nullable
    BlockRows blockRows() {
        return blockRows;
    }

    /** A batch that has all of these rows itself: this one, if it has. It is not changed. */
    TokenBatch whole() {
        return runCount == 0 && blockRows == null ? this : copy();
    }

    private void ownAll() {
        rows = together();
        rowsFrom = 0;
        rowsTo = rows.length;
        runs = NO_RUNS;
        runCount = 0;
        shared = null;
    }

    /** Bytes of all rows. */
    int rowBytes() {
        int length = rowsTo - rowsFrom;
        for (int run = 0; run < runCount; run++) {
            length += sharedBytes(run);
        }
        return length;
    }

    private int sharedBytes(int run) {
        long step = runStep(run);
        return shared == null ? 0 : shared.from(step + runSteps(run)) - shared.from(step);
    }

    /** All rows, one behind the other, in an array of their own. */
    private byte[] together() {
        if (blockRows != null) {
            return blockRows.together(rowsTo);
        }
        byte[] together = new byte[rowBytes()];
        int own = rowsFrom;
        int at = 0;
        for (int run = 0; run < runCount && shared != null; run++) {
            int before = runFrom(run) - own;
            System.arraycopy(rows, own, together, at, before);
            System.arraycopy(shared.bytes(), shared.from(runStep(run)), together, at + before, sharedBytes(run));
            own += before;
            at += before + sharedBytes(run);
        }
        System.arraycopy(rows, own, together, at, rowsTo - own);
        return together;
    }

    /** How many runs of shared rows it has. */
    int runs() {
        return runCount;
    }

    /** Where among its own rows a run of shared ones comes. */
    int runFrom(int run) {
        return rowsFrom + runs[3 * run];
    }

    /** The first step of a run of shared rows. */
    long runStep(int run) {
        return runStep + runs[3 * run + 1];
    }

    /** How many rows a run has. */
    int runSteps(int run) {
        return runs[3 * run + 2];
    }

    /** Says that it belongs to a request of another id. */
    public void rename(String requestId) {
        name = name.renamed(requestId);
        packedName = null;
    }

    /** An empty batch, to be built. */
    public TokenBatch() {
        rows = new byte[USUAL_BYTES];
    }

    /** A batch over these rows. */
    TokenBatch(byte[] rows, int rowsFrom, int rowsTo) {
        this.rows = rows;
        this.rowsFrom = rowsFrom;
        this.rowsTo = rowsTo;
    }

    /** A batch over rows of a block, of so many bytes. */
    TokenBatch(BlockRows blockRows, int length) {
        this(NO_ROWS, 0, length);
        this.blockRows = blockRows;
    }

    /** A batch of its own that holds the same, all rows in it; names and slow tokens, which nobody changes, are shared. */
    TokenBatch copy() {
        byte[] all = together();
        TokenBatch copy = new TokenBatch(all, 0, all.length);
        copy.name = name;
        copy.clockId = clockId;
        copy.count = count;
        copy.firstEndNanos = firstEndNanos;
        copy.firstCoarseEpochMillis = firstCoarseEpochMillis;
        copy.lastCoarseEpochMillis = lastCoarseEpochMillis;
        copy.slow = new ArrayList<>(slow);
        copy.residentNanosPerToken = residentNanosPerToken;
        copy.origin = origin;
        copy.lastStepSequence = lastStepSequence;
        copy.packedName = packedName;
        return copy;
    }

    /** Appends a row that was written without one before. */
    public void add(TokenRow row) {
        room(TokenRow.MAX_BYTES);
        rowsTo = row.write(rows, rowsTo);
        counted(row.endNanos, row.coarseEpochMillis);
    }

    /** Appends the bytes of a row. */
    void add(byte[] row, int length, long endNanos, long coarseEpochMillis) {
        room(length);
        System.arraycopy(row, 0, rows, rowsTo, length);
        rowsTo += length;
        counted(endNanos, coarseEpochMillis);
    }

    private void counted(long endNanos, long coarseEpochMillis) {
        if (count++ == 0) {
            firstEndNanos = endNanos;
            firstCoarseEpochMillis = coarseEpochMillis;
        }
        lastCoarseEpochMillis = coarseEpochMillis;
    }

    private void room(int more) {
        if (blockRows != null) {
            throw new IllegalStateException("Cannot add to a batch that came in a block");
        }
        if (rowsTo + more > rows.length) {
            rows = Arrays.copyOf(rows, Math.max(rowsTo + more, 2 * rows.length));
        }
    }

    /** Index of its first token. It must have one, and begins with a row of its own. */
    public int firstTokenIndex() {
        BlockRows block = blockRows;
        return block == null
                ? TokenRow.tokenIndex(rows, rowsFrom)
                : TokenRow.tokenIndex(block.bytes(), block.pieceFrom(0));
    }

    /** The id of the step that made its last token. */
    public String lastStepEventId() {
        return origin + '/' + lastStepSequence;
    }

    /** The slow token of a row, or null. */
    public @Nullable SlowToken slowAt(int row) {
        for (int i = 0; i < slow.size(); i++) {
            if (slow.get(i).row == row) {
                return slow.get(i);
            }
        }
        return null;
    }
}
