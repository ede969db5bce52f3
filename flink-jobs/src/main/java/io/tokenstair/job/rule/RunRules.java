package io.tokenstair.job.rule;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.job.timer.EarliestTimer;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.MilestoneOrder;
import io.tokenstair.rule.bound.RuleKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReadOnlyBroadcastState;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;

/**
 * Runs all rules of one kind of key over the milestones of each key, with the revisions that hold at their event time. Milestones wait until the
 * watermark has passed them by the hold and are then taken in {@link MilestoneOrder}; what comes later still is counted and left out. In batch
 * all revisions come before the first milestone. State: {@link KeyState} per key, the revisions of {@link RuleTimeline}, and for the metrics
 * {@link OpenMatches}.
 */
public final class RunRules extends KeyedBroadcastProcessFunction<String, Milestone, ScheduledRule, Finding>
        implements CheckpointedFunction {
    private static final long serialVersionUID = 1L;
    private static final long TIMER_GRID_MILLIS = 100;
    private static final long END = Long.MAX_VALUE;

    /** Revisions that are or were in force, by what tells them apart. */
    public static final MapStateDescriptor<String, ScheduledRule> RULES =
            new MapStateDescriptor<>("rules", Types.STRING, TypeInformation.of(ScheduledRule.class));

    /** What the rules did. */
    public static final OutputTag<ActivityPart> ACTIVITY =
            new OutputTag<>("activity", TypeInformation.of(ActivityPart.class));

    private final RuleKey key;
    private final boolean sortedInput;
    private final long holdMillis;
    private transient ValueState<KeyState> keyState;
    private transient @Nullable RuleTimeline timeline;
    private transient RuleBinding binding;
    private transient ActivityCounter activity;

    @SuppressWarnings("NullAway.Init") // made in initializeState
    private transient ListState<OpenMatches> openMatches;

    @SuppressWarnings("NullAway.Init") // made in initializeState
    private transient RuleMetrics ruleMetrics;

    private transient Counter late;
    private transient Counter milestones;
    private transient Counter evaluations;
    private transient Counter matches;
    private transient Counter cut;
    private transient Counter dropped;

    /**
     * Runs rules.
     *
     * @param key what the milestones of a match have in common
     * @param sortedInput true in batch, where the input of a key comes sorted by event time
     * @param holdMillis how far behind the watermark milestones may come
     */
    public RunRules(RuleKey key, boolean sortedInput, long holdMillis) {
        this.key = key;
        this.sortedInput = sortedInput;
        this.holdMillis = holdMillis;
    }

    @Override
    public void initializeState(FunctionInitializationContext context) throws Exception {
        openMatches = context.getOperatorStateStore()
                .getListState(new ListStateDescriptor<>("open-matches", TypeInformation.of(OpenMatches.class)));
        ruleMetrics = new RuleMetrics(getRuntimeContext().getMetricGroup(), openMatches.get());
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws Exception {
        openMatches.update(ruleMetrics.open());
    }

    @Override
    public void open(OpenContext context) {
        keyState = getRuntimeContext().getState(new ValueStateDescriptor<>("key", TypeInformation.of(KeyState.class)));
        binding = new RuleBinding();
        activity = new ActivityCounter();
        var metrics = getRuntimeContext().getMetricGroup();
        late = metrics.counter("milestonesTooLate");
        milestones = metrics.counter("milestones");
        evaluations = metrics.counter("conditionsEvaluated");
        matches = metrics.counter("matches");
        cut = metrics.counter("matchesCut");
        dropped = metrics.counter("matchesDropped");
    }

    @Override
    public void close() {
        if (binding != null) {
            binding.close();
        }
    }

    private RuleTimeline timeline(ReadOnlyBroadcastState<String, ScheduledRule> rules) throws Exception {
        if (timeline == null) {
            timeline = new RuleTimeline(key, binding::bind);
            for (Map.Entry<String, ScheduledRule> entry : rules.immutableEntries()) {
                timeline.add(entry.getValue());
            }
        }
        return timeline;
    }

    @Override
    public void processBroadcastElement(ScheduledRule rule, Context context, Collector<Finding> out) throws Exception {
        BroadcastState<String, ScheduledRule> rules = context.getBroadcastState(RULES);
        RuleTimeline known = timeline(rules);
        rules.put(rule.id(), rule);
        known.add(rule);
        long watermark = context.currentWatermark();
        if (watermark != Long.MIN_VALUE && watermark != END) {
            for (String forgotten : known.forget(watermark - holdMillis - RuleTimeline.MEMORY_MILLIS)) {
                rules.remove(forgotten);
            }
        }
    }

    @Override
    public void processElement(Milestone milestone, ReadOnlyContext context, Collector<Finding> out) throws Exception {
        long millis = milestone.coarseEpochMillis();
        if (!sortedInput && millis != END && millis + holdMillis <= context.currentWatermark()) {
            late.inc();
            return;
        }
        milestones.inc();
        KeyState state = keyState.value();
        if (state == null) {
            state = new KeyState();
        }
        if (sortedInput) {
            if (!state.waiting.isEmpty() && state.waiting.get(0).coarseEpochMillis() < millis) {
                drain(state, millis - 1, context, out);
            }
            arm(state, END, context);
        } else {
            arm(state, millis, context);
        }
        state.waiting.add(milestone);
        keyState.update(state);
    }

    private void arm(KeyState state, long millis, ReadOnlyContext context) {
        long timer = millis > END - holdMillis - TIMER_GRID_MILLIS
                ? END
                : EarliestTimer.after(millis + holdMillis, TIMER_GRID_MILLIS);
        state.timerMillis = EarliestTimer.arm(context.timerService(), state.timerMillis, timer);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Finding> out) throws Exception {
        KeyState state = keyState.value();
        if (state == null) {
            return;
        }
        long watermark = context.timerService().currentWatermark();
        long complete = watermark == END ? END : watermark - holdMillis;
        state.timerMillis = EarliestTimer.NONE;
        RuleLife life = drain(state, complete, context, out);
        if (complete == END || (state.waiting.isEmpty() && life.isForgotten(complete))) {
            keyState.clear();
            return;
        }
        // A key whose time is over but for milestones that wait is due with them: a timer for what has passed would go
        // off for ever.
        long next = life.isForgotten(complete) ? END : life.nextDueMillis();
        for (Milestone waiting : state.waiting) {
            next = Math.min(next, waiting.coarseEpochMillis());
        }
        arm(state, next, context);
        keyState.update(state);
    }

    /** Takes every milestone up to an event time, in order, and lets that time pass. */
    private RuleLife drain(KeyState state, long complete, ReadOnlyContext context, Collector<Finding> out)
            throws Exception {
        List<Milestone> due = new ArrayList<>();
        List<Milestone> later = new ArrayList<>();
        for (Milestone milestone : state.waiting) {
            (milestone.coarseEpochMillis() <= complete ? due : later).add(milestone);
        }
        due.sort(new MilestoneOrder());
        state.waiting = later;
        RuleLife life = new RuleLife(
                key,
                state,
                timeline(context.getBroadcastState(RULES)),
                activity,
                (rule, matched) -> out.collect(RuleFindings.of(rule, matched)));
        due.forEach(life::accept);
        life.passTo(complete);
        activity.ship(part -> {
            evaluations.inc(part.evaluationsCount);
            matches.inc(part.matchedCount);
            cut.inc(part.cutCount + part.givenUpCount + part.cutWaysCount);
            dropped.inc(part.droppedCount);
            ruleMetrics.count(part);
            context.output(ACTIVITY, part);
        });
        return life;
    }
}
