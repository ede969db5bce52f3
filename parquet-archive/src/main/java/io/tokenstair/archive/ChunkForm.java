package io.tokenstair.archive;

import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.Finish;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.proto.LogRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.parquet.column.ColumnWriter;
import org.apache.parquet.io.api.Binary;
import org.jspecify.annotations.Nullable;

/** The chunks that observers saw, a row each. */
final class ChunkForm extends RowsForm {
    private static final Binary[] FINISH_NAMES = finishNames();
    private static final Map<String, Finish> FINISHES = finishes();

    ChunkForm() {
        super(
                new Column("observer", 1, ColumnType.STRING, false),
                new Column("request_id", 2, ColumnType.STRING, false),
                new Column("sequence_index", 3, ColumnType.INT32, false),
                new Column("chunk_index", 4, ColumnType.INT32, false),
                new Column("first_token_index", 5, ColumnType.INT32, true),
                new Column("token_count", 6, ColumnType.INT32, false),
                new Column("size_bytes", 7, ColumnType.INT32, false),
                new Column("arrived_nanos", 8, ColumnType.INT64, false),
                new Column("finish", 9, ColumnType.STRING, false),
                new Column("write_start_nanos", 10, ColumnType.INT64, true),
                new Column("write_end_nanos", 11, ColumnType.INT64, true));
    }

    @Override
    int count(LoggedEvent event) {
        return ((ChunkDelivered) event.event()).chunks().size();
    }

    @Override
    void writeRows(ParquetOutput out, LoggedEvent event, int rows, TextCache texts) {
        ChunkDelivered delivered = (ChunkDelivered) event.event();
        int c = FIRST_COLUMN;
        HeaderColumns.same(out.column(c++), RecordColumns.binary(delivered.observer()), rows);
        HeaderColumns.same(out.column(c++), texts.binary(delivered.requestId()), rows);
        ColumnWriter sequenceIndex = out.column(c++);
        ColumnWriter chunkIndex = out.column(c++);
        ColumnWriter firstTokenIndex = out.column(c++);
        ColumnWriter tokenCount = out.column(c++);
        ColumnWriter sizeBytes = out.column(c++);
        ColumnWriter arrivedNanos = out.column(c++);
        ColumnWriter finish = out.column(c++);
        ColumnWriter writeStartNanos = out.column(c++);
        ColumnWriter writeEndNanos = out.column(c);
        for (Chunk chunk : delivered.chunks()) {
            sequenceIndex.write(chunk.sequenceIndex(), 0, 0);
            chunkIndex.write(chunk.chunkIndex(), 0, 0);
            // A chunk without tokens has no first token: the wire form keeps nothing there.
            Integer first = chunk.tokenCount() == 0 ? null : chunk.firstTokenIndex();
            if (first == null) {
                firstTokenIndex.writeNull(0, 0);
            } else {
                firstTokenIndex.write((int) first, 0, 1);
            }
            tokenCount.write(chunk.tokenCount(), 0, 0);
            sizeBytes.write(chunk.sizeBytes(), 0, 0);
            arrivedNanos.write(chunk.arrivedNanos(), 0, 0);
            finish.write(FINISH_NAMES[chunk.finish().code()], 0, 0);
            stamp(writeStartNanos, chunk.writeStartNanos());
            stamp(writeEndNanos, chunk.writeEndNanos());
        }
    }

    private static void stamp(ColumnWriter column, @Nullable Long nanos) {
        if (nanos == null) {
            column.writeNull(0, 0);
        } else {
            column.write((long) nanos, 0, 1);
        }
    }

    @Override
    Collector newCollector() {
        List<Chunk> chunks = new ArrayList<>();
        String[] ids = new String[2];
        return new Collector() {
            @Override
            public void add(ParquetInput in) {
                int c = FIRST_COLUMN;
                ids[0] = in.column(c++).takeString();
                ids[1] = in.column(c++).takeString();
                chunks.add(new Chunk(
                        in.column(c++).takeInt(),
                        in.column(c++).takeInt(),
                        (Integer) in.column(c++).take(),
                        in.column(c++).takeInt(),
                        in.column(c++).takeInt(),
                        in.column(c++).takeLong(),
                        finishOf(in.column(c++).takeString()),
                        (Long) in.column(c++).take(),
                        (Long) in.column(c).take()));
            }

            @Override
            public byte[] finish(LogRecord.Builder record, EventHeader header) {
                return EventCodec.encode(new LoggedEvent(header, new ChunkDelivered(ids[0], ids[1], chunks)));
            }
        };
    }

    private static Finish finishOf(String name) {
        Finish finish = FINISHES.get(name);
        if (finish == null) {
            throw new IllegalArgumentException("Cannot read finish: " + name);
        }
        return finish;
    }

    private static String nameOf(Finish finish) {
        return finish.name().toLowerCase(Locale.ROOT);
    }

    private static Binary[] finishNames() {
        Binary[] names = new Binary[Finish.values().length];
        for (Finish finish : Finish.values()) {
            names[finish.code()] = RecordColumns.binary(nameOf(finish));
        }
        return names;
    }

    private static Map<String, Finish> finishes() {
        Map<String, Finish> byName = new HashMap<>();
        for (Finish finish : Finish.values()) {
            byName.put(nameOf(finish), finish);
        }
        return byName;
    }
}
