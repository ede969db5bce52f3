package io.tokenstair.job.step;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.ModelSnapshot;
import io.tokenstair.archive.result.PriorityDisplacement;
import io.tokenstair.archive.result.Remark;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.clock.ClockGraph;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.job.clock.ClockBroadcast;
import io.tokenstair.job.clock.PublishedSegment;
import io.tokenstair.job.request.RequestInput;
import io.tokenstair.job.sink.RawArchiveRow;
import io.tokenstair.job.sink.RawArchiveRowTypeInfo;
import io.tokenstair.job.statistics.DurationPane;
import io.tokenstair.job.statistics.MomentPane;
import io.tokenstair.job.statistics.PaneCounter;
import io.tokenstair.job.statistics.StatisticsOutput;
import io.tokenstair.job.type.ZeroPackedSerializer;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Runs the {@link EngineTimeline} of each engine over its events in total order: events are buffered, sorted and drained up to the
 * watermark. In batch the input is sorted by event time already, so that what is older than the event at hand is complete and
 * nothing but one millisecond is buffered.
 *
 * <p>State per engine: its buffer and its {@link EngineState}; an engine is never forgotten, its open sequences are when they end.
 */
public final class AnalyseSteps
        extends KeyedBroadcastProcessFunction<String, EngineRecord, PublishedSegment, RequestInput> {
    private static final long serialVersionUID = 1L;

    /** How far apart drains of an engine are, event time: the steps of one drain find its sequences in the processor's cache. */
    public static final long TIMER_GRID_MILLIS = 500;

    /** Judged steps. */
    public static final OutputTag<StepAnalysis> STEPS =
            new OutputTag<>("steps", TypeInformation.of(StepAnalysis.class));

    /** Versions of the engines' step time models. */
    public static final OutputTag<ModelSnapshot> MODELS =
            new OutputTag<>("models", TypeInformation.of(ModelSnapshot.class));

    /** Findings of an engine as a whole. */
    public static final OutputTag<Finding> FINDINGS =
            new OutputTag<>("engine-findings", TypeInformation.of(Finding.class));

    /** What is worth knowing of engines and samples, and no finding. */
    public static final OutputTag<Remark> REMARKS = new OutputTag<>("remarks", TypeInformation.of(Remark.class));

    /** What was refused of steps: rows for the raw table of rejects. */
    public static final OutputTag<RawArchiveRow> REJECTED = new OutputTag<>("rejected", RawArchiveRowTypeInfo.INSTANCE);

    /** Durations by pane. */
    public static final OutputTag<DurationPane> DURATIONS =
            new OutputTag<>("durations", TypeInformation.of(DurationPane.class));

    /** Moments by pane. */
    public static final OutputTag<MomentPane> MOMENTS =
            new OutputTag<>("moments", TypeInformation.of(MomentPane.class));

    /** What priorities cost each other. */
    public static final OutputTag<PriorityDisplacement> DISPLACEMENT =
            new OutputTag<>("displacement", TypeInformation.of(PriorityDisplacement.class));

    private final boolean sortedInput;
    private transient ValueState<EngineBuffer> bufferState;
    private transient ValueState<EngineState> engineState;
    private transient PaneCounter counter;
    private transient ClockBroadcast clocks;

    /**
     * Analyses steps.
     *
     * @param sortedInput true in batch, where the input of a key comes sorted by event time
     */
    public AnalyseSteps(boolean sortedInput) {
        this.sortedInput = sortedInput;
    }

    @Override
    public void open(OpenContext context) {
        counter = new PaneCounter(StatisticsOutput.NOWHERE::durations);
        clocks = new ClockBroadcast();
        bufferState = getRuntimeContext()
                .getState(new ValueStateDescriptor<>("buffer", TypeInformation.of(EngineBuffer.class)));
        engineState = getRuntimeContext()
                .getState(new ValueStateDescriptor<>(
                        "engine",
                        new ZeroPackedSerializer<>(
                                getRuntimeContext().createSerializer(TypeInformation.of(EngineState.class)))));
    }

    @Override
    public void processElement(EngineRecord record, ReadOnlyContext context, Collector<RequestInput> out)
            throws Exception {
        EngineBuffer buffer = bufferState.value();
        if (buffer == null) {
            buffer = new EngineBuffer();
            context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
        }
        if (sortedInput && record.coarseEpochMillis != Long.MAX_VALUE) {
            if (!buffer.records.isEmpty() && older(buffer, record.coarseEpochMillis)) {
                drain(context.getCurrentKey(), buffer, record.coarseEpochMillis - 1, context, out);
            }
        } else if (!sortedInput && record.coarseEpochMillis != Long.MAX_VALUE) {
            arm(buffer, record.coarseEpochMillis, context);
        }
        buffer.records.add(record);
        bufferState.update(buffer);
    }

    @Override
    public void processBroadcastElement(PublishedSegment segment, Context context, Collector<RequestInput> out)
            throws Exception {
        clocks.accept(segment, context.getBroadcastState(ClockBroadcast.WAYS), context.currentWatermark());
    }

    private ClockGraph graph(ReadOnlyContext context) throws Exception {
        return clocks.graph(context.getBroadcastState(ClockBroadcast.WAYS));
    }

    private static boolean older(EngineBuffer buffer, long millis) {
        for (EngineRecord record : buffer.records) {
            if (record.coarseEpochMillis < millis) {
                return true;
            }
        }
        return false;
    }

    /** Sets the timer for what has this event time. One for later, of a partition that is ahead, gives way. */
    private static void arm(
            EngineBuffer buffer, long millis, KeyedBroadcastProcessFunction<?, ?, ?, ?>.ReadOnlyContext context) {
        long timer = (millis / TIMER_GRID_MILLIS + 1) * TIMER_GRID_MILLIS;
        if (buffer.timerMillis != Long.MIN_VALUE) {
            if (buffer.timerMillis <= timer) {
                return;
            }
            context.timerService().deleteEventTimeTimer(buffer.timerMillis);
        }
        buffer.timerMillis = timer;
        context.timerService().registerEventTimeTimer(buffer.timerMillis);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<RequestInput> out) throws Exception {
        EngineBuffer buffer = bufferState.value();
        if (buffer == null) {
            return;
        }
        long complete = context.timerService().currentWatermark();
        boolean end = complete == Long.MAX_VALUE;
        buffer.timerMillis = Long.MIN_VALUE;
        EngineState engine = drain(context.getCurrentKey(), buffer, complete, context, out);
        if (end) {
            timeline(engine, context, out).finish();
            counter.ship();
            bufferState.clear();
            engineState.clear();
            return;
        }
        timeline(engine, context, out).advance(complete);
        counter.ship();
        engineState.update(engine);
        if (!buffer.records.isEmpty()) {
            long earliest = Long.MAX_VALUE;
            for (EngineRecord record : buffer.records) {
                earliest = Math.min(earliest, record.coarseEpochMillis);
            }
            if (earliest != Long.MAX_VALUE) {
                arm(buffer, earliest, context);
            }
        } else if (!engine.waitingEvents.isEmpty() || !engine.openBatches.isEmpty()) {
            arm(buffer, complete, context);
        } else if (engine.statistics.openUntilMillis() != Long.MAX_VALUE) {
            arm(buffer, engine.statistics.openUntilMillis(), context);
        }
        bufferState.update(buffer);
    }

    /** Feeds everything up to an event time, in total order, and returns the engine's state. */
    private EngineState drain(
            String engineId, EngineBuffer buffer, long complete, ReadOnlyContext context, Collector<RequestInput> out)
            throws Exception {
        EngineState engine = engineState.value();
        if (engine == null) {
            engine = new EngineState();
            engine.engineId = engineId;
        }
        List<EngineRecord> due = new ArrayList<>();
        List<EngineRecord> later = new ArrayList<>();
        for (EngineRecord record : buffer.records) {
            (record.coarseEpochMillis <= complete ? due : later).add(record);
        }
        due.sort(EngineRecord.ORDER);
        EngineTimeline timeline = timeline(engine, context, out);
        EngineRecord before = null;
        for (EngineRecord record : due) {
            if (before != null && EngineRecord.ORDER.compare(before, record) == 0) {
                // The same event again: a log or an archive that was written twice.
                continue;
            }
            before = record;
            try {
                timeline.accept(EventCodec.decode(record.bytes), record.bytes);
            } catch (WireException e) {
                // Nobody decoded it before: it is no event, and without an archive there is no row of rejected ones to
                // write.
                continue;
            }
        }
        buffer.records = later;
        counter.ship();
        engineState.update(engine);
        return engine;
    }

    private EngineTimeline timeline(EngineState engine, ReadOnlyContext context, Collector<RequestInput> out)
            throws Exception {
        Shipping shipping = new Shipping(context, out);
        counter.shipTo(shipping::durations);
        return new EngineTimeline(engine, shipping, graph(context), shipping, counter);
    }

    /** Sends what a timeline says into the job. */
    private static final class Shipping implements EngineOutput, StatisticsOutput {
        private final KeyedBroadcastProcessFunction<String, EngineRecord, PublishedSegment, RequestInput>
                        .ReadOnlyContext
                context;
        private final Collector<RequestInput> out;

        Shipping(
                KeyedBroadcastProcessFunction<String, EngineRecord, PublishedSegment, RequestInput>.ReadOnlyContext
                        context,
                Collector<RequestInput> out) {
            this.context = context;
            this.out = out;
        }

        @Override
        public void tokens(TokenBatch batch) {
            out.collect(RequestInput.of(batch));
        }

        @Override
        public void fact(SequenceFact fact) {
            out.collect(RequestInput.of(fact));
        }

        @Override
        public void durations(DurationPane pane) {
            context.output(DURATIONS, pane);
        }

        @Override
        public void moments(MomentPane pane) {
            context.output(MOMENTS, pane);
        }

        @Override
        public void displacement(PriorityDisplacement row) {
            context.output(DISPLACEMENT, row);
        }

        @Override
        public void step(StepAnalysis step) {
            context.output(STEPS, step);
        }

        @Override
        public void model(ModelSnapshot snapshot) {
            context.output(MODELS, snapshot);
        }

        @Override
        public void finding(Finding finding) {
            context.output(FINDINGS, finding);
        }

        @Override
        public void remark(Remark remark) {
            context.output(REMARKS, remark);
        }

        @Override
        public void rejected(LoggedEvent rejected) {
            RawArchiveRow.forEach(rejected, false, row -> context.output(REJECTED, row));
        }
    }
}
