package io.tokenstair.rule.bound;

import io.tokenstair.milestone.Milestone;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The meaning of a rule, in plain Java and as simple as it can be said; the stream implementation is tested against it.
 *
 * <p>Per key, in the order of {@link MilestoneOrder}: each milestone that fits the first stage begins a match; each further stage
 * takes the first later milestone that fits (relaxed) or the next one or none (strict), while the event time since the first
 * milestone is less than {@code within}.
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
                int[] places = matchFrom(rule, ofKey, first);
                if (places != null && first > usedUpTo) {
                    matches.add(new Match(key, milestonesAt(ofKey, places, places.length)));
                    usedUpTo = rule.afterMatch() == AfterMatch.SKIP_PAST_LAST ? places[places.length - 1] : -1;
                }
            }
        });
        return matches;
    }

    private static int @Nullable [] matchFrom(BoundRule rule, List<Milestone> ordered, int first) {
        int[] places = new int[rule.stages().size()];
        int next = first;
        for (int stage = 0; stage < places.length; stage++) {
            int place = placeOf(rule, ordered, stage, next, places);
            if (place < 0) {
                return null;
            }
            places[stage] = place;
            next = place + 1;
        }
        return places;
    }

    private static int placeOf(BoundRule rule, List<Milestone> ordered, int stage, int from, int[] places) {
        BoundStage wanted = rule.stages().get(stage);
        boolean onlyHere = stage == 0 || wanted.contiguity() == Contiguity.STRICT;
        int end = onlyHere ? Math.min(from + 1, ordered.size()) : ordered.size();
        for (int place = from; place < end; place++) {
            Milestone candidate = ordered.get(place);
            if (stage > 0
                    && candidate.coarseEpochMillis() - ordered.get(places[0]).coarseEpochMillis()
                            >= rule.withinMillis()) {
                return -1;
            }
            if (wanted.takes(candidate, earlier -> ordered.get(places[earlier]))) {
                return place;
            }
        }
        return -1;
    }

    private static List<Milestone> milestonesAt(List<Milestone> ordered, int[] places, int count) {
        List<Milestone> matched = new ArrayList<>(count);
        for (int place : places) {
            matched.add(ordered.get(place));
        }
        return List.copyOf(matched);
    }

    /**
     * A match.
     *
     * @param key the key its milestones have in common
     * @param matched one milestone per stage, in stage order
     */
    public record Match(String key, List<Milestone> matched) {}
}
