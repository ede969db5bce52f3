package io.tokenstair.archive;

import io.tokenstair.event.LoggedEvent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How events of one kind lie in one raw table: what it writes for an event, and how rows become log records again. */
interface RawForm {

    /** The columns, header first. */
    List<Column> columns();

    /** A writer of its own for each file: it may remember the values it wrote last. */
    RowWriter newWriter();

    /** A reader of its own for each file. */
    RowReader newReader(ParquetInput in);

    /** Writes events. */
    interface RowWriter {
        /** Writes all columns of the event's rows and returns how many rows that are. */
        int write(ParquetOutput out, LoggedEvent event, boolean late);
    }

    /** Reads events. */
    interface RowReader {
        /** The next log record; null at the end. */
        @Nullable
        RawRow next();
    }
}
