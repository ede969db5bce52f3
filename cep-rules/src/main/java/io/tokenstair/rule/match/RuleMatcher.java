package io.tokenstair.rule.match;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.AfterMatch;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.BoundStage;
import io.tokenstair.rule.bound.Contiguity;
import io.tokenstair.rule.bound.RuleCaps;
import io.tokenstair.rule.bound.Taken;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One revision of a rule over the milestones of one key, given one after another in the order of {@link
 * io.tokenstair.rule.bound.MilestoneOrder}. It means what {@link io.tokenstair.rule.bound.RuleOracle} says, up to its caps. No state of
 * its own: what it remembers of a key is its {@link RuleProgress}.
 *
 * <p>A match goes all its ways at once. Two ways that no further milestone can tell apart are one: the one the meaning prefers stays.
 */
public final class RuleMatcher {
    /** Most matches of one key that are open at once where the rule has no lower cap; more are not begun, and counted. */
    public static final int MAX_OPEN = RuleCaps.MAX_OPEN_MATCHES;

    /** Most ways of one match that are open at once; more are not followed, and counted. */
    public static final int MAX_WAYS_OF_MATCH = 64;

    /** Most ways of one key that are open at once, over all its matches; more are not followed, and counted. */
    public static final int MAX_WAYS = 1024;

    private final BoundRule rule;
    private final StagePlan plan;
    private final boolean seesEveryKind;

    /** A matcher of a rule. */
    public RuleMatcher(BoundRule rule) {
        this.rule = rule;
        plan = new StagePlan(rule);
        seesEveryKind = rule.seesEveryKind();
    }

    /** The rule. */
    public BoundRule rule() {
        return rule;
    }

    /** True where a milestone can begin, continue or end a match; others need not be given. */
    public boolean takesPart(Milestone milestone) {
        return seesEveryKind || plan.kinds().contains(milestone.milestoneKind());
    }

    /**
     * Gives the next milestone of the key.
     *
     * @param progress what is remembered of the key; changed
     * @param milestone not before the one given last
     * @param activity counts what happens
     * @param matches takes each completed match: the milestones each stage took, in stage order
     */
    public void take(
            RuleProgress progress,
            Milestone milestone,
            RuleActivity activity,
            Consumer<List<List<Milestone>>> matches) {
        passTime(progress, milestone.coarseEpochMillis(), activity, matches);
        activity.milestonesCount++;
        Turn turn = new Turn(progress, milestone, activity);
        boolean changed = turn.continueOpen();
        changed |= turn.begin();
        if (changed) {
            tellComplete(progress, activity, matches);
        }
    }

    /**
     * Says that all milestones of the key before an instant have been given.
     *
     * @param progress what is remembered of the key; changed
     * @param millis the instant
     * @param activity counts what happens
     * @param matches takes each match that is completed by the passing of time, or waited for an earlier one
     */
    public void passTime(
            RuleProgress progress, long millis, RuleActivity activity, Consumer<List<List<Milestone>>> matches) {
        boolean changed = false;
        Iterator<OpenMatch> open = progress.open.iterator();
        while (open.hasNext()) {
            OpenMatch match = open.next();
            if (match.complete || millis < endMillis(match)) {
                continue;
            }
            changed = true;
            OpenWay best = null;
            for (OpenWay way : match.ways) {
                if ((way.next & plan.endBit()) != 0 && (best == null || takesMore(way, best))) {
                    best = way;
                }
            }
            if (best == null) {
                open.remove();
                progress.waysCount -= match.ways.size();
                activity.expiredCount++;
            } else {
                complete(progress, match, best);
            }
        }
        if (changed) {
            tellComplete(progress, activity, matches);
        }
    }

    /** The first instant at which {@link #passTime} would change something; Long.MAX_VALUE where none would. */
    public long nextInstantMillis(RuleProgress progress) {
        long next = Long.MAX_VALUE;
        for (OpenMatch match : progress.open) {
            if (!match.complete) {
                next = Math.min(next, endMillis(match));
            }
        }
        return next;
    }

    /** When its time is over; the time of milestones without wall time never is before all of them have come. */
    private long endMillis(OpenMatch match) {
        return match.fromMillis > Long.MAX_VALUE - rule.withinMillis()
                ? Long.MAX_VALUE
                : match.fromMillis + rule.withinMillis();
    }

