package io.tokenstair.job.rule;

import io.tokenstair.rule.bound.RuleKey;
import org.jspecify.annotations.Nullable;

/**
 * A revision of a rule, or its end, with the event time from which it holds.
 *
 * @param ruleId the rule
 * @param version its revision, from 1; 0 where the rule is retired
 * @param scheduleIndex place among all revisions the job took: of those in force, the highest counts
 * @param effectiveMillis event time from which it is in force, in ms; 0 for the beginning of all input
 * @param key what the milestones of a match have in common; absent where the rule is retired
 * @param source the name of the rule file
 * @param text the rule file; absent where the rule is retired
 */
public record ScheduledRule(
        String ruleId,
        int version,
        long scheduleIndex,
        long effectiveMillis,
        @Nullable RuleKey key,
        String source,
        @Nullable String text) {
    /** Event time that stands for the beginning of all input. */
    public static final long BEGINNING = 0;

    /** What tells it from every other one. */
    String id() {
        return ruleId + "\n" + scheduleIndex + "\n" + effectiveMillis + "\n" + version;
    }
}
