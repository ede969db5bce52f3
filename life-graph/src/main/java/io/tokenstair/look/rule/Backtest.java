package io.tokenstair.look.rule;

import io.tokenstair.look.archive.RowCursor;
import io.tokenstair.look.archive.RuleQueries;
import io.tokenstair.look.archive.UnusableInputException;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundRule;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a rule finds over an archive, beside what the current revision of the same id finds. Two findings are of the same thing where they
 * begin with the same milestone.
 *
 * @param candidate the rule tried
 * @param current the current revision; absent where there is none of that id
 * @param differences what is new, lost or changed, in the order of event time
 * @param same how many findings say the same
 * @param foundCount findings of the candidate
 * @param currentCount findings of the current revision
 */
record Backtest(
        BoundRule candidate,
        @Nullable BoundRule current,
        List<Difference> differences,
        long same,
        long foundCount,
        long currentCount) {
    /** Most findings of one rule that are compared. */
    static final int MAX_FOUND = 200_000;

    /** What became of a finding. */
    enum Change {
        /** Only the candidate finds it. */
        NEW,
        /** Only the current revision finds it. */
        LOST,
        /** Both find it, and do not say the same. */
        CHANGED
    }

    /**
     * A match and what it says.
     *
     * @param key the key its milestones have in common
     * @param taken what it took, in order
     * @param says cause, severity and sentences
     */
    record Found(String key, List<Milestone> taken, String says) {}

    /**
     * A difference.
     *
     * @param change what became of it
     * @param candidate what the candidate finds; absent where it is lost
     * @param current what the current revision finds; absent where it is new
     */
    record Difference(
            Change change,
            @Nullable Found candidate,
            @Nullable Found current) {
        /** The match, of the candidate where it has one. */
        Found shown() {
            Found found = candidate == null ? current : candidate;
            if (found == null) {
                throw new IllegalStateException("Cannot show a difference of nothing");
            }
            return found;
        }
    }

    static Backtest of(RuleQueries queries, BoundRule candidate, @Nullable BoundRule current) {
        Map<Milestone, Found> found = run(queries, candidate);
        Map<Milestone, Found> before = current == null ? Map.of() : run(queries, current);
        List<Difference> differences = new ArrayList<>();
        long same = 0;
        for (Map.Entry<Milestone, Found> one : found.entrySet()) {
            Found other = before.get(one.getKey());
            if (other == null) {
                differences.add(new Difference(Change.NEW, one.getValue(), null));
            } else if (other.says().equals(one.getValue().says())
                    && other.taken().equals(one.getValue().taken())) {
                same++;
            } else {
                differences.add(new Difference(Change.CHANGED, one.getValue(), other));
            }
        }
        before.forEach((first, lost) -> {
            if (!found.containsKey(first)) {
                differences.add(new Difference(Change.LOST, null, lost));
            }
        });
        differences.sort((left, right) -> Long.compare(
                left.shown().taken().get(0).coarseEpochMillis(),
                right.shown().taken().get(0).coarseEpochMillis()));
        return new Backtest(candidate, current, List.copyOf(differences), same, found.size(), before.size());
    }

    private static Map<Milestone, Found> run(RuleQueries queries, BoundRule rule) {
        Map<Milestone, Found> found = new LinkedHashMap<>();
        try (RowCursor<Milestone> milestones = queries.milestones()) {
            RuleReplay.run(List.of(rule), milestones, true, (matched, key, byStage) -> {
                if (found.size() >= MAX_FOUND) {
                    throw new UnusableInputException("Cannot compare more than " + MAX_FOUND + " findings: rule "
                            + rule.id() + " version " + rule.revision() + " finds more over this archive");
                }
                List<Milestone> taken = byStage.stream().flatMap(List::stream).toList();
                found.put(
                        taken.get(0),
                        new Found(
                                key,
                                taken,
                                rule.cause(byStage) + " " + rule.severity().severityName() + ": "
                                        + rule.narrative(byStage)));
            });
        }
        return found;
    }

    /** How many findings changed so. */
    long count(Change change) {
        return differences.stream()
                .filter(difference -> difference.change() == change)
                .count();
    }
}
