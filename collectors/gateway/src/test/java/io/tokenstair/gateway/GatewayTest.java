package io.tokenstair.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.Event;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.log.LogOutlet;
import io.tokenstair.server.HealthFigure;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.SelfSignedCertificate;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.StreamHandler;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The gateway between real clients and a real server, on real sockets. */
@Timeout(120)
class GatewayTest {
    private static final String RAW_BODY = "{\"max_tokens\":1}";

    @TempDir
    Path folder;

    private TestEngine engine;
    private LogOutlet outlet;
    private Gateway gateway;

    private void start(UnaryOperator<GatewaySettings> change) throws Exception {
        start(new TestEngine(), "http", change);
    }

    private void start(TestEngine server, String scheme, UnaryOperator<GatewaySettings> change) throws Exception {
        engine = server;
        outlet = LogOutlet.open(folder.resolve("log").toString());
        gateway = Gateway.start(
                change.apply(GatewaySettings.before(URI.create(scheme + "://localhost:" + engine.port()))),
                outlet.feed("gateway-0"));
    }

    @AfterEach
    void stop() throws Exception {
        if (gateway != null) {
            gateway.close();
        }
        if (outlet != null) {
            outlet.close();
        }
        if (engine != null) {
            engine.close();
        }
    }

    private List<Event> events() throws Exception {
        waitFor(() -> gateway.openCount() == 0);
        gateway.close();
        outlet.close();
        assertThat(outlet.status().lostCount()).isZero();
        for (byte[] bytes : LogRecords.in(folder.resolve("log"))) {
            assertThat(new String(bytes, StandardCharsets.ISO_8859_1)).doesNotContain("secret");
        }
        return LogRecords.eventsIn(folder.resolve("log"));
    }

    private URI at(String path) {
        return URI.create("http://127.0.0.1:" + gateway.port() + path);
    }

