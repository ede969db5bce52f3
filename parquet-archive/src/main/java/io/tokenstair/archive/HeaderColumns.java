package io.tokenstair.archive;

import io.tokenstair.event.EventHeader;
import java.util.List;
import org.apache.parquet.column.ColumnWriter;
import org.apache.parquet.io.api.Binary;
import org.jspecify.annotations.Nullable;

/** The first columns of every raw table: the event's header and whether the event was late. */
final class HeaderColumns {
    static final List<Column> COLUMNS = List.of(
            new Column("collector_id", 1001, ColumnType.STRING, false),
            new Column("collector_epoch", 1002, ColumnType.INT64, false),
            new Column("sequence", 1003, ColumnType.INT64, false),
            new Column("clock_id", 1004, ColumnType.STRING, false),
            new Column("clock_nanos", 1005, ColumnType.INT64, true),
            new Column("coarse_epoch_millis", 1006, ColumnType.INT64, true),
            new Column("late", 1007, ColumnType.BOOLEAN, false));

    static final int COUNT = COLUMNS.size();

    private final TextCache collectors = new TextCache();
    private final TextCache clocks = new TextCache();

    /** Writes the same header into {@code rows} rows. */
    void write(ParquetOutput out, EventHeader header, boolean late, int rows) {
        same(out.column(0), collectors.binary(header.collectorId()), rows);
        same(out.column(1), header.collectorEpoch(), 0, rows);
        same(out.column(2), header.sequence(), 0, rows);
        same(out.column(3), clocks.binary(header.clockId()), rows);
        sameOrNull(out.column(4), header.clockNanos(), rows);
        sameOrNull(out.column(5), header.coarseEpochMillis(), rows);
        ColumnWriter lateColumn = out.column(6);
        for (int i = 0; i < rows; i++) {
            lateColumn.write(late, 0, 0);
        }
    }

    static void same(ColumnWriter column, Binary value, int rows) {
        for (int i = 0; i < rows; i++) {
            column.write(value, 0, 0);
        }
    }

    static void same(ColumnWriter column, long value, int definition, int rows) {
        for (int i = 0; i < rows; i++) {
            column.write(value, 0, definition);
        }
    }

    private static void sameOrNull(ColumnWriter column, @Nullable Long value, int rows) {
        if (value != null) {
            same(column, value, 1, rows);
            return;
        }
        for (int i = 0; i < rows; i++) {
            column.writeNull(0, 0);
        }
    }

    /** The header of the input's row and its late flag. */
    static Row read(ParquetInput in) {
        return new Row(
                new EventHeader(
                        in.column(0).takeString(),
                        in.column(1).takeLong(),
                        in.column(2).takeLong(),
                        in.column(3).takeString(),
                        (Long) in.column(4).take(),
                        (Long) in.column(5).take()),
                in.column(6).takeBoolean());
    }

    /** A header and its late flag. */
    record Row(EventHeader header, boolean late) {
        boolean sameEvent(Row other) {
            return header.sequence() == other.header.sequence()
                    && header.collectorEpoch() == other.header.collectorEpoch()
                    && header.collectorId().equals(other.header.collectorId());
        }
    }
}
