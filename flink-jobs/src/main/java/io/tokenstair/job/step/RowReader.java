package io.tokenstair.job.step;

import org.jspecify.annotations.Nullable;

/** Reads the rows of a batch one after the other, and steps over those that many sequences share where their columns say enough. */
public final class RowReader {
    private final TokenRow row = new TokenRow();
    private byte[] bytes = {};
    private int at;
    private int end;

    // Rows that lie in a block: the piece that comes next, and of the run at hand the next step and how many are left.
    private @Nullable BlockRows rows;
    private int piece;
    private int runPlace;
    private int runLeft;

    /** Has no rows yet. */
    public RowReader() {}

    /** Begins with the rows of a batch. */
    public void begin(TokenBatch batch) {
        rows = batch.blockRows();
        runLeft = 0;
        piece = 1;
        if (rows == null) {
            TokenBatch whole = batch.whole();
            bytes = whole.rows;
            at = whole.rowsFrom;
            end = whole.rowsTo;
        } else {
            bytes = rows.bytes();
            at = rows.pieceFrom(0);
            end = rows.pieceTo(0);
        }
    }

    /** The row that was read last. */
    public TokenRow row() {
        return row;
    }

    /** Reads the next row. There must be one. */
    public void read() {
        open();
        at = row.read(bytes, at);
        if (runLeft > 0) {
            runPlace++;
            runLeft--;
        }
    }

    /** Opens what the next row lies in: a run behind each piece, a piece behind each run. */
    private void open() {
        BlockRows block = rows;
        while (at == end && block != null && piece <= 2 * block.runs()) {
            int number = piece / 2;
            if (piece % 2 == 0) {
                bytes = block.bytes();
                at = block.pieceFrom(number);
                end = block.pieceTo(number);
            } else {
                bytes = block.share().bytes();
                runPlace = block.runPlace(number);
                runLeft = block.runSteps(number);
                at = block.share().from(runPlace);
                end = block.share().from(runPlace + runLeft);
            }
            piece++;
        }
    }

    /** Columns of the next {@link #runLeft} rows, from {@link #runPlace} on; null where they must be read. */
    public @Nullable SharedColumns run() {
        open();
        BlockRows block = rows;
        SharedColumns columns =
                runLeft == 0 || block == null ? null : block.share().columns();
        return columns != null && columns.follow(row, runPlace) ? columns : null;
    }

    /** The place of the next row in its columns. */
    public int runPlace() {
        return runPlace;
    }

    /** How many rows of the run at hand come next. */
    public int runLeft() {
        return runLeft;
    }

    /** Steps over rows of a run that has columns. {@link #row} has no gap then until the next one is read. */
    public void skip(SharedColumns columns, int count) {
        BlockRows block = rows;
        if (block == null || count > runLeft) {
            throw new IllegalStateException("Cannot step over " + count + " shared rows of " + runLeft);
        }
        columns.skip(row, runPlace, count);
        runPlace += count;
        runLeft -= count;
        at = block.share().from(runPlace);
    }
}
