package io.tokenstair.job.rule;

import io.tokenstair.rule.bound.RuleBinder;
import io.tokenstair.rule.match.RuleMatcher;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/**
 * Binds the rules of one subtask beside its task: a rule is compiled for milliseconds, the first one of a process for more than a second, and is
 * not wanted before event time has gone on by the hold of the matching operators. Subtasks of one process share what they bound; that is safe,
 * as a matcher has no state.
 */
final class RuleBinding implements AutoCloseable {
    /** Most matchers shared in one process; the one not asked for the longest is given up. */
    private static final int MAX_SHARED = 1_024;

    private static final Map<String, CompletableFuture<RuleMatcher>> SHARED = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, CompletableFuture<RuleMatcher>> eldest) {
            return size() > MAX_SHARED;
        }
    };

    private final ExecutorService thread;

    /** Binds in a thread of its own. */
    RuleBinding() {
        thread = Executors.newSingleThreadExecutor(task -> {
            Thread made = new Thread(task, "bind-rules");
            made.setDaemon(true);
            return made;
        });
    }

    /** The matcher of a revision, waited for where it is asked for before it is bound. */
    Supplier<RuleMatcher> bind(ScheduledRule rule) {
        String source = rule.source();
        String text = Objects.requireNonNull(rule.text());
        CompletableFuture<RuleMatcher> mine = new CompletableFuture<>();
        CompletableFuture<RuleMatcher> shared;
        synchronized (SHARED) {
            shared = SHARED.putIfAbsent(source + "\n" + text, mine);
        }
        if (shared != null) {
            return shared::join;
        }
        thread.execute(() -> {
            try {
                mine.complete(new RuleMatcher(RuleBinder.bind(source, text)));
            } catch (RuntimeException | Error e) {
                mine.completeExceptionally(e);
            }
        });
        return mine::join;
    }

    @Override
    public void close() {
        // What others wait for is bound to its end.
        thread.shutdown();
    }
}
