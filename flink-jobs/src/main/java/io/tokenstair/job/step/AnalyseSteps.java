package io.tokenstair.job.step;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.LayerReport;
import io.tokenstair.archive.result.ModelSnapshot;
import io.tokenstair.archive.result.PriorityDisplacement;
import io.tokenstair.archive.result.Remark;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.clock.ClockGraph;
import io.tokenstair.event.EngineConfigured;
import io.tokenstair.event.Event;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.KvBlocksStored;
import io.tokenstair.event.KvLookup;
import io.tokenstair.event.KvTransferred;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.ShapeCompiled;
import io.tokenstair.event.ShardLoaded;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.job.clock.ClockBroadcast;
import io.tokenstair.job.clock.PublishedSegment;
import io.tokenstair.job.request.RequestBlocks;
import io.tokenstair.job.request.RequestInput;
import io.tokenstair.job.sink.RawArchiveRow;
import io.tokenstair.job.sink.RawArchiveRowTypeInfo;
import io.tokenstair.job.statistics.DurationPane;
import io.tokenstair.job.statistics.MomentPane;
import io.tokenstair.job.statistics.PaneCounter;
import io.tokenstair.job.statistics.StatisticsOutput;
import io.tokenstair.job.timer.EarliestTimer;
import io.tokenstair.job.type.ZeroPackedSerializer;
import io.tokenstair.milestone.Milestone;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;

/**
 * Runs the {@link EngineTimeline} of each engine over its events in total order: events are buffered, sorted and drained up to the
 * watermark. In batch the input is sorted by event time already, so that what is older than the event at hand is complete and
 * nothing but one millisecond is buffered.
 *
 * <p>Each data-parallel rank of an engine is a scheduler of its own, with a timeline of its own. What names no rank is told to all that are
 * known by then.
 *
 * <p>State per engine: its buffer and an {@link EngineState} per rank; an engine is never forgotten, its open sequences are when they end.
 */