    private HttpRequest.Builder completion(String json) {
        return HttpRequest.newBuilder(at("/v1/completions"))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(json));
    }

    private static HttpClient client(HttpClient.Version version) {
        return HttpClient.newBuilder().version(version).build();
    }

    @Test
    void sixtyFourStreamsAtOnceEachHaveTheirTokensAndNothingElse() throws Exception {
        start(settings -> settings);
        for (HttpClient.Version version : HttpClient.Version.values()) {
            HttpClient client = client(version);
            Map<String, CompletableFuture<HttpResponse<String>>> answers = new HashMap<>();
            for (int i = 0; i < 64; i++) {
                String id = version + "-" + i;
                answers.put(
                        id,
                        client.sendAsync(
                                completion("{\"prompt\":\"secret\",\"max_tokens\":" + (5 + i % 40) + "}")
                                        .header("X-Request-Id", id)
                                        .build(),
                                HttpResponse.BodyHandlers.ofString()));
            }
            for (Map.Entry<String, CompletableFuture<HttpResponse<String>>> answer : answers.entrySet()) {
                HttpResponse<String> got = answer.getValue().get(60, TimeUnit.SECONDS);
                assertThat(got.version()).isEqualTo(version);
                assertThat(got.statusCode()).isEqualTo(200);
                int tokens = 5
                        + Integer.parseInt(
                                        answer.getKey().substring(version.name().length() + 1))
                                % 40;
                assertThat(got.body().split("\"w" + answer.getKey() + "\"", -1)).hasSize(tokens + 1);
                assertThat(got.body()).endsWith("data: [DONE]\n\n");
            }
        }
        // A stream of HTTP/1.1 goes straight from socket to socket, one of HTTP/2 by the queues.
        assertThat(pieces("straight")).isGreaterThan(pieces("queue") / 2);
        List<Event> events = events();
        assertThat(gateway.health())
                .contains(HealthFigure.counter(
                        "tokenstair_gateway_ended_requests",
                        "Requests that ended, by how.",
                        "outcome=\"complete\"",
                        128));
        Map<String, Integer> tokens = new HashMap<>();
        for (Event event : events) {
            if (event instanceof ChunkDelivered delivered) {
                for (Chunk chunk : delivered.chunks()) {
                    assertThat(chunk.firstTokenIndex()).isEqualTo(tokens.getOrDefault(delivered.requestId(), 0));
                    assertThat(chunk.writeStartNanos()).isGreaterThanOrEqualTo(chunk.arrivedNanos());
                    assertThat(chunk.writeEndNanos()).isGreaterThanOrEqualTo(chunk.writeStartNanos());
                    tokens.merge(delivered.requestId(), chunk.tokenCount(), Integer::sum);
                }
            }
        }
        assertThat(tokens).hasSize(128);
        List<RequestReceived> received = LogRecords.of(RequestReceived.class, events);
        assertThat(received).hasSize(128);
        List<RequestCompleted> completed = LogRecords.of(RequestCompleted.class, events);
        assertThat(completed).hasSize(128);
        for (RequestCompleted one : completed) {
            assertThat(one.outcome()).isEqualTo("complete");
            assertThat(one.outputTokens()).isEqualTo((long) tokens.get(one.requestId()));
            assertThat(one.promptTokens()).isEqualTo(3);
            assertThat(one.headersNanos()).isNotNull();
        }
        assertThat(LogRecords.of(IdAliased.class, events)).hasSize(128);
        assertThat(LogRecords.of(ClockSampled.class, events)).isNotEmpty();
    }

    @Test
    void idsAreAddedWhereAbsentAndKeptWhereThere() throws Exception {
        start(settings -> settings);
        String trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        HttpClient client = client(HttpClient.Version.HTTP_1_1);
        String body = "{\"prompt\":\"secret\",\"max_tokens\":2,  \"odd\" : [1,2]}";
        HttpResponse<String> given = client.send(
                completion(body)
                        .header("X-Request-Id", "mine")
                        .header("traceparent", trace)
                        .header("tracestate", "a=b")
                        .header("X-Other", "kept")
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(given.headers().firstValue("x-request-id")).contains("mine");
        HttpResponse<String> made = client.send(completion(body).build(), HttpResponse.BodyHandlers.ofString());
        String id = made.headers().firstValue("x-request-id").orElseThrow();
        assertThat(id).startsWith("gw-");
        var first = engine.headers.remove();
        assertThat(first.getAll("x-request-id")).containsExactly("mine");
        assertThat(first.getAll("traceparent")).containsExactly(trace);
        assertThat(first.get("tracestate")).isEqualTo("a=b");
        assertThat(first.get("x-other")).isEqualTo("kept");
        assertThat(first.get("host")).isEqualTo("localhost:" + engine.port());
        var second = engine.headers.remove();
        assertThat(second.get("x-request-id")).isEqualTo(id);
        assertThat(second.get("traceparent")).matches("00-[0-9a-f]{32}-[0-9a-f]{16}-01");
        assertThat(engine.bodies.get("mine")).isEqualTo(body);
        assertThat(engine.bodies.get(id)).isEqualTo(body);
        List<RequestReceived> received = LogRecords.of(RequestReceived.class, events());
        assertThat(received.get(0).traceId()).isEqualTo("4bf92f3577b34da6a3ce929d0e0e4736");
        assertThat(received.get(0).parentSpanId()).isEqualTo("00f067aa0ba902b7");
        assertThat(received.get(0).maxTokens()).isEqualTo(2);
        assertThat(second.get("traceparent")).contains(received.get(1).traceId());
    }

    @Test
    void hostileIdsAreReplacedAndTheRequestIsServed() throws Exception {
        start(settings -> settings);
        assertThat(raw("X-Request-Id: " + "x".repeat(300) + "\r\n")).startsWith("HTTP/1.1 200");
        assertThat(raw("X-Request-Id: a\r\nX-Request-Id: b\r\n")).startsWith("HTTP/1.1 200");
        assertThat(raw("X-Request-Id: caf\u00e9\r\n")).startsWith("HTTP/1.1 200");
        assertThat(raw("traceparent: nonsense\r\ntracestate: a=b\r\n")).startsWith("HTTP/1.1 200");
        assertThat(engine.headers).hasSize(4).allSatisfy(headers -> {
            assertThat(headers.getAll("x-request-id")).hasSize(1);
            assertThat(headers.get("x-request-id")).startsWith("gw-");
            assertThat(headers.get("tracestate")).isNull();
        });
        // What no HTTP server takes is not served, and a megabyte of it costs no more.
        assertThat(raw("X-Request-Id: a\u0001b\r\n")).doesNotContain("200 OK");
        assertThat(raw("X-Request-Id: " + "x".repeat(1 << 20) + "\r\n")).doesNotContain("200 OK");
        assertThat(engine.headers).hasSize(4);
        List<Event> events = events();
        assertThat(LogRecords.of(RequestReceived.class, events)).hasSize(4);
        assertThat(LogRecords.of(Rejected.class, events))
                .hasSize(4)
                .allSatisfy(refused -> assertThat(refused.reason().length()).isLessThan(200));
    }

    /** A client may name any header as one of its connection only; what frames its body and what names it is none. */
    @Test
    void whatAConnectionHeaderNamesDoesNotTakeTheBodyOrTheNamesAway() throws Exception {
        start(settings -> settings);
        String trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        String names = "X-Request-Id: mine\r\ntraceparent: " + trace + "\r\ntracestate: a=b\r\nX-Hop: 1\r\n";
        assertThat(raw(names + "Connection: content-length, X-REQUEST-ID, Traceparent, tracestate, X-Hop, host\r\n"))
                .startsWith("HTTP/1.1 200")
                .contains("[DONE]");
        assertThat(engine.bodies).containsEntry("mine", RAW_BODY);
        var sent = engine.headers.remove();
        assertThat(sent.getAll("x-request-id")).containsExactly("mine");
        assertThat(sent.getAll("traceparent")).containsExactly(trace);
        assertThat(sent.getAll("tracestate")).containsExactly("a=b");
        assertThat(sent.get("x-hop")).isNull();
    }

    /** A server may ignore an upgrade that it does not know (RFC 9110, 7.8); only WebSocket cannot go on without. */
    @Test
    void anUpgradeThatIsNoWebSocketIsIgnored() throws Exception {
        start(settings -> settings);
        for (String protocol : List.of("TLS/1.2", "foo/1, bar")) {
            assertThat(raw("Connection: Upgrade\r\nUpgrade: " + protocol + "\r\n"))
                    .startsWith("HTTP/1.1 200")
                    .contains("[DONE]");
            assertThat(engine.headers.remove().get("upgrade")).isNull();
        }
        for (String protocol : List.of("websocket", "foo, WebSocket/13")) {
            assertThat(raw("Connection: Upgrade\r\nUpgrade: " + protocol + "\r\n"))
                    .startsWith("HTTP/1.1 501");
        }
        assertThat(engine.headers).isEmpty();
    }

    /** HTTP/1.0 has no chunks: the end of the connection is the end of the answer. */
    @Test
    void aClientOfHttp10GetsItsAnswerToTheEndOfTheConnection() throws Exception {
        start(settings -> settings);
        Logger logger = Logger.getLogger("io.vertx.core");
        List<LogRecord> said = new CopyOnWriteArrayList<>();
        Handler listener = new StreamHandler() {
            @Override
            public synchronized void publish(LogRecord record) {
                said.add(record);
            }
        };
        logger.addHandler(listener);
        try (Socket socket = new Socket("127.0.0.1", gateway.port())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream()
                    .write(("POST /v1/completions HTTP/1.0\r\nContent-Length: " + RAW_BODY.length() + "\r\n\r\n"
                                    + RAW_BODY)
                            .getBytes(StandardCharsets.ISO_8859_1));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
            assertThat(answer).endsWith("data: [DONE]\n\n");
            assertThat(answer.toLowerCase(Locale.ROOT)).doesNotContain("transfer-encoding");
        } finally {
            logger.removeHandler(listener);
        }
        assertThat(said).isEmpty();
        assertThat(LogRecords.of(RequestCompleted.class, events()))
                .singleElement()
                .satisfies(end -> assertThat(end.outcome()).isEqualTo("complete"));
    }

    /** Sends a head by hand, gives what comes back; empty where the server only closes. */
    private String raw(String headers) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", gateway.port())) {
            socket.setSoTimeout(20_000);
            try {
                socket.getOutputStream()
                        .write(("POST /v1/completions HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + headers
                                        + "Content-Length: " + RAW_BODY.length() + "\r\n\r\n" + RAW_BODY)
                                .getBytes(StandardCharsets.ISO_8859_1));
                return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
            } catch (IOException reset) {
                return "";
            }
        }
    }

    @Test
    void aClientThatLeavesEndsTheEnginesWork() throws Exception {
        start(settings -> settings);
        for (HttpClient.Version version : HttpClient.Version.values()) {
            int before = engine.cancelled.get();
            HttpResponse<InputStream> answer = client(version)
                    .send(
                            completion("{\"max_tokens\":100000,\"gap_millis\":5}")
                                    .header("X-Request-Id", "leaves-" + version)
                                    .build(),
                            HttpResponse.BodyHandlers.ofInputStream());
            assertThat(answer.body().read()).isEqualTo('d');
            answer.body().close();
            waitFor(() -> engine.cancelled.get() == before + 1);
        }
        for (RequestCompleted one : LogRecords.of(RequestCompleted.class, events())) {
            assertThat(one.outcome()).isEqualTo("client-closed");
            assertThat(one.clientClosedNanos()).isNotNull();
            assertThat(one.httpStatus()).isEqualTo(200);
        }
    }

    @Test
    void anEngineThatBreaksOffIsToldToTheClientAndTheLog() throws Exception {
        start(settings -> settings);
        for (HttpClient.Version version : HttpClient.Version.values()) {
            CompletableFuture<HttpResponse<String>> answer = client(version)
                    .sendAsync(
                            completion("{\"max_tokens\":9,\"fault\":\"broken\"}")
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            assertThat(answer).failsWithin(Duration.ofSeconds(20));
        }
        HttpResponse<String> refused = client(HttpClient.Version.HTTP_1_1)
                .send(
                        HttpRequest.newBuilder(at("/v1/chat/completions"))
                                .POST(HttpRequest.BodyPublishers.ofString("{}"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(refused.body()).contains("secret");
        List<RequestCompleted> completed = LogRecords.of(RequestCompleted.class, events());
        assertThat(completed).hasSize(3);
        assertThat(completed.get(0).outcome()).isEqualTo("failed");
        assertThat(completed.get(0).errorType()).isEqualTo("upstream-closed");
        assertThat(completed.get(0).outputTokens()).isEqualTo(3);
        assertThat(completed.get(1).outcome()).isEqualTo("failed");
        assertThat(completed.get(2).outcome()).isEqualTo("http-error");
        assertThat(completed.get(2).httpStatus()).isEqualTo(400);
        assertThat(completed.get(2).errorType()).isEqualTo("BadRequestError");
    }

    @Test
    void anEngineThatIsNotThereIsABadGateway() throws Exception {
        start(settings -> settings);
        engine.close();
        HttpResponse<String> answer = client(HttpClient.Version.HTTP_1_1)
                .send(completion("{}").build(), HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).isEqualTo(502);
        assertThat(answer.body()).contains("upstream-unreachable");
        engine = null;
        RequestCompleted completed =
                LogRecords.of(RequestCompleted.class, events()).get(0);
        assertThat(completed.outcome()).isEqualTo("http-error");
        assertThat(completed.httpStatus()).isEqualTo(502);
    }

    @Test
    void otherRequestsPassUnrecorded() throws Exception {
        start(settings -> settings);
        HttpResponse<String> health = client(HttpClient.Version.HTTP_2)
                .send(HttpRequest.newBuilder(at("/health")).build(), HttpResponse.BodyHandlers.ofString());
        assertThat(health.body()).isEqualTo("healthy");
        assertThat(engine.headers.remove().contains("x-request-id")).isFalse();
        assertThat(LogRecords.of(RequestReceived.class, events())).isEmpty();
    }

    @Test
    void aClientThatTakesNothingHoldsTheEngineBackAndIsCutOffInTheEnd() throws Exception {
        start(settings -> with(
                settings,
                settings.maxHeaderBytes(),
                Duration.ofSeconds(20),
                Duration.ofSeconds(2),
                settings.maxBodyBytes()));
        try (Socket socket = new Socket()) {
            socket.setReceiveBufferSize(4_096);
            socket.connect(new java.net.InetSocketAddress("127.0.0.1", gateway.port()));
            String body = "{}";
            socket.getOutputStream()
                    .write(("POST /big HTTP/1.1\r\nHost: a\r\nContent-Length: " + body.length() + "\r\n\r\n" + body)
                            .getBytes(StandardCharsets.ISO_8859_1));
            waitFor(() -> gateway.requestCount() == 1 && gateway.openCount() == 0);
        }
    }

    private long pieces(String way) {
        return gateway.health().stream()
                .filter(figure -> figure.family().equals("tokenstair_gateway_pieces")
                        && figure.label().contains(way))
                .mapToLong(HealthFigure::value)
                .sum();
    }

    /** The body of an answer that came in chunks, which begin and end anywhere, and at whose end nothing follows. */
    private static String unchunked(String answer) {
        StringBuilder body = new StringBuilder();
        int at = answer.indexOf("\r\n\r\n") + 4;
        while (true) {
            int line = answer.indexOf("\r\n", at);
            int length = Integer.parseInt(answer.substring(at, line), 16);
            if (length == 0) {
                assertThat(answer.substring(line)).isEqualTo("\r\n\r\n");
                return body.toString();
            }
            body.append(answer, line + 2, line + 2 + length);
            assertThat(answer.substring(line + 2 + length, line + 4 + length)).isEqualTo("\r\n");
            at = line + 4 + length;
        }
    }

    @Test
    void aClientThatLagsGetsEveryPieceInItsPlaceStraightOrByTheQueue() throws Exception {
        start(settings -> settings);
        int tokens = 600;
        String read;
        try (Socket socket = new Socket()) {
            socket.setReceiveBufferSize(4_096);
            socket.connect(new java.net.InetSocketAddress("127.0.0.1", gateway.port()));
            String body = "{\"max_tokens\":" + tokens + ",\"gap_millis\":0,\"padding_bytes\":40000}";
            socket.getOutputStream()
                    .write(("POST /v1/completions HTTP/1.1\r\nHost: a\r\nX-Request-Id: lags\r\nConnection: close\r\n"
                                    + "Content-Length: " + body.length() + "\r\n\r\n" + body)
                            .getBytes(StandardCharsets.ISO_8859_1));
            // It reads nothing until its socket is full.
            waitFor(() -> pieces("queue") > 0);
            read = unchunked(new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1));
        }
        assertThat(pieces("straight")).isPositive();
        int at = 0;
        for (int i = 0; i < tokens; i++) {
            at = read.indexOf("\"token_ids\":[" + i + "]", at);
            assertThat(at).as("token " + i).isPositive();
        }
        assertThat(read.indexOf("\"token_ids\":", at + 1)).isNegative();
        assertThat(read).endsWith("data: [DONE]\n\n");
        int next = 0;
        long last = 0;
        for (Event event : events()) {
            if (event instanceof ChunkDelivered delivered) {
                for (Chunk chunk : delivered.chunks()) {
                    assertThat(chunk.firstTokenIndex()).isEqualTo(next);
                    next += chunk.tokenCount();
                    assertThat(chunk.writeEndNanos()).isGreaterThanOrEqualTo(chunk.arrivedNanos());
                    assertThat(chunk.arrivedNanos()).isGreaterThanOrEqualTo(last);
                    last = chunk.arrivedNanos();
                }
            }
        }
        assertThat(next).isEqualTo(tokens);
    }

    @Test
    void slowHeadsAndBodiesAreCutOff() throws Exception {
        start(settings -> with(settings, 8_192, Duration.ofMillis(300), settings.stallTimeout(), 1_000));
        long started = System.nanoTime();
        try (Socket socket = new Socket("127.0.0.1", gateway.port())) {
            socket.getOutputStream()
                    .write("POST /v1/completions HTTP/1.1\r\nHost: a\r\n".getBytes(StandardCharsets.US_ASCII));
            CompletableFuture<Integer> closed = CompletableFuture.supplyAsync(() -> read(socket));
            // A byte now and then does not keep it open.
            while (!closed.isDone()) {
                try {
                    socket.getOutputStream().write('x');
                } catch (IOException gone) {
                    break;
                }
                assertThat(new CountDownLatch(1).await(50, TimeUnit.MILLISECONDS))
                        .isFalse();
            }
            assertThat(closed.get(20, TimeUnit.SECONDS)).isEqualTo(-1);
        }
        try (Socket socket = new Socket("127.0.0.1", gateway.port())) {
            socket.getOutputStream()
                    .write("POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{"
                            .getBytes(StandardCharsets.US_ASCII));
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                    .startsWith("HTTP/1.1 408");
        }
        assertThat(System.nanoTime() - started).isLessThan(60_000_000_000L);
        HttpResponse<String> tooLong = client(HttpClient.Version.HTTP_1_1)
                .send(
                        completion("{\"prompt\":\"" + "x".repeat(2_000) + "\"}").build(),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(tooLong.statusCode()).isEqualTo(413);
        assertThat(LogRecords.of(RequestCompleted.class, events()))
                .extracting(RequestCompleted::errorType)
                .containsExactlyInAnyOrder("body-timeout", "body-too-long");
    }

    private static int read(Socket socket) {
        try {
            return socket.getInputStream().read();
        } catch (IOException reset) {
            return -1;
        }
    }

    /** With TLS where a side has a certificate: the one that clients are shown, the one that the engine's is trusted by. */
    private static GatewaySettings tls(
            GatewaySettings usual,
            boolean upstreamHttp2,
            @Nullable SelfSignedCertificate shown,
            @Nullable Path upstreamCa) {
        return settings(usual, upstreamHttp2, shown, upstreamCa, usual.maxQueuedBytes());
    }

    private static GatewaySettings settings(
            GatewaySettings usual,
            boolean upstreamHttp2,
            @Nullable SelfSignedCertificate shown,
            @Nullable Path upstreamCa,
            long maxQueuedBytes) {
        return new GatewaySettings(
                usual.host(),
                usual.port(),
                usual.upstream(),
                upstreamHttp2,
                shown == null ? null : Path.of(shown.certificatePath()),
                shown == null ? null : Path.of(shown.privateKeyPath()),
                upstreamCa,
                1,
                usual.maxConnections(),
                usual.maxHeaderBytes(),
                usual.maxBodyBytes(),
                usual.headerTimeout(),
                usual.bodyTimeout(),
                usual.stallTimeout(),
                usual.connectTimeout(),
                true,
                maxQueuedBytes);
    }

    @Test
    void tlsOnBothSides() throws Exception {
        SelfSignedCertificate engineSide = SelfSignedCertificate.create("localhost");
        SelfSignedCertificate gatewaySide = SelfSignedCertificate.create("localhost");
        TestEngine server = new TestEngine(
                new HttpServerOptions().setSsl(true).setUseAlpn(true).setKeyCertOptions(engineSide.keyCertOptions()));
        start(server, "https", settings -> tls(settings, true, gatewaySide, Path.of(engineSide.certificatePath())));
        for (HttpClient.Version version : HttpClient.Version.values()) {
            HttpClient client = HttpClient.newBuilder()
                    .version(version)
                    .sslContext(trusting(Path.of(gatewaySide.certificatePath())))
                    .build();
            HttpResponse<String> answer = client.send(
                    HttpRequest.newBuilder(URI.create("https://localhost:" + gateway.port() + "/v1/completions"))
                            .POST(HttpRequest.BodyPublishers.ofString("{\"max_tokens\":6}"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(answer.version()).isEqualTo(version);
            assertThat(answer.body()).endsWith("[DONE]\n\n");
        }
        assertThat(LogRecords.of(RequestCompleted.class, events()))
                .hasSize(2)
                .allSatisfy(completed -> assertThat(completed.outputTokens()).isEqualTo(6));
    }

    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true"})
    void aStreamGoesStraightWhicheverSideSpeaksTls(boolean engineTls, boolean clientTls) throws Exception {
        SelfSignedCertificate certificate = SelfSignedCertificate.create("localhost");
        Path shown = Path.of(certificate.certificatePath());
        HttpServerOptions options = new HttpServerOptions();
        if (engineTls) {
            options.setSsl(true).setKeyCertOptions(certificate.keyCertOptions());
        }
        start(
                new TestEngine(options),
                engineTls ? "https" : "http",
                settings -> tls(settings, false, clientTls ? certificate : null, engineTls ? shown : null));
        HttpClient client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .sslContext(trusting(shown))
                .build();
        HttpResponse<String> answer = client.send(
                HttpRequest.newBuilder(URI.create(
                                (clientTls ? "https" : "http") + "://localhost:" + gateway.port() + "/v1/completions"))
                        .POST(HttpRequest.BodyPublishers.ofString("{\"max_tokens\":200}"))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(answer.body().split("\"token_ids\"", -1)).hasSize(201);
        assertThat(answer.body()).endsWith("[DONE]\n\n");
        assertThat(pieces("straight")).isGreaterThan(pieces("queue"));
        assertThat(LogRecords.of(RequestCompleted.class, events()))
                .hasSize(1)
                .allSatisfy(completed -> assertThat(completed.outputTokens()).isEqualTo(200));
    }

    private static SSLContext trusting(Path certificate) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        store.setCertificateEntry(
                "gateway",
                CertificateFactory.getInstance("X.509")
                        .generateCertificate(new ByteArrayInputStream(Files.readAllBytes(certificate))));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    @Test
    void theProxyGoesOnWhenTheWayOfItsEventsIsBroken() throws Exception {
        engine = new TestEngine();
        Path inTheWay = Files.writeString(folder.resolve("file"), "");
        // A log that cannot be written to, a queue of eight events, and nearly no room for what is to be looked into.
        outlet = LogOutlet.open(
                inTheWay.resolve("log").toString(),
                new LogOutlet.Settings(8, Duration.ofMillis(5), Duration.ofMillis(50), Duration.ofMillis(100)));
        GatewaySettings usual = GatewaySettings.before(URI.create("http://localhost:" + engine.port()));
        gateway = Gateway.start(settings(usual, false, null, null, 300), outlet.feed("gateway-0"));
        HttpClient client = client(HttpClient.Version.HTTP_1_1);
        for (int i = 0; i < 20; i++) {
            HttpResponse<String> answer = client.send(
                    completion("{\"max_tokens\":20,\"gap_millis\":0,\"fault\":\"" + (i % 2 == 0 ? "nonsense" : "")
                                    + "\"}")
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).endsWith("data: [DONE]\n\n");
        }
        assertThat(gateway.brokenRecordCount()).isPositive();
        gateway.close();
        outlet.close();
        LogOutlet.Status status = outlet.status();
        assertThat(status.keptCount()).isZero();
        assertThat(status.lostCount()).isEqualTo(status.offeredCount()).isPositive();
    }

    @Test
    void anIdThatIsInUseIsNotMixedUp() throws Exception {
        start(settings -> settings);
        HttpClient client = client(HttpClient.Version.HTTP_1_1);
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            answers.add(client.sendAsync(
                    completion("{\"max_tokens\":50,\"gap_millis\":4}")
                            .header("X-Request-Id", "same")
                            .build(),
                    HttpResponse.BodyHandlers.ofString()));
        }
        TreeSet<String> ids = new TreeSet<>();
        for (CompletableFuture<HttpResponse<String>> answer : answers) {
            ids.add(answer.get(60, TimeUnit.SECONDS)
                    .headers()
                    .firstValue("x-request-id")
                    .orElseThrow());
        }
        assertThat(ids).hasSize(3).contains("same");
        assertThat(LogRecords.of(RequestCompleted.class, events()))
                .allSatisfy(completed -> assertThat(completed.outputTokens()).isEqualTo(50))
                .extracting(RequestCompleted::requestId)
                .containsExactlyInAnyOrderElementsOf(ids);
    }

    private static GatewaySettings with(
            GatewaySettings usual, int maxHeader, Duration timeout, Duration stall, long maxBody) {
        return new GatewaySettings(
                usual.host(),
                usual.port(),
                usual.upstream(),
                usual.upstreamHttp2(),
                null,
                null,
                null,
                1,
                usual.maxConnections(),
                maxHeader,
                maxBody,
                timeout,
                timeout,
                stall,
                usual.connectTimeout(),
                true,
                usual.maxQueuedBytes());
    }

    static void waitFor(BooleanSupplier condition) throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        while (!condition.getAsBoolean()) {
            assertThat(never.await(5, TimeUnit.MILLISECONDS)).isFalse();
        }
    }
}
