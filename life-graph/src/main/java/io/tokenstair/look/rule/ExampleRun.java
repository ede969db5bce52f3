package io.tokenstair.look.rule;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleExample;
import io.tokenstair.rule.trace.RuleTrace;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a rule does with one of its examples.
 *
 * @param rule the rule
 * @param example the example
 * @param ok true where it does what the example expects, as the meaning of the rule says
 * @param traces how far it got with each key of the example, in the order of the keys; empty where no milestone has the rule's key
 */
record ExampleRun(BoundRule rule, RuleExample example, boolean ok, List<RuleTrace> traces) {
    /** Runs every example of a rule. */
    static List<ExampleRun> all(BoundRule rule) {
        return rule.examples().stream().map(example -> of(rule, example)).toList();
    }

    private static ExampleRun of(BoundRule rule, RuleExample example) {
        Map<String, List<Milestone>> byKey = new TreeMap<>();
        for (Milestone milestone : example.given()) {
            String key = rule.key().of(milestone);
            if (key != null) {
                byKey.computeIfAbsent(key, absent -> new ArrayList<>()).add(milestone);
            }
        }
        return new ExampleRun(
                rule,
                example,
                example.holdsFor(rule),
                byKey.values().stream().map(ofKey -> RuleTrace.of(rule, ofKey)).toList());
    }

    /** What the example expects. */
    String expected() {
        return outcome(example.matchExpected());
    }

    /** What the rule does. */
    String found() {
        return outcome(example.matchExpected() == ok);
    }

    private static String outcome(boolean match) {
        return match ? "match" : "no-match";
    }

    /** The key with which the rule got furthest, of several the first; absent where no milestone has the rule's key. */
    @Nullable
    RuleTrace furthest() {
        RuleTrace furthest = null;
        for (RuleTrace trace : traces) {
            boolean further = furthest == null
                    || trace.matched() && !furthest.matched()
                    || trace.matched() == furthest.matched() && trace.stagesReached() > furthest.stagesReached();
            furthest = further ? trace : furthest;
        }
        return furthest;
    }
}
