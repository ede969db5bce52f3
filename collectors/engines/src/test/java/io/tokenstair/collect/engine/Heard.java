package io.tokenstair.collect.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.tokenstair.collect.live.EventOut;
import io.tokenstair.event.Event;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/** What a collector told, and the real things it was told by. */
public final class Heard implements EventOut {
    /** An event as it left the collector. */
    public record Told(
            String collectorId, String clockId, @Nullable Long clockNanos, Event event) {}

    private final BlockingQueue<Told> queue = new LinkedBlockingQueue<>();
    private final List<Told> seen = new ArrayList<>();

    @Override
    public void accept(String collectorId, String clockId, @Nullable Long clockNanos, Event event) {
        queue.add(new Told(collectorId, clockId, clockNanos, event));
    }

    /** The first event that is as it should be, within 30 s. */
    public Told await(Predicate<Event> wanted) throws InterruptedException {
        while (true) {
            Told told = queue.poll(30, TimeUnit.SECONDS);
            assertThat(told).as("no such event among %s", seen).isNotNull();
            seen.add(Objects.requireNonNull(told));
            if (wanted.test(told.event())) {
                return told;
            }
        }
    }

    /** The events of a kind that were told so far. */
    public <E extends Event> List<E> all(Class<E> kind) {
        queue.drainTo(seen);
        List<E> all = new ArrayList<>();
        for (Told told : seen) {
            if (kind.isInstance(told.event())) {
                all.add(kind.cast(told.event()));
            }
        }
        return all;
    }

    /** What was told so far. */
    public List<Told> told() {
        queue.drainTo(seen);
        return List.copyOf(seen);
    }

    /** A text that says so within 30 s; asked again without rest. */
    public static void awaitText(Supplier<String> text, String wanted) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!text.get().contains(wanted) && System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        assertThat(text.get()).contains(wanted);
    }

    /** A recorded file, unzipped. */
    public static byte[] recorded(String name) {
        try (InputStream packed = Objects.requireNonNull(Heard.class.getResourceAsStream(name), name)) {
            return new GZIPInputStream(packed).readAllBytes();
        } catch (IOException missing) {
            throw new UncheckedIOException(missing);
        }
    }

    /** Its lines. */
    public static List<String> lines(String name) {
        return new String(recorded(name), StandardCharsets.ISO_8859_1).lines().toList();
    }

    /** An address that nothing listens on. */
    public static String free() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return "tcp://127.0.0.1:" + socket.getLocalPort();
        }
    }

    /** A server that gives these answers one after another, the last one for ever; an empty one is a refusal. */
    public static HttpServer serving(List<byte[]> answers) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        Iterator<byte[]> left = answers.iterator();
        byte[][] last = new byte[1][];
        server.createContext("/", exchange -> {
            byte[] body = left.hasNext() ? left.next() : last[0];
            last[0] = body;
            exchange.sendResponseHeaders(body.length == 0 ? 503 : 200, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        return server;
    }

    /** Its address. */
    public static URI at(HttpServer server, String path) {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
    }
}
