package io.tokenstair.job.rule;

import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.bound.RuleKey;
import io.tokenstair.rule.match.RuleMatcher;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Which revision of each rule of one kind of key is in force when: of those that hold at an event time, the one scheduled last. It does not
 * depend on the order in which they became known. Bounded by what {@link RuleScheduling} accepts within {@link #MEMORY_MILLIS}, and in batch by
 * the archive.
 */
final class RuleTimeline {
    /** How long a revision is wanted after it was replaced, in event time: a request keeps it, and so do the matches it began. */
    static final long MEMORY_MILLIS = RuleLife.MAX_LIFE_MILLIS + 25 * 3_600_000L;

    private final RuleKey key;
    private final Function<ScheduledRule, Supplier<RuleMatcher>> binding;
    private final Map<String, TreeMap<Long, Revision>> revisions = new TreeMap<>();
    private final TreeSet<Long> instants = new TreeSet<>();
    private final NavigableMap<Long, InForce> inForce = new TreeMap<>();

    /**
     * An empty timeline.
     *
     * @param key rules of other keys are known only as what ends a rule of this one
     * @param binding makes the matcher of a revision, perhaps later
     */
    RuleTimeline(RuleKey key, Function<ScheduledRule, Supplier<RuleMatcher>> binding) {
        this.key = key;
        this.binding = binding;
    }

    /** A revision of a rule. */
    static final class Revision {
        private final ScheduledRule scheduled;
        private final @Nullable Supplier<RuleMatcher> matcher;

        Revision(ScheduledRule scheduled, @Nullable Supplier<RuleMatcher> matcher) {
            this.scheduled = scheduled;
            this.matcher = matcher;
        }

        /** The rule's name. */
        String ruleId() {
            return scheduled.ruleId();
        }

        /** Its revision, from 1. */
        int version() {
            return scheduled.version();
        }

        /** What matches it. */
        RuleMatcher matcher() {
            if (matcher == null) {
                throw new IllegalStateException("Cannot match rule " + ruleId() + ": it is not in force");
            }
            return matcher.get();
        }
    }

    /** The rules in force between two instants. */
    static final class InForce {
        private final Map<String, Revision> byId = new TreeMap<>();
        private final Map<MilestoneKind, List<Revision>> byKind = new EnumMap<>(MilestoneKind.class);

        /** The revision of a rule; null where none is in force. */
        @Nullable
        Revision of(String ruleId) {
            return byId.get(ruleId);
        }

        /** The rules that must see milestones of a kind, in the order of their ids. */
        List<Revision> of(MilestoneKind kind) {
            return byKind.computeIfAbsent(
                    kind,
                    wanted -> byId.values().stream()
                            .filter(revision -> {
                                var rule = revision.matcher().rule();
                                return rule.seesEveryKind()
                                        || rule.milestoneKinds().contains(wanted);
                            })
                            .toList());
        }
    }

    /** Takes a revision. One that is known already changes nothing. */
    void add(ScheduledRule scheduled) {
        TreeMap<Long, Revision> ofRule = revisions.computeIfAbsent(scheduled.ruleId(), id -> new TreeMap<>());
        Revision known = ofRule.get(scheduled.scheduleIndex());
        if (known != null && ORDER.compare(known.scheduled, scheduled) >= 0) {
            return;
        }
        Supplier<RuleMatcher> matcher = scheduled.key() == key ? binding.apply(scheduled) : null;
        Revision revision = new Revision(scheduled, matcher);
        ofRule.put(scheduled.scheduleIndex(), revision);
        if (known != null) {
            forgetSets();
        }
        instants.add(instant(revision));
        inForce.tailMap(instant(revision), true).clear();
    }

    /** Of two with one index, which only an archive of two runs can hold, one is taken whatever the order. */
    private static final Comparator<ScheduledRule> ORDER = Comparator.comparingLong(ScheduledRule::effectiveMillis)
            .thenComparingInt(ScheduledRule::version)
            .thenComparing(rule -> rule.text() == null ? "" : rule.text());

    /** The rules in force at an event time, in ms. */
    InForce at(long millis) {
        Long instant = instants.floor(millis);
        return inForce.computeIfAbsent(instant == null ? Long.MIN_VALUE : instant, this::madeAt);
    }

    private InForce madeAt(long instant) {
        InForce rules = new InForce();
        for (TreeMap<Long, Revision> ofRule : revisions.values()) {
            Revision last = lastAt(ofRule, instant);
            if (last != null && last.matcher != null) {
                rules.byId.put(last.ruleId(), last);
            }
        }
        return rules;
    }

    private void forgetSets() {
        inForce.clear();
        instants.clear();
        revisions.values().forEach(ofRule -> ofRule.values().forEach(one -> instants.add(instant(one))));
    }

    private static long instant(Revision revision) {
        long effective = revision.scheduled.effectiveMillis();
        return effective <= ScheduledRule.BEGINNING ? Long.MIN_VALUE : effective;
    }

    private static @Nullable Revision lastAt(TreeMap<Long, Revision> ofRule, long millis) {
        for (Revision revision : ofRule.descendingMap().values()) {
            if (instant(revision) <= millis) {
                return revision;
            }
        }
        return null;
    }

    /**
     * Forgets what nobody can want any more.
     *
     * @param beforeMillis event time before which what was replaced is forgotten, in ms
     * @return the {@link ScheduledRule#id} of each one forgotten
     */
    List<String> forget(long beforeMillis) {
        List<String> forgotten = new ArrayList<>();
        for (TreeMap<Long, Revision> ofRule : new HashMap<>(revisions).values()) {
            Revision last = lastAt(ofRule, beforeMillis);
            if (last == null) {
                continue;
            }
            for (Revision revision : List.copyOf(ofRule.values())) {
                boolean replaced = revision.scheduled.scheduleIndex() < last.scheduled.scheduleIndex();
                boolean over = revision == last && last.scheduled.text() == null;
                if (replaced || over) {
                    ofRule.remove(revision.scheduled.scheduleIndex());
                    forgotten.add(revision.scheduled.id());
                }
            }
            if (ofRule.isEmpty()) {
                revisions.remove(last.ruleId());
            }
        }
        if (!forgotten.isEmpty()) {
            forgetSets();
        }
        return forgotten;
    }
}
