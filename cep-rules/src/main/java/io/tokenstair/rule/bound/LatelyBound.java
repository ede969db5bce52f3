package io.tokenstair.rule.bound;

import io.tokenstair.rule.RuleException;
import io.tokenstair.rule.syntax.RuleParser;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Rules that this process has bound from their texts. A rule is compiled for milliseconds, the first one of a process for more than a second, and a
 * job's rules come to each of its subtasks as texts; all of them may use the same rule, as it is immutable. Who asks for one that another thread is
 * binding waits for it.
 */
final class LatelyBound {
    /** Most rules shared in one process; the one not asked for the longest is given up. */
    static final int MAX_RULES = 1_024;

    private static final Map<Text, CompletableFuture<BoundRule>> RULES = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Text, CompletableFuture<BoundRule>> eldest) {
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
        CompletableFuture<BoundRule> mine = new CompletableFuture<>();
        @Nullable CompletableFuture<BoundRule> shared;
        synchronized (RULES) {
            shared = RULES.putIfAbsent(wanted, mine);
        }
        if (shared != null) {
            @Nullable BoundRule bound = shared.handle((rule, mistake) -> rule).join();
            // A text that is no rule is not remembered: each who asks is told where its mistake is.
            return bound == null ? RuleBinder.bind(RuleParser.parse(file, text)) : bound;
        }
        try {
            mine.complete(RuleBinder.bind(RuleParser.parse(file, text)));
        } catch (RuntimeException | Error e) {
            mine.completeExceptionally(e);
            synchronized (RULES) {
                RULES.remove(wanted, mine);
            }
            throw e;
        }
        return mine.join();
    }

    private record Text(String file, String text) {}
}
