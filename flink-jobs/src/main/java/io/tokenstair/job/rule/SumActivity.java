package io.tokenstair.job.rule;

import io.tokenstair.archive.result.RuleMinute;
import io.tokenstair.job.timer.EarliestTimer;
import java.util.TreeMap;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Adds up what each revision of a rule did and tells a minute once all parts of it have come. State: {@link ActivityMinutes}. */
public final class SumActivity extends KeyedProcessFunction<String, ActivityPart, RuleMinute> {
    private static final long serialVersionUID = 1L;

    private final long holdMillis;
    private transient ValueState<ActivityMinutes> minutesState;
    private transient Counter tooLate;

    /**
     * Sums activity.
     *
     * @param holdMillis how far behind the watermark minutes are told: longer than any part comes late
     */
    public SumActivity(long holdMillis) {
        this.holdMillis = holdMillis;
    }

    /** The text that parts of one revision share. */
    public static String key(ActivityPart part) {
        return part.ruleId + "\n" + part.version;
    }

    @Override
    public void open(OpenContext context) {
        minutesState = getRuntimeContext()
                .getState(new ValueStateDescriptor<>("minutes", TypeInformation.of(ActivityMinutes.class)));
        tooLate = getRuntimeContext().getMetricGroup().counter("activityTooLate");
    }

    @Override
    public void processElement(ActivityPart part, Context context, Collector<RuleMinute> out) throws Exception {
        ActivityMinutes minutes = minutesState.value();
        if (minutes == null) {
            minutes = new ActivityMinutes();
        }
        if (part.minuteMillis <= minutes.toldMillis) {
            tooLate.inc();
            return;
        }
        ActivityPart sum = minutes.parts.get(part.minuteMillis);
        if (sum == null) {
            sum = new ActivityPart();
            sum.ruleId = part.ruleId;
            sum.version = part.version;
            sum.minuteMillis = part.minuteMillis;
            minutes.parts.put(part.minuteMillis, sum);
        }
        sum.add(part);
        arm(minutes, part.minuteMillis, context);
        minutesState.update(minutes);
    }

    private void arm(ActivityMinutes minutes, long minuteMillis, Context context) {
        minutes.timerMillis =
                EarliestTimer.arm(context.timerService(), minutes.timerMillis, toldFromMillis(minuteMillis));
    }

    private long toldFromMillis(long minuteMillis) {
        return minuteMillis == ActivityPart.UNDATED
                ? Long.MAX_VALUE
                : minuteMillis + ActivityPart.MINUTE_MILLIS + holdMillis;
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<RuleMinute> out) throws Exception {
        ActivityMinutes minutes = minutesState.value();
        if (minutes == null) {
            return;
        }
        minutes.timerMillis = EarliestTimer.NONE;
        long watermark = context.timerService().currentWatermark();
        for (ActivityPart part : new TreeMap<>(minutes.parts).values()) {
            if (toldFromMillis(part.minuteMillis) <= watermark) {
                out.collect(part.row());
                minutes.parts.remove(part.minuteMillis);
                minutes.toldMillis = part.minuteMillis;
            } else {
                arm(minutes, part.minuteMillis, context);
            }
        }
        if (minutes.parts.isEmpty()) {
            minutesState.clear();
        } else {
            minutesState.update(minutes);
        }
    }
}
