package io.tokenstair.collector.reach;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** An HTTP server that gives the answers an engine gives to harmless questions, and remembers what it was asked. */
public final class AnsweringServer implements AutoCloseable {
    private final HttpServer server;
    private final List<String> asked = new CopyOnWriteArrayList<>();

    private AnsweringServer(HttpServer server) {
        this.server = server;
    }

    /** A server on a free port of the loopback address, which answers these paths and 404 to others. */
    public static AnsweringServer of(Map<String, String> answers, @Nullable String serverHeader) throws IOException {
        HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        AnsweringServer server = new AnsweringServer(http);
        http.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            server.asked.add(exchange.getRequestMethod() + " " + path);
            String answer = answers.get(path);
            byte[] bytes = (answer == null ? "{\"detail\":\"Not Found\"}" : answer).getBytes(StandardCharsets.UTF_8);
            if (serverHeader != null) {
                exchange.getResponseHeaders().set("Server", serverHeader);
            }
            exchange.sendResponseHeaders(answer == null ? 404 : 200, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        http.start();
        return server;
    }

    /** Its port. */
    public int port() {
        return server.getAddress().getPort();
    }

    /** Its address. */
    public URI base() {
        return URI.create("http://127.0.0.1:" + port());
    }

    /** Method and path of every request so far. */
    public List<String> asked() {
        return asked;
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
