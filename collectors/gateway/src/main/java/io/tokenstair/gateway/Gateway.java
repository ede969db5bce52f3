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
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.ToLongFunction;

/** The gateway: passes requests and answers through, byte for byte, and tells the log when what passed. */
public final class Gateway implements AutoCloseable {
    private static final int START_SECONDS = 30;

    /** What it says of itself, in the order of its page. */
    private static final List<Figure> FIGURES = List.of(
            counter(
                    "tokenstair_gateway_requests",
                    "Requests that began, those that are not recorded among them.",
                    of -> of.traffic.requestCount()),
            gauge("tokenstair_gateway_open_requests", "Requests open.", of -> of.traffic.openCount()),
            ended("complete"),
            ended("http-error"),
            ended("failed"),
            ended("client-closed"),
            counter(
                    "tokenstair_gateway_resent_requests",
                    "Times a request was sent once more, its kept connection having been closed unanswered.",
                    of -> of.traffic.sentAgainCount()),
            counter(
                    "tokenstair_gateway_replaced_ids",
                    "Request ids that were replaced: hostile, or of a request that was open.",
                    of -> of.traffic.replacedIdCount()),
            gauge("tokenstair_gateway_connections", "Connections of clients open.", of -> of.traffic.connectionCount()),
            counter(
                    "tokenstair_gateway_refused_connections",
                    "Connections of clients refused, as too many were open.",
                    of -> of.traffic.refusedConnectionCount()),
            pieces("straight", true),
            pieces("queue", false),
            counter("tokenstair_gateway_chunks", "Chunks told to the log.", of -> of.recorder.chunkCount()),
            counter("tokenstair_gateway_tokens", "Tokens in them.", of -> of.recorder.tokenCount()),
            gauge(
                    "tokenstair_gateway_recorder_queued_bytes",
                    "Bytes that passed and wait to be looked into.",
                    of -> of.recorder.queuedBytes()),
            gauge(
                    "tokenstair_gateway_recorder_queue_limit_bytes",
                    "Most bytes that may wait to be looked into.",
                    of -> of.settings.maxQueuedBytes()),
            counter(
                    "tokenstair_gateway_broken_records",
                    "Requests whose record broke off.",
                    of -> of.recorder.brokenCount()),
            counter(
                    "tokenstair_gateway_lost_events",
                    "Events of this gateway that the log will never have.",
                    of -> of.recorder.lostCount()));

    /** A figure of every gateway, and where a gateway has it. */
    private record Figure(String family, boolean counter, String help, String label, ToLongFunction<Gateway> value) {}

    private static Figure counter(String family, String help, ToLongFunction<Gateway> value) {
        return new Figure(family, true, help, "", value);
    }

    private static Figure gauge(String family, String help, ToLongFunction<Gateway> value) {
        return new Figure(family, false, help, "", value);
    }

    private static Figure ended(String outcome) {
        return new Figure(
                "tokenstair_gateway_ended_requests",
                true,
                "Requests that ended, by how.",
                "outcome=\"" + outcome + '"',
                of -> of.traffic.endedCount(outcome));
    }

    private static Figure pieces(String way, boolean straight) {
        return new Figure(
                "tokenstair_gateway_pieces",
                true,
                "Pieces of recorded answers passed on: straight from socket to socket, or past a queue.",
                "way=\"" + way + '"',
                of -> of.traffic.pieceCount(straight));
    }

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
        return FIGURES.stream()
                .map(figure -> new HealthFigure(
                        figure.family(),
                        figure.counter(),
                        figure.help(),
                        figure.label(),
                        figure.value().applyAsLong(this)))
                .toList();
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
