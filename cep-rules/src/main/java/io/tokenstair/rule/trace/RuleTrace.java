package io.tokenstair.rule.trace;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.BoundStage;
import io.tokenstair.rule.bound.Contiguity;
import io.tokenstair.rule.bound.MilestoneOrder;
import io.tokenstair.rule.match.OpenMatch;
import io.tokenstair.rule.match.RuleActivity;
import io.tokenstair.rule.match.RuleMatcher;
import io.tokenstair.rule.match.RuleProgress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * How far a rule got over the milestones of one key: what {@link RuleMatcher} does with them, watched.
 *
 * @param rule the rule
 * @param activity what became of all its matches of the key
 * @param best the match that got furthest, of several the first; absent where none began
 * @param misses what the stage after the best match's last did not take, in order, at most {@link #MAX_MISSES}; of a match that was told, none
 * @param missedCount how many there are in all
 */
public record RuleTrace(
        BoundRule rule, RuleActivity activity, @Nullable RuleAttempt best, List<RuleMiss> misses, long missedCount) {
    /** Most milestones named that a stage did not take. */
    public static final int MAX_MISSES = 16;

    /**
     * Follows a rule.
     *
     * @param rule the rule
     * @param ofKey all milestones of one key, in any order
     * @param knownUntilMillis event time up to which there are no others; Long.MAX_VALUE where nothing more will come
     * @param counted which matches may be the best, by what they took; all are counted in the activity
     */
    public static RuleTrace of(
            BoundRule rule, Collection<Milestone> ofKey, long knownUntilMillis, Predicate<List<Milestone>> counted) {
        RuleMatcher matcher = new RuleMatcher(rule);
        List<Milestone> ordered = ofKey.stream()
                .filter(matcher::takesPart)
                .sorted(new MilestoneOrder())
                .toList();
        Watch watch = new Watch(matcher, counted);
        ordered.forEach(watch::take);
        watch.end(knownUntilMillis);
        RuleAttempt best = watch.best;
        List<RuleMiss> misses =
                best != null && best.taken().size() == rule.stages().size()
                        ? List.of()
                        : misses(rule, ordered, best == null ? List.of() : best.taken());
        return new RuleTrace(
                rule, watch.activity, best, misses.stream().limit(MAX_MISSES).toList(), misses.size());
    }

    /** The same of milestones that are complete, every match counted. */
    public static RuleTrace of(BoundRule rule, Collection<Milestone> ofKey) {
        return of(rule, ofKey, Long.MAX_VALUE, taken -> true);
    }

    /** How many stages the best match reached. */
    public int stagesReached() {
        return best == null ? 0 : best.taken().size();
    }

    /** True where the rule was told. */
    public boolean matched() {
        return best != null && best.end() == RuleAttempt.End.MATCHED;
    }

    /** The stage that was not reached; absent where all were. */
    public @Nullable BoundStage nextStage() {
        int reached = stagesReached();
        return reached < rule.stages().size() ? rule.stages().get(reached) : null;
    }

    private static List<RuleMiss> misses(BoundRule rule, List<Milestone> ordered, List<Milestone> taken) {
        BoundStage wanted = rule.stages().get(taken.size());
        boolean first = taken.isEmpty();
        boolean strict = !first && wanted.contiguity() == Contiguity.STRICT;
        List<RuleMiss> misses = new ArrayList<>();
        int from = first ? 0 : placeOf(ordered, taken.get(taken.size() - 1)) + 1;
        for (int place = from; place < ordered.size(); place++) {
            Milestone candidate = ordered.get(place);
            boolean late =
                    !first && candidate.coarseEpochMillis() - taken.get(0).coarseEpochMillis() >= rule.withinMillis();
            if (wanted.takes(candidate, taken::get)) {
                if (late) {
                    misses.add(new RuleMiss(candidate, RuleMiss.Why.TIME, null));
                    return misses;
                }
            } else if (candidate.milestoneKind() != wanted.milestoneKind()) {
                if (strict) {
                    misses.add(new RuleMiss(candidate, RuleMiss.Why.KIND, null));
                }
            } else if (!late && wanted.condition() != null) {
                misses.add(new RuleMiss(
                        candidate,
                        RuleMiss.Why.CONDITION,
                        wanted.condition().failure(candidate, taken::get).orElse(null)));
            }
            if (strict) {
                return misses;
            }
        }
        return misses;
    }

    private static int placeOf(List<Milestone> ordered, Milestone wanted) {
        for (int place = 0; place < ordered.size(); place++) {
            if (ordered.get(place) == wanted) {
                return place;
            }
        }
        throw new IllegalStateException("Cannot find a milestone that was taken: " + wanted);
    }

    /** Runs the matcher and sees which matches end, and how. */
    private static final class Watch {
        private final RuleMatcher matcher;
        private final Predicate<List<Milestone>> counted;
        private final RuleProgress progress = new RuleProgress();
        private final RuleActivity activity = new RuleActivity();
        private @Nullable RuleAttempt best;

        Watch(RuleMatcher matcher, Predicate<List<Milestone>> counted) {
            this.matcher = matcher;
            this.counted = counted;
        }

        void take(Milestone milestone) {
            List<OpenMatch> before = List.copyOf(progress.open);
            List<List<Milestone>> told = new ArrayList<>();
            matcher.take(progress, milestone, activity, told::add);
            ended(before, told, milestone.coarseEpochMillis());
        }

        void end(long knownUntilMillis) {
            List<OpenMatch> before = List.copyOf(progress.open);
            List<List<Milestone>> told = new ArrayList<>();
            matcher.passTime(progress, knownUntilMillis, activity, told::add);
            ended(before, told, knownUntilMillis);
            progress.open.forEach(match -> see(match.taken, RuleAttempt.End.WAITING));
        }

        private void ended(List<OpenMatch> before, List<List<Milestone>> told, long millis) {
            told.forEach(taken -> see(taken, RuleAttempt.End.MATCHED));
            Set<OpenMatch> left = Collections.newSetFromMap(new IdentityHashMap<>());
            left.addAll(progress.open);
            for (OpenMatch match : before) {
                if (left.contains(match) || told.contains(match.taken)) {
                    continue;
                }
                boolean complete = match.taken.size() == matcher.rule().stages().size();
                boolean late = millis - match.fromMillis >= matcher.rule().withinMillis();
                see(
                        match.taken,
                        complete
                                ? RuleAttempt.End.USED_UP
                                : late ? RuleAttempt.End.OUT_OF_TIME : RuleAttempt.End.BROKEN);
            }
        }

        private void see(List<Milestone> taken, RuleAttempt.End end) {
            RuleAttempt seen = new RuleAttempt(List.copyOf(taken), end);
            if ((best == null || seen.gotFurtherThan(best)) && counted.test(seen.taken())) {
                best = seen;
            }
        }
    }
}
