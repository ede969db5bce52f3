package io.tokenstair.gateway;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a gateway runs.
 *
 * @param host where it listens
 * @param port where it listens; 0 for any free one
 * @param upstream the engine: http or https, host and port
 * @param upstreamHttp2 true when everything goes to the engine by HTTP/2; gRPC does so anyway
 * @param certificate PEM file of the gateway's certificate chain; absent when it speaks without TLS
 * @param key PEM file of its private key
 * @param upstreamCa PEM file of who signs the engine's certificate; absent when it is one the JVM trusts
 * @param threads event loops
 * @param maxConnections most connections of clients
 * @param maxHeaderBytes longest head of a request or an answer
 * @param maxBodyBytes longest body of a request
 * @param headerTimeout how long a client may take for the head of a request, and may rest between two
 * @param bodyTimeout how long it may take for the body
 * @param stallTimeout how long it may take nothing of an answer that waits for it
 * @param connectTimeout how long the engine may take to accept a connection
 * @param uncountedIsOne true when a chunk with text that nothing counts is one token
 * @param maxQueuedBytes most bytes that wait to be looked into
 */
public record GatewaySettings(
        String host,
        int port,
        URI upstream,
        boolean upstreamHttp2,
        @Nullable Path certificate,
        @Nullable Path key,
        @Nullable Path upstreamCa,
        int threads,
        int maxConnections,
        int maxHeaderBytes,
        long maxBodyBytes,
        Duration headerTimeout,
        Duration bodyTimeout,
        Duration stallTimeout,
        Duration connectTimeout,
        boolean uncountedIsOne,
        long maxQueuedBytes) {

    /** The usual settings before this engine, on a free port of the loopback address. */
    public static GatewaySettings before(URI upstream) {
        return new GatewaySettings(
                "127.0.0.1",
                0,
                upstream,
                false,
                null,
                null,
                null,
                2,
                4_096,
                64 << 10,
                64L << 20,
                Duration.ofSeconds(20),
                Duration.ofSeconds(60),
                Duration.ofMinutes(10),
                Duration.ofSeconds(5),
                true,
                Recorder.MAX_QUEUED_BYTES);
    }

    /** Refuses what cannot work together. */
    public GatewaySettings {
        if ((certificate == null) != (key == null)) {
            throw new IllegalArgumentException("Cannot speak TLS with only one of certificate and key");
        }
        if (threads < 1 || maxConnections < 1 || maxHeaderBytes < 1_024 || maxBodyBytes < 1) {
            throw new IllegalArgumentException("Cannot run without threads, connections, heads or bodies");
        }
        if (port != 0 && port == portOf(upstream) && (isHere(upstream.getHost()) || host.equals(upstream.getHost()))) {
            throw new IllegalArgumentException(
                    "Cannot stand before itself: upstream is where it listens, " + host + ":" + port);
        }
    }

    /** Whether a host is an address of this machine by its name alone. */
    private static boolean isHere(String host) {
        return host.equals("localhost") || host.equals("[::1]") || host.equals("0.0.0.0") || host.startsWith("127.");
    }

    int upstreamPort() {
        return portOf(upstream);
    }

    private static int portOf(URI address) {
        return address.getPort() >= 0 ? address.getPort() : "https".equals(address.getScheme()) ? 443 : 80;
    }

    boolean isUpstreamTls() {
        return "https".equals(upstream.getScheme());
    }

    String upstreamHost() {
        String host = upstream.getHost();
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }
}
