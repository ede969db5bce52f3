package io.tokenstair.archive;

import java.util.List;
import java.util.Map;

/**
 * A table whose rows are records of one type: a column per component, in their order, with the permanent id of its
 * {@link io.tokenstair.event.Field}. Components marked {@code @Nullable} may be NULL; numbers stay as they are, so epoch columns
 * are whole nanoseconds.
 *
 * @param <R> the record, public
 */
public final class TableSchema<R extends Record> {
    private final String table;
    private final Class<R> recordType;
    private final RecordColumns<R> columns;

    private TableSchema(String table, Class<R> recordType, RecordColumns<R> columns) {
        this.table = table;
        this.recordType = recordType;
        this.columns = columns;
    }

    /** The table of a record type. */
    public static <R extends Record> TableSchema<R> of(String table, Class<R> recordType) {
        return new TableSchema<>(table, recordType, RecordColumns.of(recordType, Map.of()));
    }

    /** The name of the table. */
    public String table() {
        return table;
    }

    /** The type of its rows. */
    public Class<R> recordType() {
        return recordType;
    }

    /** Its columns, in order. */
    public List<Column> columns() {
        return columns.columns();
    }

    RecordColumns<R> recordColumns() {
        return columns;
    }

    @Override
    public String toString() {
        return table;
    }
}
