package io.tokenstair.gateway;

import io.tokenstair.server.RestingConnections;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One event loop of a gateway: a server, its connections, and clients of its own to the engine. */
final class GatewayVerticle extends VerticleBase {
    /** Shorter than the 5 s after which uvicorn closes an idle connection, so that none is used that is just being closed. */
    private static final int UPSTREAM_KEEP_ALIVE_SECONDS = 4;

    private static final int MAX_STREAMS = 1_024;
    private static final long REFUSED_STREAM = 7;

    private final GatewaySettings settings;
    private final int port;
    private final Recorder recorder;
    private final Traffic traffic;
    private final UsedConnections usedConnections = new UsedConnections();
    private @Nullable RestingConnections resting;
    private @Nullable HttpServer server;
    private @Nullable HttpClient plainClient;
    private @Nullable HttpClient streamClient;

    GatewayVerticle(GatewaySettings settings, int port, Recorder recorder, Traffic traffic) {
        this.settings = settings;
        this.port = port;
        this.recorder = recorder;
        this.traffic = traffic;
    }

    @Override
    public Future<?> start() {
        plainClient = client(settings.upstreamHttp2());
        streamClient = client(true);
        HttpServer created = vertx.createHttpServer(serverOptions());
        server = created;
        RestingConnections guards = new RestingConnections(vertx, settings.headerTimeout(), MAX_STREAMS);
        resting = guards;
        created.connectionHandler(connection -> connected(connection, guards));
        created.requestHandler(this::request);
        return created.listen(port, settings.host());
    }

    int port() {
        HttpServer listening = server;
        return listening == null ? port : listening.actualPort();
    }

    private HttpServerOptions serverOptions() {
        HttpServerOptions options = new HttpServerOptions()
                .setMaxHeaderSize(settings.maxHeaderBytes())
                .setMaxInitialLineLength(8 << 10)
                .setHandle100ContinueAutomatically(true)
                // An upgrade is answered with 501: what these would put before every chunk is never needed.
                .setPerFrameWebSocketCompressionSupported(false)
                .setPerMessageWebSocketCompressionSupported(false)
                .setTcpKeepAlive(true)
                .setTcpNoDelay(true)
                .setHttp2ClearTextEnabled(true)
                .setInitialSettings(new Http2Settings()
                        .setMaxHeaderListSize(settings.maxHeaderBytes())
                        .setMaxConcurrentStreams(MAX_STREAMS));
        if (settings.certificate() != null && settings.key() != null) {
            options.setSsl(true)
                    .setUseAlpn(true)
                    .setKeyCertOptions(new PemKeyCertOptions()
                            .setCertPath(settings.certificate().toString())
                            .setKeyPath(settings.key().toString()));
        }
        return options;
    }

    private HttpClient client(boolean http2) {
        HttpClientOptions options = new HttpClientOptions()
                .setConnectTimeout((int) settings.connectTimeout().toMillis())
                .setKeepAliveTimeout(UPSTREAM_KEEP_ALIVE_SECONDS)
                .setMaxHeaderSize(settings.maxHeaderBytes())
                .setInitialSettings(new Http2Settings().setMaxHeaderListSize(settings.maxHeaderBytes()))
                .setDecompressionSupported(false)
                .setTcpKeepAlive(true)
                .setTcpNoDelay(true);
        if (http2) {
            options.setProtocolVersion(HttpVersion.HTTP_2).setHttp2ClearTextUpgrade(false);
        }
        if (settings.isUpstreamTls()) {
            options.setSsl(true).setVerifyHost(true);
            if (http2) {
                options.setUseAlpn(true).setAlpnVersions(List.of(HttpVersion.HTTP_2, HttpVersion.HTTP_1_1));
            }
            if (settings.upstreamCa() != null) {
                options.setTrustOptions(
                        new PemTrustOptions().addCertPath(settings.upstreamCa().toString()));
            }
        }
        return vertx.createHttpClient(
                options,
                new PoolOptions()
                        .setHttp1MaxSize(settings.maxConnections())
                        .setHttp2MaxSize(8)
                        .setMaxWaitQueueSize(settings.maxConnections()));
    }

    private void connected(HttpConnection connection, RestingConnections guards) {
        if (!traffic.connect(settings.maxConnections())) {
            connection.close();
            return;
        }
        guards.connected(connection);
        connection.closeHandler(closed -> {
            if (guards.closed(connection)) {
                traffic.disconnect();
            }
        });
    }

    private void request(HttpServerRequest request) {
        HttpConnection connection = request.connection();
        RestingConnections guards = resting;
        HttpClient plain = plainClient;
        HttpClient stream = streamClient;
        if (plain == null || stream == null || guards == null) {
            return;
        }
        if (!guards.began(connection)) {
            request.response().reset(REFUSED_STREAM);
            return;
        }
        new Exchange(vertx, settings, recorder, traffic, usedConnections, request, () -> guards.ended(connection))
                .forward(plain, stream);
    }
}
