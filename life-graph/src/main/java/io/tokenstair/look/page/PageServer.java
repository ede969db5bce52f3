package io.tokenstair.look.page;

import io.javalin.Javalin;
import io.javalin.http.Context;
import io.tokenstair.look.archive.PageQueries;
import io.tokenstair.look.archive.ResultArchive;
import io.tokenstair.look.archive.UnusableInputException;
import io.tokenstair.look.metrics.ArchiveMetrics;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Serves the life graph page of an archive on 127.0.0.1. Only requests whose Host names this machine are answered, so that a page of
 * another site cannot read the archive through a name of its own that leads here. Everything the page loads is its own.
 */
public final class PageServer implements AutoCloseable {
    /** The port that is tried first where none is asked for. */
    public static final int USUAL_PORT = 8642;

    private static final String LOCAL_ADDRESS = "127.0.0.1";
    private static final Set<String> LOCAL_NAMES = Set.of(LOCAL_ADDRESS, "localhost", "[::1]");
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
            + " img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "svg", "image/svg+xml");
    /** Every file of the page: nothing else is ever read. */
    private static final Set<String> FILES = Set.of(
            "index.html",
            "style.css",
            "app.js",
            "api.js",
            "dom.js",
            "place.js",
            "requests.js",
            "strip.js",
            "token.js",
            "format.js",
            "icon.svg");

    private final Javalin javalin;

    private PageServer(Javalin javalin) {
        this.javalin = javalin;
    }

    /**
     * Starts the server.
     *
     * @param archive what it shows; stays open while the server runs
     * @param port the port; 0 for any free one; absent for the usual one, or any free one where that is taken
     * @throws UnusableInputException when the port is taken or not allowed
     */
    public static PageServer start(ResultArchive archive, @Nullable Integer port) {
        if (port != null && (port < 0 || port > 65_535)) {
            throw new UnusableInputException("Cannot listen on port " + port + ": give one from 0 to 65535");
        }
        PageAnswers answers = new PageAnswers(archive, new PageQueries(archive));
        ArchiveMetrics metrics = new ArchiveMetrics(archive.directory());
        if (port != null) {
            return new PageServer(listen(answers, metrics, port));
        }
        try {
            return new PageServer(listen(answers, metrics, USUAL_PORT));
        } catch (UnusableInputException taken) {
            return new PageServer(listen(answers, metrics, 0));
        }
    }

    private static Javalin listen(PageAnswers answers, ArchiveMetrics metrics, int port) {
        Javalin javalin = Javalin.create(config -> {
            config.startup.showJavalinBanner = false;
            config.startup.showOldJavalinVersionWarning = false;
            config.startup.startupWatcherEnabled = false;
            config.jetty.host = LOCAL_ADDRESS;
            config.jetty.port = port;
            config.jetty.modifyHttpConfiguration(http -> {
                http.setSendServerVersion(false);
                http.setSendXPoweredBy(false);
            });
            config.routes.before(PageServer::guard);
            config.routes.get("/", context -> file(context, "index.html"));
            config.routes.get("/page/{file}", context -> file(context, context.pathParam("file")));
            config.routes.get("/api/archive", answers::archive);
            config.routes.get("/api/requests", answers::requests);
            config.routes.get("/api/sequence", answers::sequence);
            config.routes.get("/api/strip", answers::strip);
            config.routes.get("/api/token", answers::token);
            config.routes.get("/api/findings", answers::findings);
            config.routes.get(
                    "/metrics",
                    context -> context.contentType(ArchiveMetrics.contentType()).result(metrics.text()));
            config.routes.exception(
                    PageAnswers.RefusedException.class,
                    (refused, context) -> answers.error(context, refused.status(), refused.getMessage()));
            config.routes.exception(
                    UnusableInputException.class,
                    (failure, context) -> answers.error(context, 500, failure.getMessage()));
        });
        try {
            return javalin.start();
        } catch (RuntimeException failure) {
            javalin.stop();
            if (isCausedBy(failure, BindException.class) || isCausedBy(failure, java.net.SocketException.class)) {
                throw new UnusableInputException(
                        "Cannot listen on port " + port + ": it is taken or not allowed. Choose another with --port,"
                                + " or 0 for any free one",
                        failure);
            }
            throw failure;
        }
    }

    private static boolean isCausedBy(Throwable failure, Class<? extends Throwable> type) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return true;
            }
        }
        return false;
    }

    private static void guard(Context context) {
        context.header("Content-Security-Policy", POLICY);
        context.header("X-Content-Type-Options", "nosniff");
        context.header("Referrer-Policy", "no-referrer");
        context.header("Cross-Origin-Resource-Policy", "same-origin");
        context.header("Cross-Origin-Opener-Policy", "same-origin");
        context.header("Cache-Control", "no-store");
        String host = context.header("Host");
        if (host == null || !LOCAL_NAMES.contains(nameOf(host))) {
            context.status(403)
                    .contentType("text/plain; charset=utf-8")
                    .result("Only 127.0.0.1 and localhost are answered.");
            context.skipRemainingHandlers();
        }
    }

    private static String nameOf(String host) {
        String name = host.strip().toLowerCase(Locale.ROOT);
        int port = name.lastIndexOf(':');
        return port > name.lastIndexOf(']') ? name.substring(0, port) : name;
    }

    private static void file(Context context, String name) {
        if (!FILES.contains(name)) {
            context.status(404).contentType("text/plain; charset=utf-8").result("No such file.");
            return;
        }
        try (InputStream in = PageServer.class.getResourceAsStream("/io/tokenstair/look/page/" + name)) {
            if (in == null) {
                throw new IllegalStateException("Cannot find file of the page: " + name);
            }
            context.contentType(
                    TYPES.getOrDefault(name.substring(name.lastIndexOf('.') + 1), "application/octet-stream"));
            context.result(in.readAllBytes());
        } catch (IOException failure) {
            throw new UncheckedIOException("Cannot read file of the page: " + name, failure);
        }
    }

    /** Where the page is. */
    public String url() {
        return "http://" + LOCAL_ADDRESS + ":" + javalin.port() + "/";
    }

    /** Waits until the server ends. */
    public void awaitEnd() throws InterruptedException {
        javalin.jettyServer().server().join();
    }

    @Override
    public void close() {
        javalin.stop();
    }
}
