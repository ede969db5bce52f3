package io.tokenstair.gateway;

import io.tokenstair.clock.HostClocks;
import io.tokenstair.log.CollectorFeed;
import io.tokenstair.server.GuardedTransport;
import io.tokenstair.server.HealthFigure;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The gateway: passes requests and answers through, byte for byte, and tells the log when what passed. */
public final class Gateway implements AutoCloseable {
    private static final int START_SECONDS = 30;
    private static final List<String> OUTCOMES = List.of("complete", "http-error", "failed", "client-closed");

    private final GatewaySettings settings;
    private final Vertx vertx;
    private final Recorder recorder;
    private final Traffic traffic = new Traffic();
    private final int port;

    private Gateway(GatewaySettings settings, CollectorFeed feed) throws IOException {
        this.settings = settings;
        this.recorder = new Recorder(feed, settings.maxQueuedBytes());
        this.vertx = Vertx.builder()
                .withTransport(new GuardedTransport(settings.headerTimeout()))
                .with(new VertxOptions()
                        .setEventLoopPoolSize(settings.threads())
                        .setWorkerPoolSize(2)
                        .setInternalBlockingPoolSize(2)
                        // Nothing here loads classes by a thread's loader, which would be set anew for every chunk.
                        .setDisableTCCL(true)
                        .setFileSystemOptions(new FileSystemOptions()
                                .setFileCachingEnabled(false)
                                .setClassPathResolvingEnabled(false)))
                .build();
        try {
            this.port = listen();
        } catch (IOException | RuntimeException failed) {
            vertx.close();
            recorder.close();
            throw failed;
        }
        feed.beat(HostClocks.sampler());
    }

    /**
     * Starts a gateway.
     *
     * @param feed what it tells the log by
     * @throws IOException when it cannot listen, or a certificate cannot be read
     */
    public static Gateway start(GatewaySettings settings, CollectorFeed feed) throws IOException {
        return new Gateway(settings, feed);
    }

    private int listen() throws IOException {
        // One deployment: below zero all of its servers share one port that is free.
        int wanted = settings.port() == 0 ? -1 : settings.port();
        Queue<GatewayVerticle> loops = new ConcurrentLinkedQueue<>();
        await(
                vertx.deployVerticle(
                        () -> {
                            GatewayVerticle loop = new GatewayVerticle(settings, wanted, recorder, traffic);
                            loops.add(loop);
                            return loop;
                        },
                        new DeploymentOptions().setInstances(settings.threads())),
                settings);
        return loops.element().port();
    }

    private static void await(io.vertx.core.Future<String> deployed, GatewaySettings settings) throws IOException {
        try {
            deployed.toCompletionStage().toCompletableFuture().get(START_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            Throwable cause = failed.getCause() == null ? failed : failed.getCause();
            throw new IOException(
                    "cannot listen on " + settings.host() + ":" + settings.port() + ": "
                            + String.valueOf(cause.getMessage())
                                    .lines()
                                    .findFirst()
                                    .orElse(""),
                    failed);
        } catch (TimeoutException slow) {
            throw new IOException("cannot listen within " + START_SECONDS + " s", slow);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IOException("stopped while starting", stopped);
        }
    }

    /** The port it listens on. */
    public int port() {
        return port;
    }

    /** Requests that are open now. */
    public int openCount() {
        return traffic.openCount();
    }

    /** Requests that went to the engine once more, for it had closed the connection that they were on unanswered. */
    public long sentAgainCount() {
        return traffic.sentAgainCount();
    }

    /** Requests so far, those that are not recorded among them. */
    public long requestCount() {
        return traffic.requestCount();
    }

    /** Requests whose record broke off. */
    public long brokenRecordCount() {
        return recorder.brokenCount();
    }

    /** How it fares, in figures. */
    public List<HealthFigure> health() {
        List<HealthFigure> figures = new ArrayList<>();
        figures.add(HealthFigure.counter(
                "tokenstair_gateway_requests",
                "Requests that began, those that are not recorded among them.",
                traffic.requestCount()));
        figures.add(HealthFigure.gauge("tokenstair_gateway_open_requests", "Requests open.", traffic.openCount()));
        for (String outcome : OUTCOMES) {
            figures.add(HealthFigure.counter(
                    "tokenstair_gateway_ended_requests",
                    "Requests that ended, by how.",
                    "outcome=\"" + outcome + '"',
                    traffic.endedCount(outcome)));
        }
        figures.add(HealthFigure.counter(
                "tokenstair_gateway_resent_requests",
                "Times a request was sent once more, its kept connection having been closed unanswered.",
                traffic.sentAgainCount()));
        figures.add(HealthFigure.counter(
                "tokenstair_gateway_replaced_ids",
                "Request ids that were replaced: hostile, or of a request that was open.",
                traffic.replacedIdCount()));
        figures.add(HealthFigure.gauge(
                "tokenstair_gateway_connections", "Connections of clients open.", traffic.connectionCount()));
        figures.add(HealthFigure.counter(
                "tokenstair_gateway_refused_connections",
                "Connections of clients refused, as too many were open.",
                traffic.refusedConnectionCount()));
        for (boolean straight : new boolean[] {true, false}) {
            figures.add(HealthFigure.counter(
                    "tokenstair_gateway_pieces",
                    "Pieces of recorded answers passed on: straight from socket to socket, or past a queue.",
                    "way=\"" + (straight ? "straight" : "queue") + '"',
                    traffic.pieceCount(straight)));
        }
        figures.add(
                HealthFigure.counter("tokenstair_gateway_chunks", "Chunks told to the log.", recorder.chunkCount()));
        figures.add(HealthFigure.counter("tokenstair_gateway_tokens", "Tokens in them.", recorder.tokenCount()));
        figures.add(HealthFigure.gauge(
                "tokenstair_gateway_recorder_queued_bytes",
                "Bytes that passed and wait to be looked into.",
                recorder.queuedBytes()));
        figures.add(HealthFigure.gauge(
                "tokenstair_gateway_recorder_queue_limit_bytes",
                "Most bytes that may wait to be looked into.",
                settings.maxQueuedBytes()));
        figures.add(HealthFigure.counter(
                "tokenstair_gateway_broken_records", "Requests whose record broke off.", recorder.brokenCount()));
        figures.add(HealthFigure.counter(
                "tokenstair_gateway_lost_events",
                "Events of this gateway that the log will never have.",
                recorder.lostCount()));
        return figures;
    }

    /** Ends it: open answers are cut off and told as such. */
    @Override
    public void close() {
        traffic.stop();
        try {
            vertx.close().toCompletionStage().toCompletableFuture().get(START_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException late) {
            // What is open ends with the process.
            traffic.stop();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        recorder.close();
    }
}
