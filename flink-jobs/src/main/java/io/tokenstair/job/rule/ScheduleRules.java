package io.tokenstair.job.rule;

import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.sink.RawArchiveRow;
import io.tokenstair.job.sink.RawArchiveRowTypeInfo;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.source.RawRecordTypeInfo;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundRule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedMultiInput;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;

/**
 * Runs {@link RuleScheduling}: of the first input, the milestones, only the watermark matters, the second brings revisions of rules. A
 * revision is sent on before any watermark that reaches its instant, so every subtask that matches knows it in time. How far the second input
 * has come in time, and whether it is idle, matters to nobody. Parallelism 1. State: {@link SchedulingState}.
 */
public final class ScheduleRules extends AbstractStreamOperator<ScheduledRule>
        implements TwoInputStreamOperator<Milestone, RawRecord, ScheduledRule>, BoundedMultiInput {
    private static final long serialVersionUID = 1L;
    private static final int MILESTONES = 1;
    private static final int REVISIONS = 2;

    /**
     * By their place in the log, which is the order a job that runs meanwhile takes them in; the clocks of senders do not matter. Of several
     * partitions the one with the lower number goes first: partition-2 before partition-10.
     */
    private static final Comparator<RawRecord> ORDER = Comparator.comparingInt(
                    (RawRecord record) -> record.origin.length())
            .thenComparing(record -> record.origin)
            .thenComparingLong(record -> record.ordinal)
            .thenComparing(record -> record.collectorId)
            .thenComparingLong(record -> record.collectorEpoch)
            .thenComparingLong(record -> record.sequence);

    /** Revisions with their instants, and what was refused, for the raw archive. */
    public static final OutputTag<RawArchiveRow> ARCHIVE =
            new OutputTag<>("rule-archive", RawArchiveRowTypeInfo.INSTANCE);

    private final boolean replay;
    private final boolean revisionsFirst;
    private final List<BoundRule> start;
    private transient boolean started;
    private transient boolean milestonesEnded;
    private transient boolean revisionsEnded;
    private transient @Nullable Watermark held;

    @SuppressWarnings("NullAway.Init") // made in initializeState
    private transient List<LoggedEvent> archived;

    @SuppressWarnings("NullAway.Init") // made in initializeState
    private transient SchedulingState state;

    @SuppressWarnings("NullAway.Init") // made in initializeState
    private transient ListState<SchedulingState> saved;

    /** Revisions that wait until all have been read; none but where {@code revisionsFirst} says so. */
    @SuppressWarnings("NullAway.Init") // made in initializeState
    private transient ListState<RawRecord> waiting;

    @SuppressWarnings("NullAway.Init") // made in open
    private transient Counter refused;

    /**
     * Schedules rules.
     *
     * @param replay true in batch: instants are taken from the archive
     * @param revisionsFirst true where all revisions are read before any event time passes, and taken in the order of the log; the
     *     input of revisions must then end
     * @param start the rules the job starts with
     */
    public ScheduleRules(boolean replay, boolean revisionsFirst, List<BoundRule> start) {
        this.replay = replay;
        this.revisionsFirst = revisionsFirst;
        this.start = new ArrayList<>(start);
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        saved = context.getOperatorStateStore()
                .getListState(new ListStateDescriptor<>("scheduling", TypeInformation.of(SchedulingState.class)));
        waiting = context.getOperatorStateStore()
                .getListState(new ListStateDescriptor<>("waiting", RawRecordTypeInfo.INSTANCE));
        archived = new ArrayList<>();
        state = new SchedulingState();
        for (SchedulingState before : saved.get()) {
            state = before;
        }
    }

    @Override
    public void open() throws Exception {
        super.open();
        refused = getMetricGroup().counter("rulesRefused");
        getMetricGroup()
                .gauge(
                        "rulesInForce",
                        () -> state.rules.values().stream()
                                .filter(rule -> !rule.retired)
                                .count());
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        saved.update(List.of(state));
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
        super.prepareSnapshotPreBarrier(checkpointId);
        start();
    }

    /** Before anything else is said: the rules the job starts with. */
    private void start() {
        if (!started && !replay) {
            started = true;
            scheduling().start(start);
        }
    }

    private RuleScheduling scheduling() {
        return new RuleScheduling(state, new RuleScheduling.Output() {
            @Override
            public void scheduled(ScheduledRule rule) {
                output.collect(new StreamRecord<>(rule));
            }

            @Override
            public void archived(LoggedEvent event) {
                if (event.event() instanceof Rejected rejected) {
                    refused.inc();
                    LOG.warn("A revision of a rule is refused: {}", rejected.reason());
                }
                RawArchiveRow.forEach(event, false, row -> output.collect(ARCHIVE, new StreamRecord<>(row)));
            }
        });
    }

    @Override
    public void processElement1(StreamRecord<Milestone> element) {
        start();
    }

    @Override
    public void processElement2(StreamRecord<RawRecord> element) throws Exception {
        if (replay) {
            archived.add(EventCodec.decode(element.getValue().bytes));
            return;
        }
        start();
        if (revisionsFirst) {
            waiting.add(element.getValue());
        } else {
            scheduling().take(element.getValue());
        }
    }

    @Override
    public void processWatermark1(Watermark watermark) throws Exception {
        start();
        held = watermark;
        pass();
    }

    /** Passes the watermark on, unless it must wait for revisions. */
    private void pass() throws Exception {
        boolean free = replay ? milestonesEnded && revisionsEnded : revisionsEnded || !revisionsFirst;
        if (free && held != null) {
            Watermark watermark = held;
            held = null;
            state.watermarkMillis = watermark.getTimestamp();
            processWatermark(watermark);
        }
    }

    @Override
    public void processWatermark2(Watermark watermark) {
        // Revisions have no part in event time.
    }

    @Override
    protected void processWatermarkStatus(WatermarkStatus status, int input) {
        // Whether revisions come or not, the milestones say how time goes.
        if (input == MILESTONES - 1) {
            output.emitWatermarkStatus(status);
        }
    }

    @Override
    public void endInput(int input) throws Exception {
        milestonesEnded |= input == MILESTONES;
        revisionsEnded |= input == REVISIONS;
        start();
        if (input == REVISIONS && !replay) {
            List<RawRecord> ordered = new ArrayList<>();
            waiting.get().forEach(ordered::add);
            ordered.sort(ORDER);
            ordered.forEach(scheduling()::take);
            waiting.clear();
        }
        if (replay && milestonesEnded && revisionsEnded) {
            scheduling().replay(archived, start);
            archived.clear();
        }
        pass();
    }
}
