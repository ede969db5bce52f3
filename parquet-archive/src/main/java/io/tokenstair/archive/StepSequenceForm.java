package io.tokenstair.archive;

import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Phase;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.wire.proto.LogRecord;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.parquet.column.ColumnWriter;
import org.apache.parquet.io.api.Binary;

/** The scheduled sequences of steps, a row each: the largest table. Written from the columns of the step, a tight loop each. */
final class StepSequenceForm extends RowsForm {
    private static final int ABSENT = SequenceRows.ABSENT;
    private static final Binary[] PHASE_NAMES = phaseNames();
    private static final Map<String, Phase> PHASES = phases();

    StepSequenceForm() {
        super(
                new Column("engine_id", 1, ColumnType.STRING, false),
                new Column("step_id", 3, ColumnType.INT64, false),
                new Column("request_handle", 30, ColumnType.INT32, false),
                new Column("first_token_index", 31, ColumnType.INT32, true),
                new Column("token_count", 32, ColumnType.INT32, false),
                new Column("context_tokens", 33, ColumnType.INT32, false),
                new Column("scheduled_tokens", 34, ColumnType.INT32, false),
                new Column("phase", 35, ColumnType.STRING, false),
                new Column("cached_tokens", 36, ColumnType.INT32, true),
                new Column("preemption_count", 37, ColumnType.INT32, true),
                new Column("wait_nanos", 38, ColumnType.INT64, true));
    }

    @Override
    int count(LoggedEvent event) {
        return ((StepCompleted) event.event()).rows().count();
    }

    @Override
    void writeRows(ParquetOutput out, LoggedEvent event, int n, TextCache texts) {
        StepCompleted step = (StepCompleted) event.event();
        SequenceRows rows = step.rows();
        int c = FIRST_COLUMN;
        HeaderColumns.same(out.column(c++), texts.binary(step.engineId()), n);
        HeaderColumns.same(out.column(c++), step.stepId(), 0, n);
        ColumnWriter column = out.column(c++);
        for (int i = 0; i < n; i++) {
            column.write(rows.requestHandle(i), 0, 0);
        }
        column = out.column(c++);
        for (int i = 0; i < n; i++) {
            writeKnown(column, rows.firstTokenIndex(i));
        }
        column = out.column(c++);
        for (int i = 0; i < n; i++) {
            column.write(rows.tokenCount(i), 0, 0);
        }
        column = out.column(c++);
        for (int i = 0; i < n; i++) {
            column.write(rows.contextTokens(i), 0, 0);
        }
        column = out.column(c++);
        for (int i = 0; i < n; i++) {
            column.write(rows.scheduledTokens(i), 0, 0);
        }
        column = out.column(c++);
        for (int i = 0; i < n; i++) {
            column.write(PHASE_NAMES[rows.phaseCode(i)], 0, 0);
        }
        column = out.column(c++);
        for (int i = 0; i < n; i++) {
            writeKnown(column, rows.cachedTokens(i));
        }
        column = out.column(c++);
        for (int i = 0; i < n; i++) {
            writeKnown(column, rows.preemptionCount(i));
        }
        column = out.column(c);
        for (int i = 0; i < n; i++) {
            long wait = rows.waitNanos(i);
            if (wait == ABSENT) {
                column.writeNull(0, 0);
            } else {
                column.write(wait, 0, 1);
            }
        }
    }

    private static void writeKnown(ColumnWriter column, int value) {
        if (value == ABSENT) {
            column.writeNull(0, 0);
        } else {
            column.write(value, 0, 1);
        }
    }

    @Override
    Collector newCollector() {
        var step = io.tokenstair.event.wire.proto.StepCompleted.newBuilder();
        return new Collector() {
            @Override
            public void add(ParquetInput in) {
                int c = FIRST_COLUMN;
                in.column(c++).takeString();
                in.column(c++).takeLong();
                step.addRequestHandle(in.column(c++).takeInt());
                step.addFirstTokenIndexPlus1(in.column(c++).takeInt(ABSENT) + 1);
                step.addTokenCount(in.column(c++).takeInt());
                step.addContextTokens(in.column(c++).takeInt());
                step.addScheduledTokens(in.column(c++).takeInt());
                step.addPhase(phase(in.column(c++).takeString()).code());
                step.addCachedTokensPlus1(in.column(c++).takeInt(ABSENT) + 1);
                step.addPreemptionCountPlus1(in.column(c++).takeInt(ABSENT) + 1);
                step.addWaitNanosPlus1(in.column(c).takeLong(ABSENT) + 1);
            }

            @Override
            public byte[] finish(LogRecord.Builder record, EventHeader header) {
                return record.setStepCompleted(step).build().toByteArray();
            }
        };
    }

    private static Phase phase(String name) {
        Phase phase = PHASES.get(name);
        if (phase == null) {
            throw new IllegalArgumentException("Cannot read phase: " + name);
        }
        return phase;
    }

    private static String nameOf(Phase phase) {
        return phase.name().toLowerCase(Locale.ROOT);
    }

    private static Binary[] phaseNames() {
        Phase[] phases = Phase.values();
        Binary[] names = new Binary[phases.length + 1];
        for (Phase phase : phases) {
            names[phase.code()] = RecordColumns.binary(nameOf(phase));
        }
        return names;
    }

    private static Map<String, Phase> phases() {
        Map<String, Phase> byName = new HashMap<>();
        for (Phase phase : Phase.values()) {
            byName.put(nameOf(phase), phase);
        }
        return byName;
    }
}
