package io.tokenstair.collector.reach;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpTimeoutException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Looks at an engine's address of HTTP: somebody listens, TLS holds, who it is. */
public final class UpstreamLook {
    private UpstreamLook() {}

    /**
     * A look.
     *
     * @param subject the option it is about
     * @param base the address
     * @param authority PEM file of who signs its certificate; absent when it is one the JVM trusts, or there is no TLS
     */
    public static Look at(String subject, URI base, @Nullable Path authority) {
        return new Look(subject, base.toString(), () -> look(base, authority));
    }

    private static Seen look(URI base, @Nullable Path authority) throws InterruptedException {
        boolean tls = "https".equals(base.getScheme());
        String host = host(base);
        int port = port(base);
        Seen absence = TcpPeer.absence(host, port, "the engine");
        if (absence != null) {
            return absence;
        }
        try {
            HttpPeer peer = new HttpPeer(authority);
            if (tls) {
                peer.one(base.resolve("/v1/models"));
            }
            FoundServer server = ServerIdentity.of(peer, base);
            if (server == null) {
                return Seen.warning(
                        "takes connections, and answers nothing in HTTP/1.1",
                        "well if it speaks gRPC only; else check that this is the port of its HTTP"
                                + (tls ? "" : ", and that it speaks no TLS"));
            }
            if (server.engine() == Engine.OTHER && server.status() >= 500) {
                return Seen.warning(server.inWords(), "it answers, and is not ready: see its log");
            }
            if (server.status() == 401 || server.status() == 403) {
                return Seen.ok("answers HTTP " + server.status()
                        + ": it wants a key, which clients bring; who it is cannot be told");
            }
            return Seen.ok(server.inWords());
        } catch (SSLException untrusted) {
            return Seen.failed(
                    "TLS fails: " + FoundServer.shown(String.valueOf(untrusted.getMessage())),
                    "give who signs its certificate with upstream-ca, and the host by the name that stands in it");
        } catch (HttpTimeoutException silent) {
            return Seen.failed(
                    "takes connections, and answers nothing" + (tls ? " to TLS" : ""),
                    tls ? "check the port; if it speaks without TLS, write http" : "check the port");
        } catch (IOException broken) {
            return Seen.failed(
                    "answers, and breaks off: " + broken.getClass().getSimpleName(), "check that it speaks HTTP there");
        } catch (GeneralSecurityException unusable) {
            return Seen.failed(
                    "the certificate of its authority cannot be used", "check that upstream-ca is a PEM file");
        }
    }

    static String host(URI base) {
        String host = String.valueOf(base.getHost());
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }

    static int port(URI base) {
        return base.getPort() >= 0 ? base.getPort() : "https".equals(base.getScheme()) ? 443 : 80;
    }
}
