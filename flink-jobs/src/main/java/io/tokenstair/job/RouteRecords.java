package io.tokenstair.job;

import io.tokenstair.event.ClockFitted;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.job.clock.ClockRecord;
import io.tokenstair.job.request.RequestInput;
import io.tokenstair.job.sink.RawArchiveRow;
import io.tokenstair.job.sink.RawArchiveRowTypeInfo;
import io.tokenstair.job.source.HeaderPeek;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.source.RawRecordTypeInfo;
import io.tokenstair.job.step.EngineRecord;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Decodes each record, decides once whether it is late, and sends it on: to the archive (always), to its engine (main output), to
 * its request, to the clocks. What cannot be decoded becomes a {@link Rejected} row of the archive: accepted + rejected = read. A late event is
 * archived with that flag and goes no further. No state.
 */
public final class RouteRecords extends ProcessFunction<RawRecord, EngineRecord> {
    private static final long serialVersionUID = 1L;

    /** What observers say of requests. */
    public static final OutputTag<RequestInput> OBSERVED =
            new OutputTag<>("observed", TypeInformation.of(RequestInput.class));

    /** Rows for the raw tables. */
    public static final OutputTag<RawArchiveRow> ARCHIVE = new OutputTag<>("archive", RawArchiveRowTypeInfo.INSTANCE);

    /** Clock samples, and clock segments that were made before. */
    public static final OutputTag<ClockRecord> CLOCKS =
            new OutputTag<>("clocks", TypeInformation.of(ClockRecord.class));

    /** Revisions of rules, where they are scheduled. */
    public static final OutputTag<RawRecord> RULES = new OutputTag<>("rules", RawRecordTypeInfo.INSTANCE);

    private final boolean archive;
    private final boolean schedules;

    /**
     * Routes records, none of them to where rules are scheduled.
     *
     * @param archive whether raw rows are wanted
     */
    public RouteRecords(boolean archive) {
        this(archive, false);
    }

    /**
     * Routes records.
     *
     * @param archive whether raw rows are wanted
     * @param schedules whether revisions of rules go to {@link #RULES} alone, where they are archived with the instant they are given
     */
    public RouteRecords(boolean archive, boolean schedules) {
        this.archive = archive;
        this.schedules = schedules;
    }

    @Override
    public void processElement(RawRecord record, Context context, Collector<EngineRecord> engines) {
        if (!archive && record.kindTag == EventKind.STEP_COMPLETED.tag()) {
            // Steps are nearly all there is: without an archive their timeline alone decodes them, and refuses them if
            // it cannot.
            String engineId = HeaderPeek.engineId(record);
            if (engineId != null) {
                if (!isLate(record, context)) {
                    engines.collect(toEngine(record, engineId));
                }
                return;
            }
        }
        LoggedEvent logged;
        try {
            logged = EventCodec.decode(record.bytes);
        } catch (WireException e) {
            if (archive) {
                RawArchiveRow.forEach(rejected(record, e), false, row -> context.output(ARCHIVE, row));
            }
            return;
        }
        if (schedules && logged.event() instanceof RuleRevised) {
            context.output(RULES, record);
            return;
        }
        boolean late = isLate(record, context);
        if (archive) {
            RawArchiveRow.forEach(logged, late, row -> context.output(ARCHIVE, row));
        }
        if (late) {
            return;
        }
        Event event = logged.event();
        String engineId = EventRoutes.engineOf(event);
        if (engineId != null) {
            engines.collect(toEngine(record, engineId));
        }
        if (event instanceof ClockSampled || event instanceof ClockFitted) {
            context.output(CLOCKS, ClockRecord.of(record));
        }
        String requestId = EventRoutes.requestOf(event);
        if (requestId != null) {
            context.output(
                    OBSERVED,
                    RequestInput.observed(
                            requestId,
                            coarseMillis(record),
                            record.collectorId,
                            record.collectorEpoch,
                            record.sequence,
                            record.bytes));
        }
    }

    private static boolean isLate(RawRecord record, ProcessFunction<RawRecord, EngineRecord>.Context context) {
        return record.late
                || (record.isDated()
                        && record.coarseEpochMillis <= context.timerService().currentWatermark());
    }

    private static long coarseMillis(RawRecord record) {
        return record.isDated() ? record.coarseEpochMillis : Long.MAX_VALUE;
    }

    private static EngineRecord toEngine(RawRecord record, String engineId) {
        EngineRecord out = new EngineRecord();
        out.engineId = engineId;
        out.coarseEpochMillis = coarseMillis(record);
        out.collectorId = record.collectorId;
        out.collectorEpoch = record.collectorEpoch;
        out.sequence = record.sequence;
        out.bytes = record.bytes;
        return out;
    }

    private static LoggedEvent rejected(RawRecord record, WireException reason) {
        EventHeader header = new EventHeader(
                "decode/" + record.origin,
                0,
                record.ordinal,
                "none",
                null,
                record.isDated() ? Long.valueOf(record.coarseEpochMillis) : null);
        return new LoggedEvent(
                header,
                new Rejected(record.origin, null, null, "record " + record.ordinal + ": " + reason.getMessage(), null));
    }
}
