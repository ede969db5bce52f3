package io.tokenstair.archive;

import io.tokenstair.event.EventKind;
import io.tokenstair.event.LoggedEvent;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Writes raw events into one file of a raw table. A file is complete only after {@link #finish}; the stream is never closed here.
 * Not for use by several threads.
 */
public final class RawTableWriter {
    private final String table;
    private final EventKind kind;
    private final RawForm.RowWriter writer;
    private final ParquetOutput out;

    private RawTableWriter(String table, EventKind kind, RawForm.RowWriter writer, ParquetOutput out) {
        this.table = table;
        this.kind = kind;
        this.writer = writer;
        this.out = out;
    }

    /** Starts a file at the stream's present position, which becomes its first byte. */
    public static RawTableWriter open(String table, OutputStream out) throws IOException {
        RawForm form = RawTables.form(table);
        return new RawTableWriter(
                table, RawTables.kindOf(table), form.newWriter(), ParquetOutput.open(table, form.columns(), out));
    }

    /**
     * Writes the rows that the event has in this table, which may be none.
     *
     * @param late true when the event came after its lateness bound
     */
    public void write(LoggedEvent event, boolean late) throws IOException {
        if (event.event().kind() != kind) {
            throw new IllegalArgumentException("Cannot write an event of another kind into table " + table + ": "
                    + event.event().kind());
        }
        out.endRows(writer.write(out, event, late));
    }

    /** Writes the rest and the footer. Nothing may be written after it. */
    public void finish() throws IOException {
        out.finish();
    }
}
