package io.tokenstair.rule.match;

import java.util.ArrayList;
import java.util.List;

/**
 * What one revision of a rule remembers of one key. Bounded by {@link RuleMatcher#MAX_OPEN} matches and {@link RuleMatcher#MAX_WAYS} ways
 * of at most {@link io.tokenstair.rule.bound.RuleBinder#MAX_TAKEN} milestones. Saved with a job, so fields are added, never renamed.
 */
public final class RuleProgress {
    /** Matches that have begun, in the order of their first milestones. */
    public List<OpenMatch> open = new ArrayList<>();

    /** Milestones of the key given so far. */
    public long seenCount;

    /** Ways of all open matches. */
    public int waysCount;

    /** Remembers nothing yet. */
    public RuleProgress() {}
}
