package io.tokenstair.collector.reach;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Looks at many things at once, within one deadline. */
public final class Looks {
    /** Longest time for all looks together. */
    public static final Duration DEADLINE = Duration.ofMillis(4_500);

    private static final int MOST_THREADS = 64;

    private Looks() {}

    /** What was seen, in the order of the looks; what was not done within the deadline has failed. */
    public static List<Seen> all(List<Look> looks, Duration deadline) throws InterruptedException {
        if (looks.isEmpty()) {
            return List.of();
        }
        ExecutorService threads = Executors.newFixedThreadPool(Math.min(MOST_THREADS, looks.size()), task -> {
            Thread thread = new Thread(task, "tokenstair-doctor");
            thread.setDaemon(true);
            return thread;
        });
        try {
            List<Callable<Seen>> tasks = new ArrayList<>();
            looks.forEach(look -> tasks.add(look.way()::look));
            List<Seen> seen = new ArrayList<>();
            for (Future<Seen> done : threads.invokeAll(tasks, deadline.toMillis(), TimeUnit.MILLISECONDS)) {
                seen.add(seen(done, deadline));
            }
            return seen;
        } finally {
            threads.shutdownNow();
        }
    }

    private static Seen seen(Future<Seen> done, Duration deadline) throws InterruptedException {
        try {
            return done.get();
        } catch (CancellationException late) {
            return Seen.failed(
                    "no answer within " + deadline.toMillis() / 100 / 10.0 + " s",
                    "check the address, and firewalls on the way: something takes connections and says nothing");
        } catch (ExecutionException failed) {
            Throwable cause = failed.getCause() == null ? failed : failed.getCause();
            return Seen.failed(
                    "cannot be looked at: " + cause.getClass().getSimpleName(), "check what stands in the file for it");
        }
    }
}
