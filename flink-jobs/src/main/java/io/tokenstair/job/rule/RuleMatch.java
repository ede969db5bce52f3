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
 * @param taken the milestones each stage took; none for a stage that was left out and an absent one
 */
public record RuleMatch(
        String ruleId, int ruleRevision, Cause cause, Severity severity, String key, TakenByStage taken) {
    /** The milestones each stage took, in stage order. */
    public List<List<Milestone>> matched() {
        return taken.byStage();
    }
}
