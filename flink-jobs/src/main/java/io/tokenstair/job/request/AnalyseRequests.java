package io.tokenstair.job.request;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.job.clock.ClockBroadcast;
import io.tokenstair.job.clock.PublishedSegment;
import io.tokenstair.job.statistics.DurationPane;
import io.tokenstair.job.step.AnalyseSteps;
import io.tokenstair.job.step.EngineTimeline;
import io.tokenstair.job.timer.EarliestTimer;
import io.tokenstair.job.type.ZeroPackedSerializer;
import io.tokenstair.milestone.Milestone;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Runs the {@link RequestLife} of each request over its inputs in order. An engine's timeline may say something up to
 * {@link #HOLD_MILLIS} of event time after it happened, so inputs are drained that far behind the watermark; in batch they are
 * drained when the key is complete. Windows close at instants that the inputs alone decide, never when a timer fires.
 *
 * <p>State per request: inputs of the hold, and {@link RequestState}; cleared {@link
 * RequestLife#MEMORY_MILLIS} after the last use of the id closed. {@link StreamRequests} does the same in streams.
 */
public final class AnalyseRequests
        extends KeyedBroadcastProcessFunction<String, RequestInput, PublishedSegment, TokenAnalysis> {
    private static final long serialVersionUID = 1L;

    /** How far behind the watermark inputs are drained. */
    public static final long HOLD_MILLIS = EngineTimeline.COVER_MILLIS
            + EngineTimeline.BATCH_NANOS / 1_000_000
            + AnalyseSteps.TIMER_GRID_MILLIS
            + 1_500;

    /** Durations by pane. */
    public static final OutputTag<DurationPane> DURATIONS =
            new OutputTag<>("durations", TypeInformation.of(DurationPane.class));

    /** Closed sequences. */
    public static final OutputTag<RequestAnalysis> REQUESTS =
            new OutputTag<>("requests", TypeInformation.of(RequestAnalysis.class));

    /** Conclusions. */
    public static final OutputTag<Finding> FINDINGS = new OutputTag<>("findings", TypeInformation.of(Finding.class));

    /** Milestones, for the rules. */
    public static final OutputTag<Milestone> MILESTONES =
            new OutputTag<>("milestones", TypeInformation.of(Milestone.class));

    /** Tokens of which there is nothing to say but their numbers, when rows of them are not wanted. */
    public static final OutputTag<TokenRun> RUNS = new OutputTag<>("runs", TokenRunTypeInfo.INSTANCE);

    private final boolean runs;
    transient ValueState<RequestBuffer> bufferState;
    transient ValueState<RequestState> requestState;
    transient RequestDrain drain;
    transient ClockBroadcast clocks;

    /** Says a row for every token. */
    public AnalyseRequests() {
        this(false);
    }

    /**
     * Analyses requests.
     *
     * @param runs whether tokens of which there is nothing to say but their numbers come as {@link #RUNS}, not as rows
     */
    public AnalyseRequests(boolean runs) {
        this.runs = runs;
    }

    /** Inputs of a request that wait. */
    static ValueStateDescriptor<RequestBuffer> bufferDescriptor() {
        return new ValueStateDescriptor<>("buffer", TypeInformation.of(RequestBuffer.class));
    }

    /** What writes inputs of a request that wait. */
    TypeSerializer<RequestBuffer> bufferSerializer() {
        return getRuntimeContext().createSerializer(TypeInformation.of(RequestBuffer.class));
    }

    /** What writes what is remembered of a request. */
    TypeSerializer<RequestState> requestSerializer() {
        return new ZeroPackedSerializer<>(getRuntimeContext().createSerializer(TypeInformation.of(RequestState.class)));
    }

    @Override
    public void open(OpenContext context) {
        drain = new RequestDrain(runs);
        clocks = new ClockBroadcast();
        bufferState = getRuntimeContext().getState(bufferDescriptor());
        requestState = getRuntimeContext().getState(new ValueStateDescriptor<>("request", requestSerializer()));
    }

    @Override
    public void processElement(RequestInput input, ReadOnlyContext context, Collector<TokenAnalysis> out)
            throws Exception {
        RequestBuffer buffer = bufferState.value();
        if (buffer == null) {
            buffer = new RequestBuffer();
        }
        if (!buffer.inputs.isEmpty()) {
            // They wait for seconds: what all of them repeat is kept once.
            input.requestId = buffer.inputs.get(0).requestId;
        }
        buffer.add(input);
        arm(buffer, input.coarseEpochMillis, context);
        bufferState.update(buffer);
    }

    @Override
    public void processBroadcastElement(PublishedSegment segment, Context context, Collector<TokenAnalysis> out)
            throws Exception {
        clocks.accept(segment, context.getBroadcastState(ClockBroadcast.WAYS), context.currentWatermark());
    }

    /** Sets the timer for what has this event time. One for later, perhaps for the end of the window, gives way. */
    private static void arm(
            RequestBuffer buffer, long millis, KeyedBroadcastProcessFunction<?, ?, ?, ?>.ReadOnlyContext context) {
        buffer.timerMillis =
                EarliestTimer.arm(context.timerService(), buffer.timerMillis, RequestDrain.timerMillis(millis));
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<TokenAnalysis> out) throws Exception {
        RequestBuffer buffer = bufferState.value();
        if (buffer == null) {
            return;
        }
        buffer.timerMillis = EarliestTimer.NONE;
        RequestState request = requestState.value();
        if (request == null) {
            request = new RequestState();
        }
        long next = drain.drain(
                context.getCurrentKey(),
                buffer,
                request,
                context.timerService().currentWatermark(),
                clocks.graph(context.getBroadcastState(ClockBroadcast.WAYS)),
                new Sides(context, out));
        if (next == RequestDrain.FORGOTTEN) {
            bufferState.clear();
            requestState.clear();
            return;
        }
        // Whatever is open or waits has a timer: none is needed for the end, which lets all of them fire.
        arm(buffer, next, context);
        bufferState.update(buffer);
        requestState.update(request);
    }

    /** Outputs of the function. */
    private record Sides(
            KeyedBroadcastProcessFunction<String, RequestInput, PublishedSegment, TokenAnalysis>.ReadOnlyContext
                    context,
            Collector<TokenAnalysis> out)
            implements RequestDrain.Sides {
        @Override
        public void token(TokenAnalysis token) {
            out.collect(token);
        }

        @Override
        public <X> void say(OutputTag<X> tag, X value) {
            context.output(tag, value);
        }
    }
}
