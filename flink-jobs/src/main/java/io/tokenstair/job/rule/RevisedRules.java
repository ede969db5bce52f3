package io.tokenstair.job.rule;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RuleMinute;
import io.tokenstair.job.sink.RawArchiveRow;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleKey;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.BroadcastStream;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

/**
 * Runs rules over milestones, and revises them while the job runs: one operator says from when a revision holds, one for each kind of key
 * matches.
 *
 * @param findings what the rules found
 * @param activity what they did, by minute
 * @param archive revisions with their instants, and those refused, for the raw archive
 */
public record RevisedRules(
        DataStream<Finding> findings, DataStream<RuleMinute> activity, DataStream<RawArchiveRow> archive) {

    /** How much later than its minute the last part of it comes, over the hold of the milestones. */
    private static final long ACTIVITY_LAG_MILLIS = BundleActivity.GRID_MILLIS + 1_000;

    /**
     * Wires the operators.
     *
     * @param sortedInput true in batch, where the revisions are those of an archive
     * @param start the rules in force from the beginning
     * @param milestones with watermarks and, in batch, record times in their order of event time
     * @param revisions records with revisions of rules
     * @param revisionsFirst whether the revisions end, and are read to their end before any event time passes
     * @param holdMillis how far behind the watermark milestones may come
     */
    public static RevisedRules of(
            boolean sortedInput,
            List<BoundRule> start,
            DataStream<Milestone> milestones,
            DataStream<RawRecord> revisions,
            boolean revisionsFirst,
            long holdMillis) {
        SingleOutputStreamOperator<ScheduledRule> scheduled = milestones
                .filter(new OnlyTime())
                .name("rule-time")
                .uid("rule-time")
                .connect(revisions)
                .transform(
                        "schedule-rules",
                        TypeInformation.of(ScheduledRule.class),
                        new ScheduleRules(sortedInput, revisionsFirst, start))
                .uid("schedule-rules")
                .setParallelism(1);
        BroadcastStream<ScheduledRule> rules = scheduled.broadcast(RunRules.RULES);
        DataStream<Finding> findings = null;
        DataStream<ActivityPart> parts = null;
        for (RuleKey key : RuleKey.values()) {
            String name = "run-rules-" + key.name().toLowerCase(Locale.ROOT);
            SingleOutputStreamOperator<Finding> found = milestones
                    .filter(new HasKey(key))
                    .name(name + "-input")
                    .uid(name + "-input")
                    .keyBy(new RuleMatches.KeyOfRule(key), Types.STRING)
                    .connect(rules)
                    .process(new RunRules(key, sortedInput, holdMillis), TypeInformation.of(Finding.class))
                    .name(name)
                    .uid(name);
            DataStream<ActivityPart> did = found.getSideOutput(RunRules.ACTIVITY)
                    .transform(name + "-activity", TypeInformation.of(ActivityPart.class), new BundleActivity())
                    .uid(name + "-activity");
            findings = findings == null ? found : findings.union(found);
            parts = parts == null ? did : parts.union(did);
        }
        DataStream<RuleMinute> activity = Objects.requireNonNull(parts)
                .keyBy(SumActivity::key, Types.STRING)
                .process(new SumActivity(holdMillis + ACTIVITY_LAG_MILLIS), TypeInformation.of(RuleMinute.class))
                .name("sum-rule-activity")
                .uid("sum-rule-activity");
        return new RevisedRules(
                Objects.requireNonNull(findings), activity, scheduled.getSideOutput(ScheduleRules.ARCHIVE));
    }

    /** Lets nothing through but watermarks. */
    private static final class OnlyTime implements FilterFunction<Milestone> {
        private static final long serialVersionUID = 1L;

        @Override
        public boolean filter(Milestone milestone) {
            return false;
        }
    }

    private record HasKey(RuleKey key) implements FilterFunction<Milestone> {
        @Override
        public boolean filter(Milestone milestone) {
            return key.of(milestone) != null;
        }
    }
}
