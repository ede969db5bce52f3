package io.tokenstair.job.rule;

import io.tokenstair.archive.result.RuleMinute;
import io.tokenstair.rule.match.RuleActivity;
import java.util.ArrayList;
import java.util.List;

/** What a revision of a rule did in a minute of event time, or a part of it: parts add up in any order. */
public class ActivityPart {
    /** Length of a minute. */
    public static final long MINUTE_MILLIS = 60_000;

    /** The minute of what has no event time. */
    public static final long UNDATED = Long.MAX_VALUE;

    public String ruleId = "";
    public int version;

    /** Start of the minute, in ms; {@link #UNDATED} for input without wall time. */
    public long minuteMillis;

    public long milestonesCount;
    public long evaluationsCount;
    public List<Long> reachedCounts = new ArrayList<>();
    public long matchedCount;
    public long expiredCount;
    public long brokenCount;
    public long cutCount;
    public long droppedCount;
    public long givenUpCount;
    public long cutWaysCount;
    public long failedEvaluationsCount;

    /** For Flink's serializer. */
    public ActivityPart() {}

    /** The start of the minute an event time lies in, both in ms. */
    static long minuteOf(long millis) {
        return millis == Long.MAX_VALUE ? UNDATED : Math.floorDiv(millis, MINUTE_MILLIS) * MINUTE_MILLIS;
    }

    /** Adds what a matcher counted. */
    void add(RuleActivity activity) {
        milestonesCount += activity.milestonesCount;
        evaluationsCount += activity.evaluationsCount;
        addReached(activity.reachedCounts);
        matchedCount += activity.matchedCount;
        expiredCount += activity.expiredCount;
        brokenCount += activity.brokenCount;
        cutCount += activity.cutCount;
        givenUpCount += activity.givenUpCount;
        cutWaysCount += activity.cutWaysCount;
        failedEvaluationsCount += activity.failedEvaluationsCount;
    }

    /** Adds another part. */
    void add(ActivityPart other) {
        milestonesCount += other.milestonesCount;
        evaluationsCount += other.evaluationsCount;
        addReached(other.reachedCounts);
        matchedCount += other.matchedCount;
        expiredCount += other.expiredCount;
        brokenCount += other.brokenCount;
        cutCount += other.cutCount;
        droppedCount += other.droppedCount;
        givenUpCount += other.givenUpCount;
        cutWaysCount += other.cutWaysCount;
        failedEvaluationsCount += other.failedEvaluationsCount;
    }

    private void addReached(List<Long> counts) {
        for (int stage = 0; stage < counts.size(); stage++) {
            if (stage == reachedCounts.size()) {
                reachedCounts.add(counts.get(stage));
            } else {
                reachedCounts.set(stage, reachedCounts.get(stage) + counts.get(stage));
            }
        }
    }

    /** The row of the table. */
    RuleMinute row() {
        return new RuleMinute(
                ruleId,
                version,
                minuteMillis == UNDATED ? null : Long.valueOf(minuteMillis),
                milestonesCount,
                evaluationsCount,
                List.copyOf(reachedCounts),
                matchedCount,
                expiredCount,
                brokenCount,
                cutCount,
                droppedCount,
                givenUpCount,
                cutWaysCount,
                failedEvaluationsCount);
    }
}
