package io.tokenstair.server;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * The page {@code /metrics} of a process of collectors, on an address and a thread of its own: who scrapes it, however slowly, keeps no
 * stream waiting. At most {@value #MAX_CONNECTIONS} connections.
 */
public final class HealthPage implements AutoCloseable {
    static final int MAX_CONNECTIONS = 64;

    private static final Duration REST = Duration.ofSeconds(10);
    private static final int START_SECONDS = 10;

    private final Vertx vertx;
    private final Supplier<String> text;
    private final AtomicInteger connections = new AtomicInteger();
    private final int port;

    /**
     * Starts the page.
     *
     * @param text what it shows: whole families in the OpenMetrics text format, without its end mark
     * @throws IOException when it cannot listen
     */
    public HealthPage(String host, int port, Supplier<String> text) throws IOException {
        this.text = text;
        this.vertx = Vertx.builder()
                .withTransport(new GuardedTransport(REST))
                .with(new VertxOptions()
                        .setEventLoopPoolSize(1)
                        .setWorkerPoolSize(1)
                        .setInternalBlockingPoolSize(1)
                        .setFileSystemOptions(new FileSystemOptions()
                                .setFileCachingEnabled(false)
                                .setClassPathResolvingEnabled(false)))
                .build();
        HttpServer server = vertx.createHttpServer(new HttpServerOptions().setMaxHeaderSize(8 << 10));
        RestingConnections resting = new RestingConnections(vertx, REST, 1);
        server.connectionHandler(connection -> connected(connection, resting));
        server.requestHandler(this::answer);
        try {
            this.port = server.listen(port, host)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get(START_SECONDS, TimeUnit.SECONDS)
                    .actualPort();
        } catch (ExecutionException | TimeoutException failed) {
            vertx.close();
            throw new IOException("cannot listen on " + host + ":" + port + " for /metrics", failed);
        } catch (InterruptedException stopped) {
            vertx.close();
            Thread.currentThread().interrupt();
            throw new IOException("stopped while starting", stopped);
        }
    }

    private void connected(HttpConnection connection, RestingConnections resting) {
        if (connections.incrementAndGet() > MAX_CONNECTIONS) {
            connections.decrementAndGet();
            connection.close();
            return;
        }
        resting.connected(connection);
        connection.closeHandler(closed -> {
            if (resting.closed(connection)) {
                connections.decrementAndGet();
            }
        });
    }

    private void answer(HttpServerRequest request) {
        if (!"/metrics".equals(request.path())) {
            request.response().setStatusCode(404).end("the page is /metrics\n");
        } else if (!request.method().equals(HttpMethod.GET)) {
            request.response()
                    .setStatusCode(405)
                    .putHeader(HttpHeaders.ALLOW, "GET")
                    .end();
        } else {
            request.response()
                    .putHeader(HttpHeaders.CONTENT_TYPE, HealthText.CONTENT_TYPE)
                    .end(text.get() + "# EOF\n");
        }
    }

    /** The port it listens on. */
    public int port() {
        return port;
    }

    @Override
    public void close() {
        try {
            vertx.close().toCompletionStage().toCompletableFuture().get(START_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException late) {
            // What is open ends with the process.
            connections.set(0);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
