package io.tokenstair.job.rule;

import io.tokenstair.rule.bound.RuleBinder;
import io.tokenstair.rule.match.RuleMatcher;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/**
 * Binds the rules of one subtask beside its task: the first rule of a process is compiled for more than a second, and none is
 * wanted before event time has gone on by the hold of the matching operators. Subtasks of one process share what they bound.
 */
final class RuleBinding implements AutoCloseable {
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
        return CompletableFuture.supplyAsync(() -> new RuleMatcher(RuleBinder.bind(source, text)), thread)::join;
    }

    @Override
    public void close() {
        // What is begun is bound to its end.
        thread.shutdown();
    }
}
