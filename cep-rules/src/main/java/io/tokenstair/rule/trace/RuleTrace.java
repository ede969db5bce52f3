package io.tokenstair.rule.trace;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.BoundStage;
import io.tokenstair.rule.bound.Contiguity;
import io.tokenstair.rule.bound.MilestoneOrder;
import io.tokenstair.rule.bound.Taken;
import io.tokenstair.rule.match.OpenMatch;
import io.tokenstair.rule.match.RuleActivity;
import io.tokenstair.rule.match.RuleMatcher;
import io.tokenstair.rule.match.RuleProgress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
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
 * @param misses what the stage the best match waited for did not take, the nearest first, then in order, at most {@link #MAX_MISSES}; of a match that was told, none
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
        BoundStage wanted = wanted(rule, best);
        List<RuleMiss> misses = wanted == null ? List.of() : misses(rule, wanted, ordered, best);
        return new RuleTrace(
                rule,
                watch.activity,
                best,
                misses.stream()
                        .sorted(Comparator.comparingInt(RuleMiss::nearness).reversed())
                        .limit(MAX_MISSES)
                        .toList(),
                misses.size());
    }

    /** The same of milestones that are complete, every match counted. */
    public static RuleTrace of(BoundRule rule, Collection<Milestone> ofKey) {
        return of(rule, ofKey, Long.MAX_VALUE, taken -> true);
    }

    /** How many stages the best match reached. */
    public int stagesReached() {
        return best == null ? 0 : best.stagesReached();
    }

    /** True where the rule was told. */
    public boolean matched() {
        return best != null && best.end() == RuleAttempt.End.MATCHED;
    }

    /** The stage that the best match waited for: not reached, not taken often enough, or an absent one; absent where it came to its end. */
    public @Nullable BoundStage nextStage() {
        return wanted(rule, best);
    }

    private static @Nullable BoundStage wanted(BoundRule rule, @Nullable RuleAttempt best) {
        if (best == null) {
            return rule.stages().get(0);
        }
        if (best.end() == RuleAttempt.End.MATCHED || best.end() == RuleAttempt.End.USED_UP) {
            return null;
        }
        int last = best.stagesReached() - 1;
        if (best.taken().get(last).size() < rule.stages().get(last).timesFrom()) {
            return rule.stages().get(last);
        }
        List<BoundStage> later = rule.stages().subList(last + 1, rule.stages().size());
        return later.stream()
                .filter(stage -> !stage.absent() && !stage.optional())
                .findFirst()
                .or(() -> later.stream().filter(BoundStage::absent).findFirst())
                .orElse(null);
    }

    private static List<RuleMiss> misses(
            BoundRule rule, BoundStage wanted, List<Milestone> ordered, @Nullable RuleAttempt best) {
        List<Milestone> milestones = best == null ? List.of() : best.milestones();
        Taken taken = Taken.of(best == null ? Collections.nCopies(rule.stages().size(), List.of()) : best.taken());
        boolean strict = best != null && !wanted.absent() && wanted.contiguity() == Contiguity.STRICT;
        List<BoundStage> absent = best == null
                ? List.of()
                : rule.absentBetween(
                        best.stagesReached() - 1,
                        wanted.absent() ? rule.stages().size() : wanted.index());
        List<RuleMiss> misses = new ArrayList<>();
        int from = best == null ? 0 : placeOf(ordered, milestones.get(milestones.size() - 1)) + 1;
        for (int place = from; place < ordered.size(); place++) {
            Milestone candidate = ordered.get(place);
            boolean late = best != null
                    && candidate.coarseEpochMillis() - milestones.get(0).coarseEpochMillis() >= rule.withinMillis();
            if (!wanted.absent() && wanted.takes(candidate, taken)) {
                if (late) {
                    misses.add(new RuleMiss(candidate, RuleMiss.Why.TIME, null));
                    return misses;
                }
            } else if (!late && absent.stream().anyMatch(stage -> stage.takes(candidate, taken))) {
                misses.add(new RuleMiss(candidate, RuleMiss.Why.FORBIDDEN, null));
                return misses;
            } else if (!wanted.names(candidate.milestoneKind())) {
                if (strict) {
                    misses.add(new RuleMiss(candidate, RuleMiss.Why.KIND, null));
                }
            } else if (!late && !wanted.absent()) {
                misses.add(
                        wanted.differs(candidate, taken)
                                ? new RuleMiss(
                                        candidate,
                                        RuleMiss.Why.CONDITION,
                                        wanted.failure(candidate, taken).orElse(null))
                                : new RuleMiss(candidate, RuleMiss.Why.DISTINCT, null));
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
            List<Before> before = before();
            List<List<List<Milestone>>> told = new ArrayList<>();
            matcher.take(progress, milestone, activity, told::add);
            ended(before, told, milestone.coarseEpochMillis());
        }

        void end(long knownUntilMillis) {
            List<Before> before = before();
            List<List<List<Milestone>>> told = new ArrayList<>();
            matcher.passTime(progress, knownUntilMillis, activity, told::add);
            ended(before, told, knownUntilMillis);
            before().forEach(match -> see(match.taken(), RuleAttempt.End.WAITING));
        }

        private List<Before> before() {
            return progress.open.stream()
                    .map(match -> new Before(match, match.furthest().byStage()))
                    .toList();
        }

        private void ended(List<Before> before, List<List<List<Milestone>>> told, long millis) {
            told.forEach(taken -> see(taken, RuleAttempt.End.MATCHED));
            Set<OpenMatch> left = Collections.newSetFromMap(new IdentityHashMap<>());
            left.addAll(progress.open);
            for (Before seen : before) {
                OpenMatch match = seen.match();
                if (left.contains(match)) {
                    continue;
                }
                if (match.complete) {
                    List<List<Milestone>> taken = match.furthest().byStage();
                    if (!told.contains(taken)) {
                        see(taken, RuleAttempt.End.USED_UP);
                    }
                } else {
                    boolean late = millis - match.fromMillis >= matcher.rule().withinMillis();
                    see(seen.taken(), late ? RuleAttempt.End.OUT_OF_TIME : RuleAttempt.End.BROKEN);
                }
            }
        }

        private void see(List<List<Milestone>> taken, RuleAttempt.End end) {
            RuleAttempt seen = new RuleAttempt(taken, end);
            if ((best == null || seen.gotFurtherThan(best)) && counted.test(seen.milestones())) {
                best = seen;
            }
        }
    }

    /** An open match, and what it had taken before something else came. */
    private record Before(OpenMatch match, List<List<Milestone>> taken) {}
}
