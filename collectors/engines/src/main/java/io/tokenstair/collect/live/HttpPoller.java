package io.tokenstair.collect.live;

import io.tokenstair.clock.ElapsedClock;
import java.io.Closeable;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Asks a server for the same thing again and again, so that it is never harmed: one request at a time, at most one in {@value #LEAST_MILLIS}
 * ms, given up after {@value #PATIENCE_SECONDS} s, no more than {@value #MAX_BODY_BYTES} bytes of an answer; a server that fails is asked
 * ever more rarely, up to once in {@value #RAREST_MILLIS} ms.
 */
public final class HttpPoller implements Closeable {
    /** Most bytes of an answer. */
    public static final int MAX_BODY_BYTES = 16 << 20;

    private static final long LEAST_MILLIS = 50;
    private static final long RAREST_MILLIS = 30_000;
    private static final int PATIENCE_SECONDS = 5;

    private final URI endpoint;
    private final long everyMillis;
    private final Answers answers;
    private final HttpClient client;
    private final ScheduledExecutorService clock;
    private int failuresInARow;
    private volatile long answeredCount;
    private volatile long failedCount;

    /** Takes what the server said; called by one thread. */
    public interface Answers {
        /**
         * An answer of status 200.
         *
         * @param body at most {@link #MAX_BODY_BYTES}
         * @param beforeNanos when it was asked for, by this machine's monotonic clock
         * @param afterNanos when it had come
         */
        void answered(byte[] body, long beforeNanos, long afterNanos);

        /**
         * No answer, or none of use; called for the first of a row of failures only.
         *
         * @param reason why not, without what the server said
         * @param beforeNanos when it was asked for
         */
        void failed(String reason, long beforeNanos);
    }

    /**
     * A poller that begins at once.
     *
     * @param every rest between an answer and the next request
     */
    public HttpPoller(URI endpoint, Duration every, String threadName, Answers answers) {
        this.endpoint = endpoint;
        this.everyMillis = Math.max(LEAST_MILLIS, every.toMillis());
        this.answers = answers;
        this.client =
                HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
        this.clock = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, threadName);
            thread.setDaemon(true);
            return thread;
        });
        clock.execute(this::poll);
    }

    private void poll() {
        long before = ElapsedClock.system().elapsedNanos();
        String failure = ask(before);
        if (Thread.currentThread().isInterrupted()) {
            return;
        }
        if (failure == null) {
            failuresInARow = 0;
            answeredCount++;
        } else {
            failedCount++;
            if (failuresInARow++ == 0) {
                answers.failed(failure, before);
            }
        }
        long rest = everyMillis;
        for (int i = 1; i < failuresInARow && rest < RAREST_MILLIS; i++) {
            rest *= 2;
        }
        if (!clock.isShutdown()) {
            try {
                clock.schedule(this::poll, Math.max(everyMillis, Math.min(rest, RAREST_MILLIS)), TimeUnit.MILLISECONDS);
            } catch (java.util.concurrent.RejectedExecutionException closed) {
                return;
            }
        }
    }

    /** Asks once; returns why it was in vain, null where it was not. */
    private @Nullable String ask(long before) {
        CompletableFuture<HttpResponse<byte[]>> asked = client.sendAsync(
                HttpRequest.newBuilder(endpoint)
                        .timeout(Duration.ofSeconds(PATIENCE_SECONDS))
                        .build(),
                unused -> new BoundedBody());
        try {
            HttpResponse<byte[]> answer = asked.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (answer.statusCode() != 200) {
                return "HTTP status " + answer.statusCode();
            }
            answers.answered(answer.body(), before, ElapsedClock.system().elapsedNanos());
            return null;
        } catch (ExecutionException away) {
            Throwable cause = away.getCause() == null ? away : away.getCause();
            return cause instanceof TooLong
                    ? "an answer of more than " + MAX_BODY_BYTES + " bytes"
                    : "cannot be read: " + cause.getClass().getSimpleName();
        } catch (TimeoutException slow) {
            asked.cancel(true);
            return "no answer within " + PATIENCE_SECONDS + " s";
        } catch (InterruptedException closing) {
            asked.cancel(true);
            Thread.currentThread().interrupt();
            return "closed";
        }
    }

    /** Answers of status 200 so far. */
    public long answeredCount() {
        return answeredCount;
    }

    /** Requests in vain so far. */
    public long failedCount() {
        return failedCount;
    }

    @Override
    public void close() {
        clock.shutdownNow();
    }

    private static final class TooLong extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** A body that is cut off where it is longer than may be. */
    private static final class BoundedBody implements HttpResponse.BodySubscriber<byte[]> {
        private final CompletableFuture<byte[]> whole = new CompletableFuture<>();
        private final java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
        private Flow.@Nullable Subscription subscription;

        @Override
        public CompletionStage<byte[]> getBody() {
            return whole;
        }

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
            given.request(1);
        }

        @Override
        public void onNext(List<ByteBuffer> buffers) {
            for (ByteBuffer buffer : buffers) {
                if (bytes.size() + buffer.remaining() > MAX_BODY_BYTES) {
                    if (subscription != null) {
                        subscription.cancel();
                    }
                    whole.completeExceptionally(new TooLong());
                    return;
                }
                byte[] part = new byte[buffer.remaining()];
                buffer.get(part);
                bytes.writeBytes(part);
            }
            if (subscription != null) {
                subscription.request(1);
            }
        }

        @Override
        public void onError(Throwable problem) {
            whole.completeExceptionally(problem);
        }

        @Override
        public void onComplete() {
            whole.complete(bytes.toByteArray());
        }
    }
}
