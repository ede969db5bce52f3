package io.tokenstair.job.request;

import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.clock.ClockWay;
import io.tokenstair.job.clock.ClockBroadcast;
import io.tokenstair.job.clock.PublishedSegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.streaming.api.operators.InternalTimer;
import org.apache.flink.streaming.api.operators.co.CoBroadcastWithKeyedOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;

/**
 * The same as {@link AnalyseRequests}, with the same state, for streams: a request is looked up once per input in a map of the subtask, waits in
 * {@link RequestTimers}, and is written into keyed state when a snapshot is taken. Flink's function pays two look-ups of keyed state and two
 * changes of a heap of timers for each input. In batch, where one key comes after the other, it stays.
 *
 * <p>Memory per request beside its state: 300 bytes.
 */
public final class StreamRequests
        extends CoBroadcastWithKeyedOperator<String, RequestInput, PublishedSegment, TokenAnalysis> {
    private static final long serialVersionUID = 1L;

    private final AnalyseRequests function;

    @SuppressWarnings("NullAway.Init") // made in open
    private transient Map<String, RequestPlace> places;

    @SuppressWarnings("NullAway.Init") // made in open
    private transient RequestTimers timers;

    @SuppressWarnings("NullAway.Init") // made in open
    private transient BroadcastState<String, ClockWay> ways;

    @SuppressWarnings("NullAway.Init") // made in open
    private transient Sides sides;

    @SuppressWarnings("NullAway.Init") // made in open
    private transient TouchedAhead ahead;

    @SuppressWarnings("NullAway.Init") // made in open
    private transient RequestInputSerializer unpacking;

    /** Event time that has passed. */
    private transient long watermark;

    /** Requests of which a use is open. */
    private transient int openRequests;

    /** Inputs that wait for event time. */
    private transient long waitingInputs;

    @SuppressWarnings("NullAway.Init") // made in open
    private transient StateSample sample;

    /** Checkpoints so far: what keyed state holds may be being written since the last one, and is not changed in place. */
    private transient long checkpoints;

    /**
     * Analyses requests.
     *
     * @param runs whether tokens of which there is nothing to say but their numbers come as {@link AnalyseRequests#RUNS}, not as rows
     */
    public StreamRequests(boolean runs) {
        this(new AnalyseRequests(runs));
    }

    private StreamRequests(AnalyseRequests function) {
        super(function, List.of(ClockBroadcast.WAYS));
        this.function = function;
    }

    @Override
    public void open() throws Exception {
        super.open();
        places = new HashMap<>();
        timers = new RequestTimers();
        sides = new Sides();
        ahead = new TouchedAhead();
        unpacking = new RequestInputSerializer();
        watermark = Long.MIN_VALUE;
        sample = new StateSample(function.bufferSerializer(), function.requestSerializer());
        ways = getOperatorStateBackend().getBroadcastState(ClockBroadcast.WAYS);
        restore();
        tell(getMetricGroup());
    }

    /** Shows how many requests the subtask remembers, how many are open, what waits, and what all of it takes: what its state grows with. */
    void tell(MetricGroup metrics) {
        metrics.gauge("requestsRemembered", this::requests);
        metrics.gauge("requestsOpen", () -> openRequests);
        metrics.gauge("inputsWaiting", () -> waitingInputs);
        metrics.gauge("stateBytes", () -> sample.bytes());
    }

    private void restore() throws Exception {
        List<String> requestIds = new ArrayList<>();
        try (Stream<String> keys = this.<String>getKeyedStateBackend()
                .getKeys(AnalyseRequests.bufferDescriptor().getName(), VoidNamespace.INSTANCE)) {
            keys.forEach(requestIds::add);
        }
        for (String requestId : requestIds) {
            RequestPlace place = new RequestPlace(requestId);
            place.stored = true;
            read(place);
            places.put(requestId, place);
            openRequests += place.isOpen() ? 1 : 0;
            waitingInputs += place.buffer.inputs.size();
            if (place.buffer.timerMillis != Long.MIN_VALUE) {
                timers.arm(place, place.buffer.timerMillis);
            }
        }
    }

    private void read(RequestPlace place) throws Exception {
        setCurrentKey(place.requestId);
        place.buffer = orElse(function.bufferState.value(), place.buffer);
        place.request = orElse(function.requestState.value(), place.request);
        place.sinceCheckpoint = checkpoints;
    }

    private static <T> T orElse(@Nullable T value, T other) {
        return value == null ? other : value;
    }

    /** A request whose objects may be changed. */
    private void own(RequestPlace place) throws Exception {
        if (place.sinceCheckpoint != checkpoints) {
            read(place);
        }
    }

    /** Inputs bring no key along: their request is looked up here. */
    @Override
    public boolean hasKeyContext1() {
        return false;
    }

    @Override
    public void processElement1(StreamRecord<RequestInput> element) throws Exception {
        RequestInput input = element.getValue();
        if (input.isBlock()) {
            unpacking.unpack(input, this::take);
        } else {
            take(input);
        }
    }

    private void take(RequestInput input) throws Exception {
        RequestPlace place = places.get(input.requestId);
        if (place == null) {
            TaskInfo task = getRuntimeContext().getTaskInfo();
            int subtask = KeyGroupRangeAssignment.assignKeyToParallelOperator(
                    input.requestId, task.getMaxNumberOfParallelSubtasks(), task.getNumberOfParallelSubtasks());
            if (subtask != task.getIndexOfThisSubtask()) {
                throw new IllegalStateException("Request " + input.requestId + " belongs to subtask " + subtask);
            }
            place = new RequestPlace(input.requestId);
            place.sinceCheckpoint = checkpoints;
            places.put(place.requestId, place);
        } else {
            own(place);
            // Inputs wait for seconds: what all of them repeat is kept once.
            input.requestId = place.requestId;
        }
        place.buffer.add(input);
        waitingInputs++;
        timers.arm(place, RequestDrain.timerMillis(input.coarseEpochMillis));
    }

    @Override
    public void processWatermark(Watermark mark) throws Exception {
        watermark = mark.getTimestamp();
        for (RequestTimers.Slot slot = timers.takeDue(watermark); slot != null; slot = timers.takeDue(watermark)) {
            sides.millis = slot.millis;
            for (int i = 0; i < slot.count; i++) {
                if (i % TouchedAhead.REQUESTS == 0) {
                    ahead.touch(slot.places, i, slot.count);
                }
                RequestPlace place = slot.places[i];
                if (place != null) {
                    place.slot = null;
                    drain(place);
                }
            }
        }
        super.processWatermark(mark);
    }

    private void drain(RequestPlace place) throws Exception {
        own(place);
        place.buffer.timerMillis = Long.MIN_VALUE;
        int waited = place.buffer.inputs.size();
        boolean wasOpen = place.isOpen();
        long next = function.drain.drain(
                place.requestId, place.buffer, place.request, watermark, function.clocks.graph(ways), sides);
        waitingInputs += place.buffer.inputs.size() - waited;
        openRequests += (place.isOpen() ? 1 : 0) - (wasOpen ? 1 : 0);
        if (next != RequestDrain.FORGOTTEN) {
            timers.arm(place, RequestDrain.timerMillis(next));
            return;
        }
        places.remove(place.requestId);
        if (place.stored) {
            setCurrentKey(place.requestId);
            function.bufferState.clear();
            function.requestState.clear();
        }
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        sample.measure(places.values());
        for (RequestPlace place : places.values()) {
            if (place.sinceCheckpoint == checkpoints) {
                setCurrentKey(place.requestId);
                function.bufferState.update(place.buffer);
                function.requestState.update(place.request);
                place.stored = true;
            }
        }
        checkpoints++;
        super.snapshotState(context);
    }

    /** Timers that the function set go by unheard: what it saved says itself when it is due. */
    @Override
    public void onEventTime(InternalTimer<String, VoidNamespace> timer) {}

    /** How many requests have a timer. */
    int timers() {
        return timers.size();
    }

    /** How many requests are remembered. */
    int requests() {
        return places.size();
    }

    /** Outputs of the operator, at the time of the slot at hand. */
    private final class Sides implements RequestDrain.Sides {
        private long millis;

        @Override
        public void token(TokenAnalysis token) {
            output.collect(new StreamRecord<>(token, millis));
        }

        @Override
        public <X> void say(OutputTag<X> tag, X value) {
            output.collect(tag, new StreamRecord<>(value, millis));
        }
    }
}
