package io.tokenstair.job.rule;

import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Severity;
import io.tokenstair.milestone.Milestone;
import java.util.List;

/**
 * Milestones that together fit a rule.
 *
 * @param ruleId the rule
 * @param ruleRevision its revision
 * @param cause the cause the rule names
 * @param severity the severity the rule gives
 * @param key the key the milestones have in common: {@code engineId}, or {@code requestId#lifetime}
 * @param matched one milestone per stage, in stage order
 */
public record RuleMatch(
        String ruleId, int ruleRevision, Cause cause, Severity severity, String key, List<Milestone> matched) {}
