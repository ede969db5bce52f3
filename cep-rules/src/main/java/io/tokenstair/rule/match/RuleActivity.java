package io.tokenstair.rule.match;

import java.util.ArrayList;
import java.util.List;

/**
 * What became of the matches of one revision of a rule: the figures of its funnel. Sums over keys and over time. Each match begun is
 * either open or counted once as matched, expired, broken or given up.
 */
public final class RuleActivity {
    /** Milestones looked at. */
    public long milestonesCount;

    /** Conditions evaluated. */
    public long evaluationsCount;

    /** How many matches reached each stage, by stage; the first is the number of matches begun, an absent stage is never reached. */
    public List<Long> reachedCounts = new ArrayList<>();

    /** Matches that were completed and told. */
    public long matchedCount;

    /** Matches that ran out of time. */
    public long expiredCount;

    /**
     * Matches that another milestone ended: not the one a strict stage wants, one an absent stage forbids, or one already used by a
     * match told.
     */
    public long brokenCount;

    /** Matches not begun because as many were open as the rule's caps allow. */
    public long cutCount;

    /** Matches given up because a milestone asked for more conditions than the rule's caps allow. */
    public long givenUpCount;

    /** Ways not followed because {@link RuleMatcher#MAX_WAYS} of the key were open; another way of their match may have been told. */
    public long cutWaysCount;

    /** Conditions that could not be computed: a division by zero, a number beyond 64 bits. Each is one of the evaluations. */
    public long failedEvaluationsCount;

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
