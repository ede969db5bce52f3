package io.tokenstair.archive;

import io.tokenstair.event.Event;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** One row per event: the header, then the components of the event's record. */
final class RecordForm<E extends Event> implements RawForm {
    private final Class<E> type;
    private final RecordColumns<E> record;
    private final List<Column> columns;

    private RecordForm(Class<E> type, RecordColumns<E> record, List<Column> columns) {
        this.type = type;
        this.record = record;
        this.columns = columns;
    }

    /**
     * The form of a kind.
     *
     * @param constants values of the components that this table does not hold, by name
     */
    static <E extends Event> RecordForm<E> of(Class<E> type, Map<String, Object> constants) {
        RecordColumns<E> record = RecordColumns.of(type, constants);
        List<Column> columns = new ArrayList<>(HeaderColumns.COLUMNS);
        columns.addAll(record.columns());
        return new RecordForm<>(type, record, List.copyOf(columns));
    }

    @Override
    public List<Column> columns() {
        return columns;
    }

    @Override
    public RowWriter newWriter() {
        HeaderColumns header = new HeaderColumns();
        Object[] row = new Object[1];
        return (out, event, late) -> {
            row[0] = type.cast(event.event());
            header.write(out, event.header(), late, 1);
            record.write(out, HeaderColumns.COUNT, row, 1);
            return 1;
        };
    }

    @Override
    public RowReader newReader(ParquetInput in) {
        return () -> {
            if (!in.next()) {
                return null;
            }
            HeaderColumns.Row header = HeaderColumns.read(in);
            E event = record.read(in, HeaderColumns.COUNT);
            return new RawRow(EventCodec.encode(new LoggedEvent(header.header(), event)), header.late());
        };
    }
}
