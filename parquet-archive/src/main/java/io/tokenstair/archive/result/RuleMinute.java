package io.tokenstair.archive.result;

import io.tokenstair.event.Field;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one revision of a rule did in one minute of event time. Table {@code rule_activity}: the sums over its minutes are its funnel.
 *
 * @param ruleId the rule
 * @param ruleRevision its revision
 * @param minuteStartMillis start of the minute, in ms since 1970; absent for input without wall time
 * @param milestonesCount milestones looked at, once per key of the rule
 * @param evaluationsCount conditions evaluated
 * @param reachedCounts how often each stage was reached, by stage; the first is the number of matches begun
 * @param matchedCount matches found
 * @param expiredCount matches that ran out of time
 * @param brokenCount matches that another milestone ended
 * @param cutCount matches not begun because as many were open as the caps of the rule allow
 * @param droppedCount matches that had begun when their revision was replaced, or their request forgotten
 * @param givenUpCount matches given up because a milestone asked for more conditions than the caps allow
 * @param cutWaysCount ways of matches not followed because too many were open
 * @param failedEvaluationsCount conditions evaluated that could not be computed: a division by zero, a number beyond 64 bits; absent in
 *     archives of older versions
 */
public record RuleMinute(
        @Field(1) String ruleId,
        @Field(2) int ruleRevision,
        @Field(3) @Nullable Long minuteStartMillis,
        @Field(4) long milestonesCount,
        @Field(5) long evaluationsCount,
        @Field(6) List<Long> reachedCounts,
        @Field(7) long matchedCount,
        @Field(8) long expiredCount,
        @Field(9) long brokenCount,
        @Field(10) long cutCount,
        @Field(11) long droppedCount,
        @Field(12) long givenUpCount,
        @Field(13) long cutWaysCount,
        @Field(14) @Nullable Long failedEvaluationsCount) {}
