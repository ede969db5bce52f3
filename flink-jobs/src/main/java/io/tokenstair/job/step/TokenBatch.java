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

    /** Room for a full batch of ordinary tokens. */
    private static final int USUAL_BYTES = 1_800;

    public SequenceName name = new SequenceName();
    public String clockId = "";
    public int count;
    public long firstEndNanos;
    public long firstCoarseEpochMillis;
    public long lastCoarseEpochMillis;
    /** The rows, between two positions; empty while they lie in a block. */
    private byte[] rows;

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

    // Of the rows that other sequences have too, in runs of consecutive steps: where each begins, its first step
    // counted from that of the
    // first run, and how many there are. Not part of the content, and not kept in snapshots.
    private int[] runs = NO_RUNS;

    private int runCount;
    private int runsTo;
    private long runStep;

    /** Where its shared rows are, once it is sent; null where it has none. */
    @Nullable
    SharedRows shared;

    /** Where its rows lie, one that came in a block; null where they are its own. */
    private @Nullable BlockRows blockRows;

    /** Says that the rows behind a position are those that sequences share in so many steps. */
    void sharing(int from, long step, int steps) {
        int last = 3 * (runCount - 1);
        if (runCount > 0 && runsTo == from && runStep + runs[last + 1] + runs[last + 2] == step) {
            runs[last + 2] += steps;
            runsTo = rowsTo;
        } else if (runCount < MAX_RUNS) {
            if (runCount == 0) {
                runStep = step;
            }
            if (3 * runCount == runs.length) {
                runs = Arrays.copyOf(runs, Math.max(6, 2 * runs.length));
            }
            runs[3 * runCount] = from;
            runs[3 * runCount + 1] = (int) (step - runStep);
            runs[3 * runCount + 2] = steps;
            runCount++;
            runsTo = rowsTo;
        }
    }

    /** How many runs of shared rows it has. */
    int runs() {
        return runCount;
    }

    /** Where a run of shared rows begins. */
    int runFrom(int run) {
        return runs[3 * run];
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

    /** Its rows where they lie in a block; null where {@link #rows} has them. */
    @Nullable
    BlockRows blockRows() {
        return blockRows;
    }

    /** What has its rows between {@link #rowsFrom} and {@link #rowsTo}. */
    public byte[] rows() {
        if (blockRows != null) {
            rows = blockRows.together(rowsTo);
            blockRows = null;
        }
        return rows;
    }

    /** A batch of its own that holds the same; names and slow tokens, which nobody changes, are shared. */
    TokenBatch copy() {
        TokenBatch copy = new TokenBatch(Arrays.copyOfRange(rows(), rowsFrom, rowsTo), 0, rowsTo - rowsFrom);
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

    /** Appends the bytes of several rows to those that are there, the last one of this event time. */
    void add(byte[] moreRows, int from, int length, int moreCount, long moreCoarseEpochMillis) {
        room(length);
        System.arraycopy(moreRows, from, rows, rowsTo, length);
        rowsTo += length;
        count += moreCount;
        lastCoarseEpochMillis = moreCoarseEpochMillis;
    }

    private void counted(long endNanos, long coarseEpochMillis) {
        if (count++ == 0) {
            firstEndNanos = endNanos;
            firstCoarseEpochMillis = coarseEpochMillis;
        }
        lastCoarseEpochMillis = coarseEpochMillis;
    }

    private void room(int more) {
        if (rowsTo + more > rows().length) {
            rows = Arrays.copyOf(rows, Math.max(rowsTo + more, 2 * rows.length));
        }
    }

    /** Index of its first token. It must have one. */
    public int firstTokenIndex() {
        BlockRows block = blockRows;
        return block == null || block.pieceFrom(0) == block.pieceTo(0)
                ? TokenRow.tokenIndex(rows(), rowsFrom)
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
