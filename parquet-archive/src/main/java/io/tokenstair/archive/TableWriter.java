package io.tokenstair.archive;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;

/**
 * Writes the rows of a table into one file. A file is complete only after {@link #finish}; the stream is never closed here. Not for
 * use by several threads.
 *
 * @param <R> the rows
 */
public final class TableWriter<R extends Record> {
    /** Rows kept until they are written column by column. */
    private static final int BUFFERED_ROWS = 128;

    private final TableSchema<R> schema;
    private final ParquetOutput out;
    private final Object[] rows = new Object[BUFFERED_ROWS];
    private int count;

    private TableWriter(TableSchema<R> schema, ParquetOutput out) {
        this.schema = schema;
        this.out = out;
    }

    /** Starts a file at the stream's present position, which becomes its first byte. */
    public static <R extends Record> TableWriter<R> open(TableSchema<R> schema, OutputStream out) throws IOException {
        return new TableWriter<>(schema, ParquetOutput.open(schema.table(), schema.columns(), out));
    }

    /** Adds a row. */
    public void write(R row) throws IOException {
        rows[count++] = row;
        if (count == BUFFERED_ROWS) {
            writeBuffered();
        }
    }

    /** Writes the rest and the footer. Nothing may be written after it. */
    public void finish() throws IOException {
        writeBuffered();
        out.finish();
    }

    private void writeBuffered() throws IOException {
        schema.recordColumns().write(out, 0, rows, count);
        out.endRows(count);
        Arrays.fill(rows, 0, count, null);
        count = 0;
    }
}
