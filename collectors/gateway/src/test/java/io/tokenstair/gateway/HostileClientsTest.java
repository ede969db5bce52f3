package io.tokenstair.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.hostile.ManySockets;
import io.tokenstair.hostile.RawHttp2;
import io.tokenstair.hostile.SmallProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients that mean harm, at a gateway with 96 MiB of heap and as much outside of it, which ends where that is not enough. After each, and
 * during it, somebody else is served.
 */
@Timeout(180)
class HostileClientsTest {
    private static final int MEBIBYTES = 96;
    private static final int CONNECTIONS = 1_000;
    private static final String HEAD = "POST /v1/completions HTTP/1.1\r\nHost: a\r\n";

    @TempDir
    Path folder;

    private TestEngine engine;
    private SmallProcess gateway;
    private int port;

    @BeforeEach
    void start() throws Exception {
        engine = new TestEngine();
        gateway = SmallProcess.start(
                SmallGateway.class,
                MEBIBYTES,
                Integer.toString(engine.port()),
                folder.resolve("log").toString());
        port = Integer.parseInt(gateway.ask("port"));
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
        engine.close();
    }

    private void assertServes() throws Exception {
        HttpResponse<String> answer = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .build()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/completions"))
                                .timeout(Duration.ofSeconds(30))
                                .POST(HttpRequest.BodyPublishers.ofString("{\"max_tokens\":3}"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).endsWith("data: [DONE]\n\n");
        assertThat(gateway.isAlive()).isTrue();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static void rest(int millis) throws InterruptedException {
        assertThat(new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS)).isFalse();
    }

    /** Sends a byte at a time on all connections until they are closed, and gives how long that took. */
    private long dripped(ManySockets many, String bytes) throws Exception {
        long before = System.nanoTime();
        for (int i = 0; many.closedCount() < CONNECTIONS; i++) {
            many.send(ascii(bytes.substring(i % bytes.length(), i % bytes.length() + 1)));
            many.look();
            rest(50);
            if (i == 10) {
                assertServes();
            }
            assertThat(System.nanoTime() - before).isLessThan(60_000_000_000L);
        }
        return (System.nanoTime() - before) / 1_000_000;
    }

    @Test
    void aThousandHeadsThatNeverEndAreCutOff() throws Exception {
        try (ManySockets many = ManySockets.connect(port, CONNECTIONS, 4_096)) {
            many.send(ascii(HEAD));
            assertThat(dripped(many, "x-a: b\r\n")).isGreaterThan(SmallGateway.TIMEOUT.toMillis() / 2);
            assertThat(many.closedCount()).isEqualTo(CONNECTIONS);
        }
        // Only who was good made a request.
        assertThat(gateway.ask("requests")).isEqualTo("1");
        assertServes();
    }

    @Test
    void aThousandBodiesThatNeverEndAreAnsweredAndCutOff() throws Exception {
        try (ManySockets many = ManySockets.connect(port, CONNECTIONS, 4_096)) {
            many.send(ascii(HEAD + "Content-Length: 100000\r\n\r\n"));
            dripped(many, "{ }");
            assertThat(many.answered().split("HTTP/1.1 408", -1)).hasSizeGreaterThan(CONNECTIONS / 2);
        }
        assertThat(gateway.ask("open")).isEqualTo("0");
        assertServes();
    }

    @Test
    void clientsThatNeverReadHoldTheEngineBackAndNoMemory() throws Exception {
        int clients = 64;
        try (ManySockets many = ManySockets.connect(port, clients, 4_096)) {
            many.send(ascii("POST /generate HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"));
            long last = -1;
            for (int quiet = 0; quiet < 10; ) {
                rest(200);
                long now = engine.floodedBytes.get();
                quiet = now == last && now > 0 ? quiet + 1 : 0;
                last = now;
            }
            // It has stopped: what is under way lies in the buffers of sockets and of the two proxies' queues.
            assertThat(last / clients).isLessThan(24L << 20);
            long usedBytes = Long.parseLong(gateway.ask("memory"));
            assertThat(usedBytes).isLessThan((long) MEBIBYTES << 20);
            assertThat(gateway.ask("open")).isEqualTo(Integer.toString(clients));
            assertServes();
            assertThat(engine.floodedBytes.get()).isEqualTo(last);
        }
        while (!gateway.ask("open").equals("0")) {
            rest(20);
        }
        assertServes();
    }

    @Test
    void megabytesOfHeadersAreRefused() throws Exception {
        try (ManySockets many = ManySockets.connect(port, 100, 4_096)) {
            many.send(ascii(HEAD + "x-long: "));
            many.sendUntilClosed(ascii("x".repeat(64 << 10)), 400, 100);
            assertThat(many.closedCount()).isEqualTo(100);
        }
        assertThat(gateway.ask("requests")).isEqualTo("0");
        assertServes();
    }

    @Test
    void streamsThatAreResetAtOnceEndTheConnection() throws Exception {
        try (RawHttp2 connection = RawHttp2.connect(port)) {
            assertThat(connection.postAndCancel("/v1/completions", true, 20_000))
                    .isPositive();
            assertThat(connection.isClosedWithin(20_000)).isTrue();
        }
        assertThat(Long.parseLong(gateway.ask("requests"))).isLessThan(1_000);
        while (!gateway.ask("open").equals("0")) {
            rest(20);
        }
        assertServes();
    }

    @Test
    void moreStreamsThanAreAllowedAreNotOpened() throws Exception {
        try (RawHttp2 connection = RawHttp2.connect(port)) {
            try {
                // The client never says that it heard of the limit.
                for (int i = 0; i < 20_000; i++) {
                    connection.post(1 + 2 * i, "/v1/completions", false);
                }
                connection.flush();
            } catch (IOException cutOff) {
                assertThat(gateway.isAlive()).isTrue();
            }
            rest(300);
            assertThat(Integer.parseInt(gateway.ask("open"))).isLessThanOrEqualTo(1_024);
            assertServes();
        }
        while (!gateway.ask("open").equals("0")) {
            rest(20);
        }
        assertServes();
    }

    @Test
    void floodsOfSettingsAndPingsAreNotAnsweredWithoutEnd() throws Exception {
        for (int type : new int[] {RawHttp2.SETTINGS, RawHttp2.PING}) {
            try (RawHttp2 connection = RawHttp2.connect(port)) {
                try {
                    // None of the answers is read.
                    for (int i = 0; i < 300_000; i++) {
                        connection.frame(type, 0, 0, type == RawHttp2.PING ? new byte[8] : new byte[0]);
                    }
                    connection.flush();
                } catch (IOException cutOff) {
                    assertThat(gateway.isAlive()).isTrue();
                }
                assertServes();
                assertThat(Long.parseLong(gateway.ask("memory"))).isLessThan((long) MEBIBYTES << 20);
            }
        }
    }

    @Test
    void aHeadThatGoesOnForEverIsCutOff() throws Exception {
        try (RawHttp2 connection = RawHttp2.connect(port)) {
            boolean cut = false;
            try {
                connection.endlessHead(1);
                byte[] header = ascii("\u0000\u0004name\u0005value");
                byte[] many = new byte[header.length * 100];
                for (int i = 0; i < 100; i++) {
                    System.arraycopy(header, 0, many, i * header.length, header.length);
                }
                for (int i = 0; i < 20_000; i++) {
                    connection.frame(RawHttp2.CONTINUATION, 0, 1, many);
                }
                connection.flush();
            } catch (IOException cutOff) {
                cut = true;
            }
            assertThat(cut || connection.isClosedWithin(20_000)).isTrue();
        }
        assertThat(gateway.ask("requests")).isEqualTo("0");
        assertServes();
    }
}
