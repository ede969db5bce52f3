package io.tokenstair.rule.bound;

import io.tokenstair.milestone.Milestone;
import java.util.List;

/**
 * Milestones a rule is tried on.
 *
 * @param name what the example shows
 * @param given the milestones
 * @param matchExpected true where the rule must match, false where it must not
 */
public record RuleExample(String name, List<Milestone> given, boolean matchExpected) {
    /** True where the rule does what the example expects. */
    public boolean holdsFor(BoundRule rule) {
        return RuleOracle.matches(rule, given).isEmpty() != matchExpected;
    }
}
