package io.tokenstair.collect.otlp.receive;

import io.tokenstair.clock.EpochClock;
import io.tokenstair.collect.otlp.OtlpSignal;
import io.tokenstair.server.GuardedTransport;
import io.tokenstair.server.RestingConnections;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import java.io.Closeable;
import java.io.IOException;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Receives OTLP over gRPC and HTTP. Each port takes both. Bounded whatever clients do: bytes of one request on the wire and unzipped, bytes of all
 * requests together, time of a request, connections, streams of a connection, size of headers.
 */
public final class OtlpReceiver implements Closeable {
    private static final int MAX_HEADER_BYTES = 16 << 10;
    private static final int MAX_STREAMS = 64;
    private static final long REFUSED_STREAM = 7;
    private static final long WAIT_SECONDS = 10;
    private static final long STEPS_EVERY_MILLIS = 1_000;

    private final Vertx vertx;
    private final HttpServer grpc;
    private final HttpServer http;
    private final ReceiverCounts counts;
    private final OtlpIntake intake;

    private OtlpReceiver(Vertx vertx, HttpServer grpc, HttpServer http, ReceiverCounts counts, OtlpIntake intake) {
        this.intake = intake;
        this.vertx = vertx;
        this.grpc = grpc;
        this.http = http;
        this.counts = counts;
    }

    /**
     * Starts a receiver.
     *
     * @param settings where it listens, and what it bears
     * @param way where its events go
     * @param wall this machine's wall clock
     * @param moreMetrics what is told at {@code /metrics} beside the receiver's own figures: whole families in the OpenMetrics text format
     * @throws IOException when a port cannot be had
     */
    public static OtlpReceiver start(
            ReceiverSettings settings, EventWay way, EpochClock wall, Supplier<String> moreMetrics) throws IOException {
        Vertx vertx = Vertx.builder()
                .withTransport(new GuardedTransport(settings.requestTime()))
                .with(new VertxOptions()
                        .setEventLoopPoolSize(2)
                        .setWorkerPoolSize(2)
                        .setBlockedThreadCheckInterval(10_000))
                .build();
        ReceiverCounts counts = new ReceiverCounts();
        AtomicLong heldBytes = new AtomicLong();
        OtlpIntake intake = new OtlpIntake(settings, way, wall, counts);
        try {
            HttpServer grpc = listen(
                    vertx,
                    settings,
                    settings.grpcHost(),
                    settings.grpcPort(),
                    counts,
                    request -> Exchange.begin(vertx, settings, intake, counts, heldBytes, moreMetrics, request));
            HttpServer http = listen(
                    vertx,
                    settings,
                    settings.httpHost(),
                    settings.httpPort(),
                    counts,
                    request -> Exchange.begin(vertx, settings, intake, counts, heldBytes, moreMetrics, request));
            vertx.setPeriodic(
                    STEPS_EVERY_MILLIS,
                    unused -> vertx.executeBlocking(
                            () -> {
                                intake.drainSteps();
                                return true;
                            },
                            false));
            return new OtlpReceiver(vertx, grpc, http, counts, intake);
        } catch (IOException | RuntimeException e) {
            vertx.close();
            throw e;
        }
    }

    private static HttpServer listen(
            Vertx vertx,
            ReceiverSettings settings,
            String host,
            int port,
            ReceiverCounts counts,
            Handler<HttpServerRequest> handler)
            throws IOException {
        HttpServerOptions options = new HttpServerOptions()
                .setHost(host)
                .setPort(port)
                .setHttp2ClearTextEnabled(true)
                .setMaxHeaderSize(MAX_HEADER_BYTES)
                .setInitialSettings(
                        new Http2Settings().setMaxConcurrentStreams(MAX_STREAMS).setMaxHeaderListSize(MAX_HEADER_BYTES))
                .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
                .setIdleTimeout((int)
                        Math.min(Integer.MAX_VALUE, 4 * settings.requestTime().toMillis()));
        secure(options, settings.security());
        RestingConnections resting =
                new RestingConnections(vertx, settings.requestTime().multipliedBy(4), MAX_STREAMS);
        HttpServer server = vertx.createHttpServer(options)
                .connectionHandler(connection -> {
                    if (counts.connected(settings.connections())) {
                        resting.connected(connection);
                        connection.closeHandler(closed -> {
                            if (resting.closed(connection)) {
                                counts.disconnected();
                            }
                        });
                    } else {
                        connection.close();
                    }
                })
                .requestHandler(request -> {
                    if (!resting.began(request.connection())) {
                        request.response().reset(REFUSED_STREAM);
                        return;
                    }
                    request.response().endHandler(ended -> resting.ended(request.connection()));
                    handler.handle(request);
                });
        try {
            return server.listen().toCompletionStage().toCompletableFuture().get(WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            boolean taken = e.getCause() instanceof SocketException;
            throw new IOException(
                    "Cannot listen on " + host + ":" + port
                            + (taken || settings.security().certificate() == null
                                    ? ": it is taken or not allowed; choose another port"
                                    : ": check the files of certificate and key"),
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted while starting to listen", e);
        }
    }

    private static void secure(HttpServerOptions options, ReceiverSecurity security) {
        Path certificate = security.certificate();
        Path key = security.key();
        if (certificate == null || key == null) {
            return;
        }
        options.setSsl(true)
                .setUseAlpn(true)
                .setKeyCertOptions(new PemKeyCertOptions()
                        .setCertPath(certificate.toString())
                        .setKeyPath(key.toString()));
        Path authority = security.clientAuthority();
        if (authority != null) {
            options.setClientAuth(ClientAuth.REQUIRED)
                    .setTrustOptions(new PemTrustOptions().addCertPath(authority.toString()));
        }
    }

    /** The port of gRPC. */
    public int grpcPort() {
        return grpc.actualPort();
    }

    /** The port of HTTP. */
    public int httpPort() {
        return http.actualPort();
    }

    /** Spans, data points and log records taken so far. */
    public long acceptedCount() {
        long accepted = 0;
        for (OtlpSignal signal : OtlpSignal.values()) {
            accepted += counts.accepted(signal);
        }
        return accepted;
    }

    /** Spans, data points and log records refused so far, and requests that could not be read. */
    public long rejectedCount() {
        long rejected = 0;
        for (OtlpSignal signal : OtlpSignal.values()) {
            rejected += counts.rejected(signal);
        }
        return rejected;
    }

    @Override
    public void close() {
        try {
            vertx.close().toCompletionStage().toCompletableFuture().get(WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            // Its threads are daemons of a process that ends.
            return;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            intake.endSteps();
        }
    }
}
