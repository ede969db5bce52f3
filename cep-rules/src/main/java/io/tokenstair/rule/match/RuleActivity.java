package io.tokenstair.rule.match;

import java.util.ArrayList;
import java.util.List;

/** What became of the matches of one revision of a rule: the figures of its funnel. Sums over keys and over time. */
public final class RuleActivity {
    /** Milestones looked at. */
    public long milestonesCount;

    /** Conditions evaluated. */
    public long evaluationsCount;

    /** How often each stage was reached, by stage; the first is the number of matches begun. */
    public List<Long> reachedCounts = new ArrayList<>();

    /** Matches that were completed and told. */
    public long matchedCount;

    /** Matches that ran out of time. */
    public long expiredCount;

    /** Matches that another milestone ended: not the one a strict stage wants, or one already used by a match told. */
    public long brokenCount;

    /** Matches not begun because {@link RuleMatcher#MAX_OPEN} were open. */
    public long cutCount;

    /** Nothing so far. */
    public RuleActivity() {}

    /** Counts one more match that reached a stage. */
    void reached(int stage) {
        while (reachedCounts.size() <= stage) {
            reachedCounts.add(0L);
        }
        reachedCounts.set(stage, reachedCounts.get(stage) + 1);
    }
}
