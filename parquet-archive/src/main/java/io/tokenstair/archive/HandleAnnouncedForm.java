package io.tokenstair.archive;

import io.tokenstair.event.EventHeader;
import io.tokenstair.event.HandleAnnounced;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.wire.proto.LogRecord;
import java.util.List;
import org.apache.parquet.column.ColumnWriter;

/** The handles that steps announced, a row each: which engine's id a handle stands for in a collector and epoch. */
final class HandleAnnouncedForm extends RowsForm {

    HandleAnnouncedForm() {
        super(
                new Column("engine_id", 1, ColumnType.STRING, false),
                new Column("request_handle", 20, ColumnType.INT32, false),
                new Column("engine_request_id", 21, ColumnType.STRING, false));
    }

    @Override
    int count(LoggedEvent event) {
        return ((StepCompleted) event.event()).announcements().size();
    }

    @Override
    void writeRows(ParquetOutput out, LoggedEvent event, int rows, TextCache texts) {
        StepCompleted step = (StepCompleted) event.event();
        List<HandleAnnounced> announcements = step.announcements();
        HeaderColumns.same(out.column(FIRST_COLUMN), texts.binary(step.engineId()), rows);
        ColumnWriter handle = out.column(FIRST_COLUMN + 1);
        ColumnWriter id = out.column(FIRST_COLUMN + 2);
        for (HandleAnnounced announced : announcements) {
            handle.write(announced.requestHandle(), 0, 0);
            id.write(RecordColumns.binary(announced.engineRequestId()), 0, 0);
        }
    }

    @Override
    Collector newCollector() {
        var step = io.tokenstair.event.wire.proto.StepCompleted.newBuilder();
        return new Collector() {
            @Override
            public void add(ParquetInput in) {
                in.column(FIRST_COLUMN).takeString();
                step.addAnnouncedHandle(in.column(FIRST_COLUMN + 1).takeInt());
                step.addAnnouncedEngineRequestId(in.column(FIRST_COLUMN + 2).takeString());
            }

            @Override
            public byte[] finish(LogRecord.Builder record, EventHeader header) {
                return record.setStepCompleted(step).build().toByteArray();
            }
        };
    }
}
