package io.tokenstair.job.health;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The page {@code /metrics} of a running job, on threads of its own: whoever reads it slowly keeps no job waiting. */
public final class JobPage implements AutoCloseable {
    private static final String CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    private static final Pattern ADDRESS = Pattern.compile("(?:(\\[[0-9a-fA-F:.]+]|[^\\s:\\[\\]]+):)?(\\d{1,5})");
    private static final int THREADS = 4;
    private static final int MOST_WAITING = 64;
    private static final int HIGHEST_PORT = 65_535;
    private static final String MOST_SECONDS = "10";

    private final HttpServer server;
    private final ExecutorService threads;

    private JobPage(HttpServer server, ExecutorService threads) {
        this.server = server;
        this.threads = threads;
    }

    /** What an option says: {@code HOST:PORT}, or a port of 127.0.0.1; null for what is no address. */
    public static @Nullable InetSocketAddress address(String text) {
        Matcher address = ADDRESS.matcher(text);
        if (!address.matches() || Integer.parseInt(address.group(2)) > HIGHEST_PORT) {
            return null;
        }
        @Nullable String host = address.group(1);
        int port = Integer.parseInt(address.group(2));
        return host == null
                ? new InetSocketAddress(InetAddress.getLoopbackAddress(), port)
                : new InetSocketAddress(host.replaceAll("[\\[\\]]", ""), port);
    }

    /**
     * Starts the page.
     *
     * @param text what it shows: whole families in the OpenMetrics text format, without its end mark
     * @throws IOException when it cannot listen; the message names the address
     */
    public static JobPage start(InetSocketAddress address, Supplier<String> text) throws IOException {
        // The server of the JDK waits without end for whoever neither asks nor reads, and is told otherwise in this way
        // only.
        for (String limit : new String[] {"maxReqTime", "maxRspTime", "idleInterval"}) {
            String name = "sun.net.httpserver." + limit;
            if (System.getProperty(name) == null) {
                System.setProperty(name, MOST_SECONDS);
            }
        }
        HttpServer server;
        try {
            server = HttpServer.create(address, MOST_WAITING);
        } catch (IOException | IllegalArgumentException failed) {
            throw new IOException(
                    "Cannot listen on " + address.getHostString() + ":" + address.getPort() + " for /metrics: "
                            + failed.getMessage() + "; give --metrics-listen another port or address",
                    failed);
        }
        ExecutorService threads = new ThreadPoolExecutor(
                THREADS, THREADS, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(MOST_WAITING), task -> {
                    Thread thread = new Thread(task, "job-page");
                    thread.setDaemon(true);
                    return thread;
                });
        server.setExecutor(threads);
        server.createContext("/", exchange -> answer(exchange, text));
        server.start();
        return new JobPage(server, threads);
    }

    private static void answer(HttpExchange exchange, Supplier<String> text) throws IOException {
        int status = 200;
        String type = CONTENT_TYPE;
        String body;
        if (!"/metrics".equals(exchange.getRequestURI().getPath())) {
            status = 404;
            body = "the page is /metrics\n";
        } else if (!"GET".equals(exchange.getRequestMethod())) {
            status = 405;
            exchange.getResponseHeaders().set("Allow", "GET");
            body = "the page is only read\n";
        } else {
            body = text.get() + "# EOF\n";
        }
        if (status != 200) {
            type = "text/plain; charset=utf-8";
        }
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, bytes.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(bytes);
        }
        exchange.close();
    }

    /** The port it listens on. */
    public int port() {
        return server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
