package io.tokenstair.archive;

import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.proto.LogRecord;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.column.ColumnWriter;
import org.jspecify.annotations.Nullable;

/**
 * Several rows per event: the header, the position of the row in its event, then the columns of the rows. The rows of one event lie
 * together, and {@code record_index} starts at 0 with each event.
 */
abstract class RowsForm implements RawForm {
    /** Where the columns of the rows start. */
    static final int FIRST_COLUMN = HeaderColumns.COUNT + 1;

    private final List<Column> columns;

    RowsForm(Column... rowColumns) {
        List<Column> all = new ArrayList<>(HeaderColumns.COLUMNS);
        all.add(new Column("record_index", 1008, ColumnType.INT32, false));
        all.addAll(List.of(rowColumns));
        columns = List.copyOf(all);
    }

    @Override
    public final List<Column> columns() {
        return columns;
    }

    /** Rows that the event has in this table. */
    abstract int count(LoggedEvent event);

    /** Writes columns {@link #FIRST_COLUMN} and after, {@code rows} values each. */
    abstract void writeRows(ParquetOutput out, LoggedEvent event, int rows, TextCache texts);

    /** Collects the rows of one event. */
    abstract Collector newCollector();

    /** The rows of one event as they are read. */
    interface Collector {
        /** Takes the values of columns {@link #FIRST_COLUMN} and after. */
        void add(ParquetInput in);

        /** The log record of the rows taken; {@code record} has the header. */
        byte[] finish(LogRecord.Builder record, EventHeader header);
    }

    @Override
    public final RowWriter newWriter() {
        HeaderColumns header = new HeaderColumns();
        TextCache texts = new TextCache();
        return (out, event, late) -> {
            int rows = count(event);
            if (rows > 0) {
                header.write(out, event.header(), late, rows);
                ColumnWriter recordIndex = out.column(HeaderColumns.COUNT);
                for (int i = 0; i < rows; i++) {
                    recordIndex.write(i, 0, 0);
                }
                writeRows(out, event, rows, texts);
            }
            return rows;
        };
    }

    @Override
    public final RowReader newReader(ParquetInput in) {
        return new GroupedReader(in);
    }

    private final class GroupedReader implements RowReader {
        private final ParquetInput in;
        private HeaderColumns.@Nullable Row header;
        private int recordIndex;

        GroupedReader(ParquetInput in) {
            this.in = in;
        }

        @Override
        public @Nullable RawRow next() {
            if (header == null) {
                advance();
            }
            HeaderColumns.Row first = header;
            if (first == null) {
                return null;
            }
            if (recordIndex != 0) {
                throw scattered(first);
            }
            Collector collector = newCollector();
            int expected = 0;
            do {
                if (recordIndex != expected++) {
                    throw scattered(first);
                }
                collector.add(in);
                advance();
            } while (header != null && recordIndex != 0 && header.sameEvent(first));
            EventHeader event = first.header();
            LogRecord.Builder record = LogRecord.newBuilder()
                    .setCollectorId(event.collectorId())
                    .setCollectorEpoch(event.collectorEpoch())
                    .setSequence(event.sequence())
                    .setClockId(event.clockId());
            if (event.clockNanos() != null) {
                record.setClockNanos(event.clockNanos());
            }
            if (event.coarseEpochMillis() != null) {
                record.setCoarseEpochMillis(event.coarseEpochMillis());
            }
            return new RawRow(collector.finish(record, event), first.late());
        }

        private void advance() {
            if (in.next()) {
                header = HeaderColumns.read(in);
                recordIndex = in.column(HeaderColumns.COUNT).takeInt();
            } else {
                header = null;
            }
        }

        private ArchiveException scattered(HeaderColumns.Row row) {
            return new ArchiveException("Cannot read file " + in.name() + ": the rows of event "
                    + row.header().eventId()
                    + " do not lie together in the order of record_index. Another program sorted the file: write it anew"
                    + " ordered by collector_id, collector_epoch, sequence, record_index.");
        }
    }
}
