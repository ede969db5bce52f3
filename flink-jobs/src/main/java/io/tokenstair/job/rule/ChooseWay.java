package io.tokenstair.job.rule;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.AfterMatch;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.MilestoneOrder;
import java.io.IOException;
import java.io.Serial;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/**
 * Of all ways a match can be gone, tells the one the rule means. Tells first milestones apart by their fields, so of two that are equal
 * in every one, one match is told.
 *
 * <p>State per key: the ways flink-cep found from first milestones less than {@code within} ago, and the last milestone used up. A match is told once the watermark has
 * passed its first milestone by {@code within}: then all its ways are known, and those of every match that began earlier.
 */
final class ChooseWay extends KeyedProcessFunction<String, FoundWay, RuleMatch> {
    @Serial
    private static final long serialVersionUID = 1L;

    private final BoundRule rule;
    private transient @Nullable ListState<FoundWay> ways;
    private transient @Nullable ValueState<Milestone> usedUpTo;

    ChooseWay(BoundRule rule) {
        this.rule = rule;
    }

    @Override
    public void open(OpenContext context) {
        ways = getRuntimeContext().getListState(new ListStateDescriptor<>("ways", TypeInformation.of(FoundWay.class)));
        usedUpTo = getRuntimeContext()
                .getState(new ValueStateDescriptor<>("used-up-to", TypeInformation.of(Milestone.class)));
    }

    @Override
    public void processElement(FoundWay way, Context context, Collector<RuleMatch> matches) throws Exception {
        Objects.requireNonNull(ways).add(way);
        context.timerService().registerEventTimeTimer(endMillis(way));
    }

    @Override
    public void onTimer(long millis, OnTimerContext context, Collector<RuleMatch> matches) throws Exception {
        ListState<FoundWay> known = Objects.requireNonNull(ways);
        Map<Milestone, List<FoundWay>> over = new TreeMap<>(new MilestoneOrder());
        List<FoundWay> later = new ArrayList<>();
        for (FoundWay way : known.get()) {
            if (endMillis(way) <= millis) {
                over.computeIfAbsent(way.first(), first -> new ArrayList<>()).add(way);
            } else {
                later.add(way);
            }
        }
        known.update(later);
        for (List<FoundWay> ofFirst : over.values()) {
            FoundWay chosen = chosen(ofFirst);
            if (chosen != null && !isUsed(chosen.first())) {
                matches.collect(new RuleMatch(
                        rule.id(),
                        rule.revision(),
                        rule.cause(chosen.taken().byStage()),
                        rule.severity(),
                        context.getCurrentKey(),
                        chosen.taken()));
                if (rule.afterMatch() == AfterMatch.SKIP_PAST_LAST) {
                    Objects.requireNonNull(usedUpTo).update(chosen.last());
                    context.timerService()
                            .registerEventTimeTimer(chosen.last().coarseEpochMillis() + rule.withinMillis());
                }
            }
        }
        Milestone used = Objects.requireNonNull(usedUpTo).value();
        if (used != null && used.coarseEpochMillis() + rule.withinMillis() <= millis) {
            usedUpTo.clear();
        }
    }

    private boolean isUsed(Milestone first) throws IOException {
        Milestone used = Objects.requireNonNull(usedUpTo).value();
        return used != null && new MilestoneOrder().compare(first, used) <= 0;
    }

    private long endMillis(FoundWay way) {
        return way.first().coarseEpochMillis() + rule.withinMillis();
    }

    private @Nullable FoundWay chosen(List<FoundWay> ways) {
        List<TakenByStage> broken =
                ways.stream().filter(FoundWay::broken).map(FoundWay::taken).toList();
        return ways.stream()
                .filter(way -> !broken.contains(way.taken()))
                .min(this::compareEnds)
                .orElse(null);
    }

    /** The earlier end first; of two that end together, the one that takes more in the first stage in which they differ. */
    private int compareEnds(FoundWay left, FoundWay right) {
        boolean leftWaits = waits(left);
        int ends = Boolean.compare(leftWaits, waits(right));
        if (ends == 0 && !leftWaits) {
            ends = new MilestoneOrder().compare(left.last(), right.last());
        }
        return ends == 0 ? right.compareTaken(left) : ends;
    }

    /** True where it ends with {@code within}: up to then nothing must come that fits an absent stage. */
    private boolean waits(FoundWay way) {
        return !rule.absentBetween(way.lastStage(), rule.stages().size()).isEmpty();
    }
}
