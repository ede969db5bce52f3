package io.tokenstair.job.request;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.job.clock.ClockBroadcast;
import io.tokenstair.job.clock.PublishedSegment;
import io.tokenstair.job.statistics.DurationPane;
import io.tokenstair.job.statistics.PaneCounter;
import io.tokenstair.job.statistics.StatisticsOutput;
import io.tokenstair.job.step.AnalyseSteps;
import io.tokenstair.job.step.EngineTimeline;
import io.tokenstair.job.timer.EarliestTimer;
import io.tokenstair.job.type.ZeroPackedSerializer;
import io.tokenstair.milestone.Milestone;
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
 * Runs the {@link RequestLife} of each request over its inputs in order. An engine's timeline may say something up to
 * {@link #HOLD_MILLIS} of event time after it happened, so inputs are drained that far behind the watermark; in batch they are
 * drained when the key is complete. Windows close at instants that the inputs alone decide, never when a timer fires.
 *
 * <p>State per request: inputs of the hold, and {@link RequestState}; cleared {@link
 * RequestLife#MEMORY_MILLIS} after the last use of the id closed.
 */
public final class AnalyseRequests
        extends KeyedBroadcastProcessFunction<String, RequestInput, PublishedSegment, TokenAnalysis> {
    private static final long serialVersionUID = 1L;

    /** How far behind the watermark inputs are drained. */
    public static final long HOLD_MILLIS = EngineTimeline.COVER_MILLIS
            + EngineTimeline.BATCH_NANOS / 1_000_000
            + AnalyseSteps.TIMER_GRID_MILLIS
            + 1_500;

    private static final long TIMER_GRID_MILLIS = 500;

    /** The timer of inputs without event time, which wait for the end of everything. */
    private static final long END = Long.MAX_VALUE;

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
    private transient ValueState<RequestBuffer> bufferState;
    private transient ValueState<RequestState> requestState;
    private transient List<RequestInput> due;
    private transient PaneCounter counter;
    private transient ClockBroadcast clocks;

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

    @Override
    public void open(OpenContext context) {
        due = new ArrayList<>();
        counter = new PaneCounter(StatisticsOutput.NOWHERE::durations);
        clocks = new ClockBroadcast();
        bufferState = getRuntimeContext()
                .getState(new ValueStateDescriptor<>("buffer", TypeInformation.of(RequestBuffer.class)));
        requestState = getRuntimeContext()
                .getState(new ValueStateDescriptor<>(
                        "request",
                        new ZeroPackedSerializer<>(
                                getRuntimeContext().createSerializer(TypeInformation.of(RequestState.class)))));
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
            RequestInput first = buffer.inputs.get(0);
            input.requestId = first.requestId;
            input.origin = input.origin.equals(first.origin) ? first.origin : input.origin;
        }
        buffer.inputs.add(input);
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
        long timer = millis > END - HOLD_MILLIS - TIMER_GRID_MILLIS
                ? END
                : EarliestTimer.after(millis + HOLD_MILLIS, TIMER_GRID_MILLIS);
        buffer.timerMillis = EarliestTimer.arm(context.timerService(), buffer.timerMillis, timer);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<TokenAnalysis> out) throws Exception {
        RequestBuffer buffer = bufferState.value();
        if (buffer == null) {
            return;
        }
        long watermark = context.timerService().currentWatermark();
        boolean end = watermark == Long.MAX_VALUE;
        long complete = end ? Long.MAX_VALUE : watermark - HOLD_MILLIS;
        buffer.timerMillis = EarliestTimer.NONE;
        RequestState request = requestState.value();
        if (request == null) {
            request = new RequestState();
        }
        counter.shipTo(pane -> context.output(DURATIONS, pane));
        RequestLife life = new RequestLife(
                context.getCurrentKey(),
                request,
                new Shipping(context, out, runs),
                counter,
                clocks.graph(context.getBroadcastState(ClockBroadcast.WAYS)));
        List<RequestInput> taken = takeDue(buffer.inputs, complete);
        RequestInput before = null;
        for (RequestInput input : taken) {
            if (before != null
                    && input.event != null
                    && before.event != null
                    && RequestInput.ORDER.compare(before, input) == 0) {
                // The same event again: a log or an archive that was written twice.
                continue;
            }
            before = input;
            life.accept(input);
        }
        taken.clear();
        counter.ship();
        if (end) {
            life.finish();
            bufferState.clear();
            requestState.clear();
            return;
        }
        boolean forgotten = life.advance(complete);
        if (forgotten && buffer.inputs.isEmpty()) {
            bufferState.clear();
            requestState.clear();
            return;
        }
        long next = life.nextEndMillis();
        for (RequestInput input : buffer.inputs) {
            next = Math.min(next, input.coarseEpochMillis);
        }
        if (buffer.inputs.isEmpty() && request.open.isEmpty()) {
            // It may rest for a day: lists that have been long keep their room.
            buffer.inputs = new ArrayList<>(0);
            request.open = new ArrayList<>(0);
        }
        // Whatever is open or waits has a timer: none is needed for the end, which lets all of them fire.
        arm(buffer, next, context);
        bufferState.update(buffer);
        requestState.update(request);
    }

    /** Takes what event time has completed out of the inputs, in order. The list is the same at every call. */
    private List<RequestInput> takeDue(List<RequestInput> inputs, long complete) {
        int kept = 0;
        for (int i = 0; i < inputs.size(); i++) {
            RequestInput input = inputs.get(i);
            if (input.coarseEpochMillis <= complete) {
                due.add(input);
            } else {
                inputs.set(kept++, input);
            }
        }
        inputs.subList(kept, inputs.size()).clear();
        due.sort(RequestInput.ORDER);
        return due;
    }

    /** Sends what a life says into the job. */
    private static final class Shipping implements RequestOutput {
        private final KeyedBroadcastProcessFunction<String, RequestInput, PublishedSegment, TokenAnalysis>
                        .ReadOnlyContext
                context;
        private final Collector<TokenAnalysis> out;

        private final boolean runs;

        Shipping(
                KeyedBroadcastProcessFunction<String, RequestInput, PublishedSegment, TokenAnalysis>.ReadOnlyContext
                        context,
                Collector<TokenAnalysis> out,
                boolean runs) {
            this.runs = runs;
            this.context = context;
            this.out = out;
        }

        @Override
        public void token(TokenAnalysis token) {
            out.collect(token);
        }

        @Override
        public void tokens(TokenRun run) {
            if (runs) {
                context.output(RUNS, run);
            } else {
                run.forEach(out::collect);
            }
        }

        @Override
        public void request(RequestAnalysis request) {
            context.output(REQUESTS, request);
        }

        @Override
        public void finding(Finding finding) {
            context.output(FINDINGS, finding);
        }

        @Override
        public void milestone(Milestone milestone) {
            context.output(MILESTONES, milestone);
        }
    }
}