    private static void complete(RuleProgress progress, OpenMatch match, OpenWay best) {
        progress.waysCount -= match.ways.size() - 1;
        match.ways.clear();
        match.ways.add(best);
        match.complete = true;
    }

    /** With skip-past-last a complete match waits for those that began before it, and uses up what it overlaps. */
    private void tellComplete(RuleProgress progress, RuleActivity activity, Consumer<List<List<Milestone>>> matches) {
        boolean skips = rule.afterMatch() == AfterMatch.SKIP_PAST_LAST;
        Iterator<OpenMatch> open = progress.open.iterator();
        long usedUpTo = -1;
        while (open.hasNext()) {
            OpenMatch match = open.next();
            if (match.fromPlace <= usedUpTo) {
                open.remove();
                progress.waysCount -= match.ways.size();
                activity.brokenCount++;
            } else if (match.complete) {
                OpenWay way = match.ways.get(0);
                open.remove();
                progress.waysCount--;
                activity.matchedCount++;
                matches.accept(way.byStage());
                usedUpTo = skips ? way.toPlace : -1;
            } else if (skips) {
                return;
            }
        }
    }

    /** Of two ways that end together: true where the left takes more in the first stage that differs. */
    private static boolean takesMore(OpenWay left, OpenWay right) {
        return Arrays.compare(left.counts, right.counts) > 0;
    }

    /** One milestone of one key. */
    private final class Turn {
        private final RuleProgress progress;
        private final Milestone milestone;
        private final RuleActivity activity;
        private final long place;
        private final long evaluationsAllowed;
        private final BoundStage.Evaluations unlimited = new Counted(false);
        private final BoundStage.Evaluations limited = new Counted(true);
        private boolean exhausted;

        Turn(RuleProgress progress, Milestone milestone, RuleActivity activity) {
            this.progress = progress;
            this.milestone = milestone;
            this.activity = activity;
            place = progress.seenCount++;
            evaluationsAllowed = activity.evaluationsCount + rule.caps().evaluations();
        }

        /** True where a match was completed or ended. */
        boolean continueOpen() {
            boolean changed = false;
            Iterator<OpenMatch> open = progress.open.iterator();
            while (open.hasNext()) {
                OpenMatch match = open.next();
                if (match.complete) {
                    continue;
                }
                exhausted = false;
                goOn(match);
                if (exhausted || match.ways.isEmpty()) {
                    open.remove();
                    progress.waysCount -= match.ways.size();
                    if (exhausted) {
                        activity.givenUpCount++;
                    } else {
                        activity.brokenCount++;
                    }
                    changed = true;
                } else {
                    changed |= match.complete;
                }
            }
            return changed;
        }

        /** True where the milestone is a match by itself. */
        boolean begin() {
            BoundStage first = rule.stages().get(0);
            if (!first.names(milestone.milestoneKind())) {
                return false;
            }
            OpenWay way = new OpenWay();
            way.counts = new int[rule.stages().size()];
            // Asked whatever the others cost: a rule that can begin nothing finds nothing.
            if (!first.takes(milestone, new WayTaken(way), unlimited)) {
                return false;
            }
            if (progress.open.size() >= rule.caps().openMatches() || progress.waysCount >= MAX_WAYS) {
                activity.cutCount++;
                return false;
            }
            OpenMatch match = new OpenMatch();
            match.fromPlace = place;
            match.fromMillis = milestone.coarseEpochMillis();
            take(match, way, 0);
            match.ways.add(way);
            match.complete = plan.isComplete(way);
            progress.open.add(match);
            progress.waysCount++;
            return match.complete;
        }

        private void goOn(OpenMatch match) {
            List<OpenWay> grown = new ArrayList<>();
            boolean advanced = false;
            OpenWay best = null;
            for (int i = 0; i < match.ways.size() && !exhausted; i++) {
                OpenWay way = match.ways.get(i);
                int fitting = fitting(way);
                for (int bits = fitting; bits != 0 && !exhausted; bits &= bits - 1) {
                    int stage = Integer.numberOfTrailingZeros(bits);
                    OpenWay longer = bits == fitting && way.next == 0 && (bits & (bits - 1)) == 0 ? way : copy(way);
                    take(match, longer, stage);
                    if (plan.isComplete(longer)) {
                        best = best == null || takesMore(longer, best) ? longer : best;
                    } else if (longer == way) {
                        advanced = true;
                    } else {
                        grown.add(longer);
                    }
                }
            }
            if (exhausted) {
                return;
            }
            if (best != null) {
                complete(progress, match, best);
                return;
            }
            int before = match.ways.size();
            match.ways.removeIf(way -> way.next == 0);
            progress.waysCount -= before - match.ways.size();
            if (!grown.isEmpty() || (advanced && match.ways.size() > 1)) {
                add(match, grown);
            }
        }