public final class AnalyseSteps
        extends KeyedBroadcastProcessFunction<String, EngineRecord, PublishedSegment, RequestInput>
        implements CheckpointedFunction {
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

    /** Rare facts of engines as a whole, for the rules. */
    public static final OutputTag<Milestone> MILESTONES =
            new OutputTag<>("engine-milestones", TypeInformation.of(Milestone.class));

    /** What is worth knowing of engines and samples, and no finding. */
    public static final OutputTag<Remark> REMARKS = new OutputTag<>("remarks", TypeInformation.of(Remark.class));

    /** What was refused of steps: rows for the raw table of rejects. */
    public static final OutputTag<RawArchiveRow> REJECTED = new OutputTag<>("rejected", RawArchiveRowTypeInfo.INSTANCE);

    /** What is known of layers of engines at the end of the input. */
    public static final OutputTag<LayerReport> LAYERS =
            new OutputTag<>("engine-layers", TypeInformation.of(LayerReport.class));

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
    private final boolean inBlocks;
    private transient @Nullable RequestBlocks blocks;
    private transient ValueState<EngineBuffer> bufferState;
    private transient ValueState<EngineState> engineState;
    private transient MapState<Integer, EngineState> furtherRanks;
    private transient PaneCounter counter;
    private transient ClockBroadcast clocks;
    private transient EngineGauges gauges;

    /**
     * Analyses steps.
     *
     * @param sortedInput true in batch, where the input of a key comes sorted by event time
     */
    public AnalyseSteps(boolean sortedInput) {
        this(sortedInput, false);
    }

    /**
     * Analyses steps.
     *
     * @param sortedInput true in batch, where the input of a key comes sorted by event time
     * @param inBlocks whether what it says of requests comes in blocks, for an operator of the same parallelism; not in batch
     */
    public AnalyseSteps(boolean sortedInput, boolean inBlocks) {
        if (sortedInput && inBlocks) {
            throw new IllegalArgumentException("Cannot sort blocks by request");
        }
        this.sortedInput = sortedInput;
        this.inBlocks = inBlocks;
    }

    @Override
    public void open(OpenContext context) {
        counter = new PaneCounter(StatisticsOutput.NOWHERE::durations);
        clocks = new ClockBroadcast();
        TaskInfo task = getRuntimeContext().getTaskInfo();
        blocks = inBlocks
                ? new RequestBlocks(task.getMaxNumberOfParallelSubtasks(), task.getNumberOfParallelSubtasks())
                : null;
        bufferState = getRuntimeContext()
                .getState(new ValueStateDescriptor<>("buffer", TypeInformation.of(EngineBuffer.class)));
        engineState = getRuntimeContext().getState(new ValueStateDescriptor<>("engine", engineSerializer()));
        furtherRanks = getRuntimeContext()
                .getMapState(new MapStateDescriptor<>("ranks", IntSerializer.INSTANCE, engineSerializer()));
        gauges = new EngineGauges(engineSerializer());
        if (!sortedInput) {
            tell(getRuntimeContext().getMetricGroup());
        }
    }

    private TypeSerializer<EngineState> engineSerializer() {
        return new ZeroPackedSerializer<>(getRuntimeContext().createSerializer(TypeInformation.of(EngineState.class)));
    }

    /** Shows how many engines the subtask follows, what of them is open and waits, and what all of it takes. */
    void tell(MetricGroup metrics) {
        gauges.tell(metrics);
    }

    @Override
    public void initializeState(FunctionInitializationContext context) {}

    /** Nothing but the sizes is due: the states are Flink's. */
    @Override
    public void snapshotState(FunctionSnapshotContext context) {
        gauges.checkpointed();
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
            if (buffer.earliestMillis() < record.coarseEpochMillis) {
                drain(context.getCurrentKey(), buffer, record.coarseEpochMillis - 1, context, out);
            }
        } else if (!sortedInput && record.coarseEpochMillis != Long.MAX_VALUE) {
            arm(buffer, record.coarseEpochMillis, context);
        }
        buffer.add(record);
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

    /** Sets the timer for what has this event time. One for later, of a partition that is ahead, gives way. */
    private static void arm(
            EngineBuffer buffer, long millis, KeyedBroadcastProcessFunction<?, ?, ?, ?>.ReadOnlyContext context) {
        long timer = EarliestTimer.after(millis, TIMER_GRID_MILLIS);
        buffer.timerMillis = EarliestTimer.arm(context.timerService(), buffer.timerMillis, timer);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<RequestInput> out) throws Exception {
        EngineBuffer buffer = bufferState.value();
        if (buffer == null) {
            return;
        }
        long complete = context.timerService().currentWatermark();
        boolean end = complete == Long.MAX_VALUE;
        buffer.timerMillis = EarliestTimer.NONE;
        SortedMap<Integer, EngineState> ranks = drain(context.getCurrentKey(), buffer, complete, context, out);
        for (EngineState rank : ranks.values()) {
            EngineTimeline timeline = timeline(rank, context, out);
            if (end) {
                timeline.finish();
            } else {
                timeline.advance(complete);
            }
            counter.ship();
        }
        if (blocks != null) {
            blocks.flush(out);
        }
        if (end) {
            bufferState.clear();
            engineState.clear();
            furtherRanks.clear();
            gauges.ended(context.getCurrentKey());
            return;
        }
        keep(ranks);
        if (!sortedInput) {
            gauges.drained(context.getCurrentKey(), buffer, ranks.values());
        }
        if (!buffer.records.isEmpty()) {
            long earliest = buffer.earliestMillis();
            if (earliest != Long.MAX_VALUE) {
                arm(buffer, earliest, context);
            }
        } else {
            long next = Long.MAX_VALUE;
            for (EngineState rank : ranks.values()) {
                boolean waits = !rank.waitingEvents.isEmpty() || !rank.openBatches.isEmpty();
                next = Math.min(next, waits ? complete : rank.statistics.openUntilMillis());
            }
            if (next != Long.MAX_VALUE) {
                arm(buffer, next, context);
            }
        }
        bufferState.update(buffer);
    }

    /** The states of an engine's ranks. */
    private SortedMap<Integer, EngineState> ranks(String engineId) throws Exception {
        SortedMap<Integer, EngineState> ranks = new TreeMap<>();
        EngineState engine = engineState.value();
        if (engine == null) {
            engine = new EngineState();
            engine.engineId = engineId;
        }
        ranks.put(0, engine);
        if (engine.severalRanks) {
            for (Map.Entry<Integer, EngineState> entry : furtherRanks.entries()) {
                ranks.put(entry.getKey(), entry.getValue());
            }
        }
        return ranks;
    }

    private void keep(SortedMap<Integer, EngineState> ranks) throws Exception {
        for (Map.Entry<Integer, EngineState> entry : ranks.entrySet()) {
            if (entry.getKey() == 0) {
                engineState.update(entry.getValue());
            } else {
                furtherRanks.put(entry.getKey(), entry.getValue());
            }
        }
    }

    /** The rank that an event is of; null where it is of the whole engine. */
    private static @Nullable Integer rankOf(Event event) {
        if (event instanceof StepCompleted step) {
            return step.dpRank();
        } else if (event instanceof RequestQueued queued) {
            return queued.dpRank();
        } else if (event instanceof RequestPreempted preempted) {
            return preempted.dpRank();
        } else if (event instanceof RequestFinished finished) {
            return finished.dpRank();
        } else if (event instanceof KvBlocksStored stored) {
            return stored.dpRank();
        } else if (event instanceof KvBlocksEvicted evicted) {
            return evicted.dpRank();
        } else if (event instanceof KvLookup lookup) {
            return lookup.dpRank();
        } else if (event instanceof KvTransferred transferred) {
            return transferred.dpRank();
        } else if (event instanceof EngineConfigured configured) {
            return configured.dpRank();
        } else if (event instanceof ShapeCompiled compiled) {
            return compiled.dpRank();
        } else if (event instanceof ShardLoaded || event instanceof MetricSampled) {
            // Starts and counters are told of the engine once.
            return 0;
        }
        return null;
    }

    /** Feeds everything up to an event time, in total order, and returns the states of the engine's ranks. */
    private SortedMap<Integer, EngineState> drain(
            String engineId, EngineBuffer buffer, long complete, ReadOnlyContext context, Collector<RequestInput> out)
            throws Exception {
        SortedMap<Integer, EngineState> ranks = ranks(engineId);
        Map<Integer, EngineTimeline> timelines = new TreeMap<>();
        for (Map.Entry<Integer, EngineState> entry : ranks.entrySet()) {
            timelines.put(entry.getKey(), timeline(entry.getValue(), context, out));
        }
        EngineTimeline first = Objects.requireNonNull(timelines.get(0));
        EngineRecord before = null;
        for (EngineRecord record : buffer.takeDue(complete)) {
            if (before != null && EngineRecord.ORDER.compare(before, record) == 0) {
                // The same event again: a log or an archive that was written twice.
                continue;
            }
            before = record;
            try {
                LoggedEvent logged = EventCodec.decode(record.bytes);
                Integer rank = rankOf(logged.event());
                if (rank == null) {
                    for (EngineTimeline timeline : timelines.values()) {
                        timeline.take(logged, record.bytes);
                    }
                } else if (rank == 0) {
                    first.take(logged, record.bytes);
                } else {
                    EngineTimeline timeline = timelines.get(rank);
                    if (timeline == null) {
                        timeline = timeline(further(ranks, rank), context, out);
                        timelines.put(rank, timeline);
                    }
                    timeline.take(logged, record.bytes);
                }
            } catch (WireException e) {
                // Nobody decoded it before: it is no event, and without an archive there is no row of rejected ones to
                // write.
                continue;
            }
        }
        timelines.values().forEach(EngineTimeline::settle);
        counter.ship();
        keep(ranks);
        return ranks;
    }

    private static EngineState further(SortedMap<Integer, EngineState> ranks, int rank) {
        EngineState engine = Objects.requireNonNull(ranks.get(0));
        engine.severalRanks = true;
        EngineState further = new EngineState();
        further.engineId = engine.engineId;
        ranks.put(rank, further);
        return further;
    }

    private EngineTimeline timeline(EngineState engine, ReadOnlyContext context, Collector<RequestInput> out)
            throws Exception {
        Shipping shipping = new Shipping(context, out, blocks);
        counter.shipTo(shipping::durations);
        return new EngineTimeline(engine, shipping, graph(context), shipping, counter);
    }

    /** Sends what a timeline says into the job. */
    private static final class Shipping implements EngineOutput, StatisticsOutput {
        private final KeyedBroadcastProcessFunction<String, EngineRecord, PublishedSegment, RequestInput>
                        .ReadOnlyContext
                context;
        private final Collector<RequestInput> out;
        private final @Nullable RequestBlocks blocks;

        Shipping(
                KeyedBroadcastProcessFunction<String, EngineRecord, PublishedSegment, RequestInput>.ReadOnlyContext
                        context,
                Collector<RequestInput> out,
                @Nullable RequestBlocks blocks) {
            this.blocks = blocks;
            this.context = context;
            this.out = out;
        }

        @Override
        public void tokens(TokenBatch batch) {
            say(RequestInput.of(batch));
        }

        @Override
        public void fact(SequenceFact fact) {
            say(RequestInput.of(fact));
        }

        private void say(RequestInput input) {
            if (blocks == null) {
                out.collect(input);
                return;
            }
            try {
                blocks.add(input, out);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
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
        public void milestone(Milestone milestone) {
            context.output(MILESTONES, milestone);
        }

        @Override
        public void remark(Remark remark) {
            context.output(REMARKS, remark);
        }

        @Override
        public void layer(LayerReport report) {
            context.output(LAYERS, report);
        }

        @Override
        public void rejected(LoggedEvent rejected) {
            RawArchiveRow.forEach(rejected, false, row -> context.output(REJECTED, row));
        }
    }
}
