package io.tokenstair.rule.match;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.AfterMatch;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.BoundStage;
import io.tokenstair.rule.bound.Contiguity;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;

/**
 * One revision of a rule over the milestones of one key, given one after another in the order of {@link
 * io.tokenstair.rule.bound.MilestoneOrder}. It means what {@link io.tokenstair.rule.bound.RuleOracle} says, up to its caps. No state of
 * its own: what it remembers of a key is its {@link RuleProgress}.
 */
public final class RuleMatcher {
    /** Most matches of one key that are open at once; more are not begun, and counted. */
    public static final int MAX_OPEN = 256;

    private final BoundRule rule;
    private final List<BoundStage> stages;
    private final boolean seesEveryKind;

    /** A matcher of a rule. */
    public RuleMatcher(BoundRule rule) {
        this.rule = rule;
        stages = rule.stages();
        seesEveryKind = rule.seesEveryKind();
    }

    /** The rule. */
    public BoundRule rule() {
        return rule;
    }

    /** True where a milestone can begin, continue or end a match; others need not be given. */
    public boolean takesPart(Milestone milestone) {
        return seesEveryKind || rule.milestoneKinds().contains(milestone.milestoneKind());
    }

    /**
     * Gives the next milestone of the key.
     *
     * @param progress what is remembered of the key; changed
     * @param milestone not before the one given last
     * @param activity counts what happens
     * @param matches takes each completed match: one milestone per stage, in stage order
     */
    public void take(
            RuleProgress progress, Milestone milestone, RuleActivity activity, Consumer<List<Milestone>> matches) {
        passTime(progress, milestone.coarseEpochMillis(), activity, matches);
        activity.milestonesCount++;
        long place = progress.seenCount++;
        Iterator<OpenMatch> open = progress.open.iterator();
        while (open.hasNext()) {
            OpenMatch match = open.next();
            int stage = match.taken.size();
            if (stage == stages.size()) {
                continue;
            }
            if (fits(stage, milestone, match.taken, activity)) {
                match.taken.add(milestone);
                match.toPlace = place;
                activity.reached(stage);
            } else if (stages.get(stage).contiguity() == Contiguity.STRICT) {
                open.remove();
                activity.brokenCount++;
            }
        }
        if (fits(0, milestone, List.of(), activity)) {
            if (progress.open.size() >= MAX_OPEN) {
                activity.cutCount++;
            } else {
                OpenMatch begun = new OpenMatch();
                begun.fromPlace = place;
                begun.toPlace = place;
                begun.fromMillis = milestone.coarseEpochMillis();
                begun.taken.add(milestone);
                progress.open.add(begun);
                activity.reached(0);
            }
        }
        tellComplete(progress, activity, matches);
    }

    /**
     * Says that all milestones of the key before an instant have been given.
     *
     * @param progress what is remembered of the key; changed
     * @param millis the instant
     * @param activity counts what happens
     * @param matches takes each completed match that waited for an earlier one
     */
    public void passTime(RuleProgress progress, long millis, RuleActivity activity, Consumer<List<Milestone>> matches) {
        boolean removed = progress.open.removeIf(match -> {
            boolean over = match.taken.size() < stages.size() && millis - match.fromMillis >= rule.withinMillis();
            if (over) {
                activity.expiredCount++;
            }
            return over;
        });
        if (removed) {
            tellComplete(progress, activity, matches);
        }
    }

    /** The first instant at which {@link #passTime} would change something; Long.MAX_VALUE where none would. */
    public long nextInstantMillis(RuleProgress progress) {
        long next = Long.MAX_VALUE;
        for (OpenMatch match : progress.open) {
            if (match.taken.size() < stages.size()) {
                next = Math.min(next, match.fromMillis + rule.withinMillis());
            }
        }
        return next;
    }

    private boolean fits(int stage, Milestone milestone, List<Milestone> taken, RuleActivity activity) {
        BoundStage wanted = stages.get(stage);
        if (wanted.condition() != null && wanted.milestoneKind() == milestone.milestoneKind()) {
            activity.evaluationsCount++;
        }
        return wanted.takes(milestone, taken::get);
    }

    /** With skip-past-last a complete match waits for those that began before it, and uses up what it overlaps. */
    private void tellComplete(RuleProgress progress, RuleActivity activity, Consumer<List<Milestone>> matches) {
        boolean skips = rule.afterMatch() == AfterMatch.SKIP_PAST_LAST;
        Iterator<OpenMatch> open = progress.open.iterator();
        long usedUpTo = -1;
        while (open.hasNext()) {
            OpenMatch match = open.next();
            if (match.fromPlace <= usedUpTo) {
                open.remove();
                activity.brokenCount++;
            } else if (match.taken.size() == stages.size()) {
                open.remove();
                activity.matchedCount++;
                matches.accept(List.copyOf(match.taken));
                usedUpTo = skips ? match.toPlace : -1;
            } else if (skips) {
                return;
            }
        }
    }
}
