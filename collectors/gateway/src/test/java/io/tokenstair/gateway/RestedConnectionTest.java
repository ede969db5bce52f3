package io.tokenstair.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.Event;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.log.LogOutlet;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An engine closes kept connections when it likes, also at the moment one is taken again. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RestedConnectionTest {
    private static final String ANSWER =
            "data: {\"id\":\"cmpl-1\",\"choices\":[{\"index\":0,\"token_ids\":[1]}]}\n\ndata: [DONE]\n\n";

    @TempDir
    Path folder;

    /** Serves the first requests of each connection, and closes it when it has read the next one's head. */
    private static final class ClosingEngine implements AutoCloseable {
        final AtomicInteger connections = new AtomicInteger();
        final List<String> bodies = new ArrayList<>();
        private final ServerSocket server;
        private final int servedOfEach;

        ClosingEngine(int servedOfEach) throws IOException {
            this.servedOfEach = servedOfEach;
            server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            Thread accepting = new Thread(this::accept, "closing-engine");
            accepting.setDaemon(true);
            accepting.start();
        }

        private void accept() {
            try {
                while (true) {
                    Socket socket = server.accept();
                    connections.incrementAndGet();
                    Thread serving = new Thread(() -> serve(socket), "closing-engine-connection");
                    serving.setDaemon(true);
                    serving.start();
                }
            } catch (IOException closed) {
                // The test is over.
            }
        }

        private void serve(Socket socket) {
            try (socket) {
                InputStream in = socket.getInputStream();
                for (int i = 0; i < servedOfEach; i++) {
                    String head = head(in);
                    if (head.isEmpty()) {
                        return;
                    }
                    byte[] body = in.readNBytes(
                            Integer.parseInt(head.toLowerCase().replaceAll("(?s).*content-length: *(\\d+).*", "$1")));
                    synchronized (bodies) {
                        bodies.add(new String(body, StandardCharsets.ISO_8859_1));
                    }
                    socket.getOutputStream()
                            .write(("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: "
                                            + ANSWER.length() + "\r\n\r\n" + ANSWER)
                                    .getBytes(StandardCharsets.US_ASCII));
                }
                head(in);
            } catch (IOException closed) {
                // Its peer went first.
            }
        }

        @Override
        public void close() throws IOException {
            server.close();
        }
    }

    /** The head of a request or an answer, with the empty line behind it; empty where the connection ends before. */
    static String head(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = in.read();
            if (next < 0) {
                return "";
            }
            head.append((char) next);
        }
        return head.toString();
    }

    private static Gateway before(ClosingEngine engine, LogOutlet outlet) throws Exception {
        return Gateway.start(
                GatewaySettings.before(URI.create("http://127.0.0.1:" + engine.server.getLocalPort())),
                outlet.feed("gateway-0"));
    }

    private static int ask(HttpClient client, Gateway gateway, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + gateway.port() + "/v1/completions"))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() == 200) {
            assertThat(answer.body()).isEqualTo(ANSWER);
        }
        return answer.statusCode();
    }

    @Test
    void aRequestOnAConnectionThatIsJustBeingClosedIsSentOnAnother() throws Exception {
        try (ClosingEngine engine = new ClosingEngine(1);
                LogOutlet outlet = LogOutlet.open(folder.resolve("log").toString());
                Gateway gateway = before(engine, outlet)) {
            HttpClient client = HttpClient.newHttpClient();
            List<String> asked = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                String body = "{\"n\":" + i + ",\"prompt\":\"" + "x".repeat(i * 4_000) + "\"}";
                asked.add(body);
                assertThat(ask(client, gateway, body)).isEqualTo(200);
            }
            assertThat(engine.bodies).isEqualTo(asked);
            assertThat(gateway.sentAgainCount()).isBetween(1L, 40L);
            gateway.close();
        }
        List<Event> events = LogRecords.eventsIn(folder.resolve("log"));
        assertThat(events.stream().filter(RequestReceived.class::isInstance)).hasSize(40);
        assertThat(events.stream().filter(RequestCompleted.class::isInstance))
                .hasSize(40)
                .allMatch(event -> ((RequestCompleted) event).outcome().equals("complete"));
    }

    @Test
    void aRequestThatTheEngineSawOnAConnectionOfItsOwnIsNotSentTwice() throws Exception {
        try (ClosingEngine engine = new ClosingEngine(0);
                LogOutlet outlet = LogOutlet.open(folder.resolve("log").toString());
                Gateway gateway = before(engine, outlet)) {
            assertThat(ask(HttpClient.newHttpClient(), gateway, "{}")).isEqualTo(502);
            assertThat(engine.connections).hasValue(1);
            assertThat(gateway.sentAgainCount()).isZero();
        }
    }

    @Test
    void aBodyThatIsTooLongToKeepIsNotSentTwice() throws Exception {
        try (ClosingEngine engine = new ClosingEngine(1);
                LogOutlet outlet = LogOutlet.open(folder.resolve("log").toString());
                Gateway gateway = before(engine, outlet)) {
            HttpClient client = HttpClient.newHttpClient();
            List<Integer> statuses = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                statuses.add(ask(client, gateway, "x".repeat(3 << 20)));
            }
            assertThat(statuses).contains(200).isSubsetOf(200, 502);
            assertThat(engine.bodies).allMatch(body -> body.length() == 3 << 20);
        }
    }
}
