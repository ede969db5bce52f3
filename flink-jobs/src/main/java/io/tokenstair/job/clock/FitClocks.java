package io.tokenstair.job.clock;

import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.job.sink.RawArchiveRow;
import io.tokenstair.job.sink.RawArchiveRowTypeInfo;
import io.tokenstair.job.timer.EarliestTimer;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Runs {@link ClockFitting} over all clock samples of the job in total order: they are buffered, sorted and drained up to the watermark.
 * What it says has passed downstream before that watermark does, so that whoever aligns the stamps of an event time has the segments of that
 * event time.
 *
 * <p>One key for all clocks: samples are few, and only who sees all ways can bound their number alike in both modes. State:
 * its buffer and {@link FittingState}; a way is forgotten {@link ClockFitting#MEMORY_MILLIS} after its last record when room is needed.
 */
public final class FitClocks extends KeyedProcessFunction<String, ClockRecord, PublishedSegment> {
    private static final long serialVersionUID = 1L;
    private static final long TIMER_GRID_MILLIS = 100;

    /** The one key. */
    public static final String KEY = "clocks";

    /** Segments that were made here, for the raw archive. */
    public static final OutputTag<RawArchiveRow> ARCHIVE =
            new OutputTag<>("clock-archive", RawArchiveRowTypeInfo.INSTANCE);

    private final boolean sortedInput;
    private final boolean archive;
    private transient ValueState<ClockBuffer> bufferState;
    private transient ValueState<FittingState> fittingState;

    /**
     * Fits clocks.
     *
     * @param sortedInput true in batch, where the input of a key comes sorted by event time
     * @param archive whether rows for the raw archive are wanted
     */
    public FitClocks(boolean sortedInput, boolean archive) {
        this.sortedInput = sortedInput;
        this.archive = archive;
    }

    @Override
    public void open(OpenContext context) {
        bufferState = getRuntimeContext()
                .getState(new ValueStateDescriptor<>("buffer", TypeInformation.of(ClockBuffer.class)));
        fittingState = getRuntimeContext()
                .getState(new ValueStateDescriptor<>("fitting", TypeInformation.of(FittingState.class)));
    }

    @Override
    public void processElement(ClockRecord record, Context context, Collector<PublishedSegment> out) throws Exception {
        ClockBuffer buffer = bufferState.value();
        if (buffer == null) {
            buffer = new ClockBuffer();
            context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
        }
        long millis = record.coarseEpochMillis;
        if (sortedInput && millis != Long.MAX_VALUE) {
            if (!buffer.records.isEmpty() && buffer.records.get(0).coarseEpochMillis < millis) {
                drain(buffer, millis - 1, context, out);
            }
        } else if (!sortedInput && millis != Long.MAX_VALUE) {
            arm(buffer, millis, context);
        }
        buffer.records.add(record);
        bufferState.update(buffer);
    }

    private static void arm(ClockBuffer buffer, long millis, KeyedProcessFunction<?, ?, ?>.Context context) {
        long timer = EarliestTimer.after(millis, TIMER_GRID_MILLIS);
        buffer.timerMillis = EarliestTimer.arm(context.timerService(), buffer.timerMillis, timer);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<PublishedSegment> out) throws Exception {
        ClockBuffer buffer = bufferState.value();
        if (buffer == null) {
            return;
        }
        long complete = context.timerService().currentWatermark();
        buffer.timerMillis = EarliestTimer.NONE;
        drain(buffer, complete, context, out);
        if (complete == Long.MAX_VALUE) {
            bufferState.clear();
            fittingState.clear();
            return;
        }
        long earliest = Long.MAX_VALUE;
        for (ClockRecord record : buffer.records) {
            earliest = Math.min(earliest, record.coarseEpochMillis);
        }
        if (earliest != Long.MAX_VALUE) {
            arm(buffer, earliest, context);
        }
        bufferState.update(buffer);
    }

    /** Feeds everything up to an event time, in total order. */
    private void drain(ClockBuffer buffer, long complete, Context context, Collector<PublishedSegment> out)
            throws Exception {
        FittingState state = fittingState.value();
        if (state == null) {
            state = new FittingState();
        }
        List<ClockRecord> due = new ArrayList<>();
        List<ClockRecord> later = new ArrayList<>();
        for (ClockRecord record : buffer.records) {
            (record.coarseEpochMillis <= complete ? due : later).add(record);
        }
        due.sort(ClockRecord.ORDER);
        ClockFitting fitting = new ClockFitting(state, new Shipping(context, out));
        ClockRecord before = null;
        for (ClockRecord record : due) {
            if (before != null && ClockRecord.ORDER.compare(before, record) == 0) {
                // The same event again: a log or an archive that was written twice.
                continue;
            }
            before = record;
            try {
                fitting.accept(EventCodec.decode(record.bytes));
            } catch (WireException e) {
                throw new IllegalStateException("Cannot read an event that was read before", e);
            }
        }
        buffer.records = later;
        fittingState.update(state);
    }

    /** Sends what is made into the job. */
    private final class Shipping implements ClockFitting.Output {
        private final KeyedProcessFunction<String, ClockRecord, PublishedSegment>.Context context;
        private final Collector<PublishedSegment> out;

        Shipping(
                KeyedProcessFunction<String, ClockRecord, PublishedSegment>.Context context,
                Collector<PublishedSegment> out) {
            this.context = context;
            this.out = out;
        }

        @Override
        public void published(PublishedSegment segment) {
            out.collect(segment);
        }

        @Override
        public void made(LoggedEvent event) {
            if (archive) {
                RawArchiveRow.forEach(event, false, row -> context.output(ARCHIVE, row));
            }
        }
    }
}
