package io.tokenstair.rule.bound;

import io.tokenstair.rule.RuleException;
import io.tokenstair.rule.syntax.RuleParser;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rules that this process has bound from their texts. Binding takes milliseconds, and a job's rules come to each of its subtasks as texts; all of
 * them may use the same rule, as it is immutable.
 */
final class LatelyBound {
    /** Most rules remembered; the one not asked for the longest is given up. */
    static final int MAX_RULES = 256;

    private static final Map<Text, BoundRule> RULES = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Text, BoundRule> eldest) {
            return size() > MAX_RULES;
        }
    };

    private LatelyBound() {}

    /**
     * The rule of a text.
     *
     * @throws RuleException at the first mistake, with its place
     */
    static BoundRule of(String file, String text) {
        Text wanted = new Text(file, text);
        synchronized (RULES) {
            @Nullable BoundRule known = RULES.get(wanted);
            if (known != null) {
                return known;
            }
        }
        // Others may bind theirs meanwhile.
        BoundRule bound = RuleBinder.bind(RuleParser.parse(file, text));
        synchronized (RULES) {
            @Nullable BoundRule other = RULES.putIfAbsent(wanted, bound);
            return other == null ? bound : other;
        }
    }

    private record Text(String file, String text) {}
}
