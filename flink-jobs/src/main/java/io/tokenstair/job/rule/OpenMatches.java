package io.tokenstair.job.rule;

/** How many matches of a rule are open in a subtask: kept beside its keys, so that the metric is right after a restart. */
public class OpenMatches {
    /** The rule; {@link RuleMetrics#OTHERS} for all that have no group of their own. */
    public String ruleId = "";

    /** Matches that had begun and not ended. */
    public long count;

    /** For Flink's serializer. */
    public OpenMatches() {}
}
