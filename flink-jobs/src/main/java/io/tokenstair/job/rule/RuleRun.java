package io.tokenstair.job.rule;

import io.tokenstair.rule.match.RuleProgress;

/** Matches of one rule and key that have begun. */
public class RuleRun {
    /** The revision they began under. */
    public int version;

    /** The next instant at which the passing of time changes something, in ms; {@link Long#MAX_VALUE} where none does. */
    public long nextMillis = Long.MAX_VALUE;

    /** What has been matched. */
    public RuleProgress progress = new RuleProgress();

    /** For Flink's serializer. */
    public RuleRun() {}
}
