package io.tokenstair.rule.bound;

import io.tokenstair.milestone.Milestone;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The meaning of a rule, in plain Java and as simple as it can be said; what runs over streams is tested against it.
 *
 * <p>Per key, in the order of {@link MilestoneOrder}, each milestone that fits the first stage begins at most one match. A way for it
 * to go on is a choice of how often each stage is taken: as {@code times} allows, or not at all where it is optional. Given the choice
 * there is nothing left to choose: each further milestone is the first later one that fits (relaxed) or the next one or none (strict),
 * while the event time since the first is less than {@code within}; and between two that are taken, nothing comes that fits an absent
 * stage between their stages (as the last stage: nothing until {@code within} is over).
 *
 * <p>A way ends with its last milestone; where nothing must come after it that fits an absent stage, when {@code within} is over. Of all
 * ways that can be gone, the match is the one that ends first; of those that end together, the one that takes more in the first stage in
 * which they differ.
 */
public final class RuleOracle {
    private RuleOracle() {}

    /**
     * All matches of a rule, ordered by key, then by their first milestone.
     *
     * @param rule the rule
     * @param milestones in any order
     */
    public static List<Match> matches(BoundRule rule, Collection<Milestone> milestones) {
        Map<String, List<Milestone>> byKey = new TreeMap<>();
        for (Milestone milestone : milestones) {
            String key = rule.key().of(milestone);
            if (key != null) {
                byKey.computeIfAbsent(key, absent -> new ArrayList<>()).add(milestone);
            }
        }
        List<Match> matches = new ArrayList<>();
        byKey.forEach((key, ofKey) -> {
            ofKey.sort(new MilestoneOrder());
            int usedUpTo = -1;
            for (int first = 0; first < ofKey.size(); first++) {
                Way way = new Search(rule, ofKey, first).best();
                if (way != null && first > usedUpTo) {
                    matches.add(new Match(key, way.taken()));
                    usedUpTo = rule.afterMatch() == AfterMatch.SKIP_PAST_LAST ? way.lastPlace() : -1;
                }
            }
        });
        return matches;
    }

    /** Goes every way from one first milestone. */
    private static final class Search {
        private final BoundRule rule;
        private final List<BoundStage> stages;
        private final List<Milestone> ordered;
        private final int first;
        private final List<List<Milestone>> taken = new ArrayList<>();
        private @Nullable Way best;

        Search(BoundRule rule, List<Milestone> ordered, int first) {
            this.rule = rule;
            this.stages = rule.stages();
            this.ordered = ordered;
            this.first = first;
            stages.forEach(stage -> taken.add(new ArrayList<>()));
        }

        @Nullable
        Way best() {
            if (stages.get(0).takes(ordered.get(first), Taken.of(taken))) {
                goOnAfterTaking(0, first);
            }
            return best;
        }

        private void goOnAfterTaking(int stage, int place) {
            List<Milestone> ofStage = taken.get(stage);
            ofStage.add(ordered.get(place));
            if (ofStage.size() < stages.get(stage).timesTo()) {
                goOn(stage, place, stage);
            }
            if (ofStage.size() >= stages.get(stage).timesFrom()) {
                leave(stage, place);
            }
            ofStage.remove(ofStage.size() - 1);
        }

        private void leave(int stage, int place) {
            for (int next = stage + 1; next < stages.size(); next++) {
                if (!stages.get(next).absent()) {
                    goOn(stage, place, next);
                    if (!stages.get(next).optional()) {
                        return;
                    }
                }
            }
            offer(stage, place);
        }

        /** From a milestone taken at a place to the next one of the same or a later stage. */
        private void goOn(int stage, int place, int next) {
            BoundStage wanted = stages.get(next);
            for (int later = place + 1; later < ordered.size() && inTime(later); later++) {
                if (wanted.takes(ordered.get(later), Taken.of(taken))) {
                    goOnAfterTaking(next, later);
                    return;
                }
                if (wanted.contiguity() == Contiguity.STRICT || isForbidden(stage, later, next)) {
                    return;
                }
            }
        }

        private void offer(int stage, int place) {
            boolean waits = !rule.absentBetween(stage, stages.size()).isEmpty();
            for (int later = place + 1; waits && later < ordered.size() && inTime(later); later++) {
                if (isForbidden(stage, later, stages.size())) {
                    return;
                }
            }
            Way way = new Way(
                    waits ? Integer.MAX_VALUE : place,
                    place,
                    taken.stream().map(List::copyOf).toList());
            if (best == null || way.isBetterThan(best)) {
                best = way;
            }
        }

        private boolean isForbidden(int stage, int later, int next) {
            return rule.absentBetween(stage, next).stream()
                    .anyMatch(absent -> absent.takes(ordered.get(later), Taken.of(taken)));
        }

        private boolean inTime(int place) {
            return ordered.get(place).coarseEpochMillis() - ordered.get(first).coarseEpochMillis()
                    < rule.withinMillis();
        }
    }

    /**
     * A way that was gone to its end.
     *
     * @param end the place at which it ends, after all others where it ends with {@code within}
     * @param lastPlace the place of its last milestone
     * @param taken the milestones each stage took
     */
    private record Way(int end, int lastPlace, List<List<Milestone>> taken) {
        boolean isBetterThan(Way other) {
            if (end != other.end) {
                return end < other.end;
            }
            for (int stage = 0; stage < taken.size(); stage++) {
                int more = taken.get(stage).size() - other.taken.get(stage).size();
                if (more != 0) {
                    return more > 0;
                }
            }
            return false;
        }
    }

    /**
     * A match.
     *
     * @param key the key its milestones have in common
     * @param matched the milestones each stage took, in stage order; empty for a stage that was left out and an absent one
     */
    public record Match(String key, List<List<Milestone>> matched) {}
}