        /** The stages of the way that take the milestone; those that cannot take another any more are no longer waited for. */
        private int fitting(OpenWay way) {
            int fitting = 0;
            WayTaken taken = new WayTaken(way);
            for (int bits = way.next; bits != 0; bits &= bits - 1) {
                int stage = Integer.numberOfTrailingZeros(bits);
                int bit = 1 << stage;
                if (bit != plan.endBit() && fits(rule.stages().get(stage), taken)) {
                    fitting |= bit;
                    way.next &= ~bit;
                } else if (bit != plan.endBit() && rule.stages().get(stage).contiguity() == Contiguity.STRICT
                        || isForbidden(way.stage, stage, taken)) {
                    way.next &= ~bit;
                }
            }
            return fitting;
        }

        private boolean isForbidden(int from, int to, WayTaken taken) {
            for (BoundStage absent : plan.absentBetween(from, to)) {
                if (fits(absent, taken)) {
                    return true;
                }
            }
            return false;
        }

        private boolean fits(BoundStage stage, WayTaken taken) {
            return !exhausted && stage.takes(milestone, taken, limited) && !exhausted;
        }

        /** Counts evaluations, and where they are limited ends them. */
        private final class Counted implements BoundStage.Evaluations {
            private final boolean limited;

            Counted(boolean limited) {
                this.limited = limited;
            }

            @Override
            public void begins() {
                if (limited && activity.evaluationsCount >= evaluationsAllowed) {
                    exhausted = true;
                } else {
                    activity.evaluationsCount++;
                }
            }

            @Override
            public void failed() {
                if (!limited || !exhausted) {
                    activity.failedEvaluationsCount++;
                }
            }
        }

        private void take(OpenMatch match, OpenWay way, int stage) {
            way.taken.add(milestone);
            way.places = Arrays.copyOf(way.places, way.places.length + 1);
            way.places[way.places.length - 1] = place;
            way.toPlace = place;
            way.stage = stage;
            way.counts[stage]++;
            way.next = plan.next(stage, way.counts[stage]);
            if ((match.reachedStages & (1 << stage)) == 0) {
                match.reachedStages |= 1 << stage;
                activity.reached(stage);
            }
        }

        private void add(OpenMatch match, List<OpenWay> grown) {
            for (OpenWay way : grown) {
                match.ways.add(way);
                progress.waysCount++;
            }
            prune(match);
            while (match.ways.size() > MAX_WAYS_OF_MATCH || (progress.waysCount > MAX_WAYS && match.ways.size() > 1)) {
                match.ways.remove(match.ways.size() - 1);
                progress.waysCount--;
                activity.cutWaysCount++;
            }
        }

        /** A way no longer waits for what another way, which the meaning prefers, gets too. */
        private void prune(OpenMatch match) {
            for (OpenWay way : match.ways) {
                for (OpenWay other : match.ways) {
                    for (int bits = other == way ? 0 : way.next & other.next; bits != 0; bits &= bits - 1) {
                        int stage = Integer.numberOfTrailingZeros(bits);
                        if (takesMore(other, way) && plan.covers(other, way, stage)) {
                            way.next &= ~(1 << stage);
                        }
                    }
                }
            }
            int before = match.ways.size();
            match.ways.removeIf(way -> way.next == 0);
            progress.waysCount -= before - match.ways.size();
        }
    }

    private static OpenWay copy(OpenWay way) {
        OpenWay copy = new OpenWay();
        copy.toPlace = way.toPlace;
        copy.stage = way.stage;
        copy.counts = way.counts.clone();
        copy.taken = new ArrayList<>(way.taken);
        copy.places = way.places;
        copy.next = way.next;
        return copy;
    }

    /** What a way took, as conditions see it. */
    private record WayTaken(OpenWay way) implements Taken {
        @Override
        public List<Milestone> of(int stage) {
            return way.of(stage);
        }

        @Override
        public @Nullable Milestone previous() {
            return way.taken.isEmpty() ? null : way.taken.get(way.taken.size() - 1);
        }
    }
}
