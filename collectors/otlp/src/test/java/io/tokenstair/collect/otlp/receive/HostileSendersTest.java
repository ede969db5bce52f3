package io.tokenstair.collect.otlp.receive;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.collect.otlp.Otlp;
import io.tokenstair.hostile.ManySockets;
import io.tokenstair.hostile.RawHttp2;
import io.tokenstair.hostile.SmallProcess;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Senders that mean harm, at a receiver with 96 MiB of heap and as much outside of it, which ends where that is not enough. */
@Timeout(180)
class HostileSendersTest {
    private static final int MEBIBYTES = 96;
    private static final int CONNECTIONS = 1_000;
    private static final String HEAD =
            "POST /v1/traces HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-protobuf\r\n";
    private static final byte[] GOOD =
            Otlp.traces("vllm", "s", Otlp.vllm("cmpl-a-0", "00f067aa0ba902b7")).toByteArray();

    @TempDir
    Path folder;

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private SmallProcess receiver;
    private int port;

    @BeforeEach
    void start() throws Exception {
        receiver = SmallProcess.start(
                SmallReceiver.class, MEBIBYTES, folder.resolve("log").toString());
        port = Integer.parseInt(receiver.ask("port"));
    }

    @AfterEach
    void stop() throws Exception {
        receiver.close();
    }

    private HttpRequest request(byte[] body, String encoding) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/traces"))
                .timeout(Duration.ofSeconds(60))
                .header("content-type", "application/x-protobuf")
                .header("content-encoding", encoding)
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                .build();
    }

    private void assertTakes() throws Exception {
        long before = Long.parseLong(receiver.ask("accepted"));
        assertThat(http.send(request(GOOD, "identity"), HttpResponse.BodyHandlers.discarding())
                        .statusCode())
                .isEqualTo(200);
        assertThat(receiver.ask("accepted")).isEqualTo(Long.toString(before + 1));
        assertThat(receiver.isAlive()).isTrue();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static void rest(int millis) throws InterruptedException {
        assertThat(new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS)).isFalse();
    }

    private static void drip(ManySockets many) throws Exception {
        long before = System.nanoTime();
        while (many.closedCount() < CONNECTIONS) {
            many.send(ascii("x"));
            many.look();
            rest(50);
            assertThat(System.nanoTime() - before).isLessThan(90_000_000_000L);
        }
    }

    @Test
    void aThousandHeadsThatNeverEndAreCutOff() throws Exception {
        try (ManySockets many = ManySockets.connect(port, CONNECTIONS, 4_096)) {
            many.send(ascii(HEAD));
            assertTakes();
            drip(many);
            assertThat(many.closedCount()).isEqualTo(CONNECTIONS);
        }
        assertTakes();
    }

    @Test
    void aThousandBodiesThatNeverEndAreCutOff() throws Exception {
        try (ManySockets many = ManySockets.connect(port, CONNECTIONS, 4_096)) {
            many.send(ascii(HEAD + "Content-Length: 100000\r\n\r\n"));
            drip(many);
            // As many as connections are allowed are heard to their end, all others are closed at once.
            assertThat(many.answered().split("HTTP/1.1 408", -1)).hasSizeBetween(2, SmallReceiver.CONNECTIONS + 1);
        }
        assertTakes();
    }

    @Test
    void manyZipBombsAtOnceCostNoMoreThanOne() throws Exception {
        ByteArrayOutputStream zipped = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(zipped)) {
            byte[] zeros = new byte[1 << 20];
            for (int i = 0; i < 1_024; i++) {
                out.write(zeros);
            }
        }
        byte[] bomb = zipped.toByteArray();
        assertThat(bomb.length).isLessThan(2 << 20);
        List<CompletableFuture<HttpResponse<Void>>> answers = new ArrayList<>();
        for (int i = 0; i < 32; i++) {
            answers.add(http.sendAsync(request(bomb, "gzip"), HttpResponse.BodyHandlers.discarding()));
        }
        for (CompletableFuture<HttpResponse<Void>> answer : answers) {
            // Too large, or, where others are before it, to be sent again.
            assertThat(answer.get(120, TimeUnit.SECONDS).statusCode()).isIn(413, 429);
        }
        assertTakes();
    }

    @Test
    void streamsThatAreResetAtOnceEndTheConnection() throws Exception {
        try (RawHttp2 connection = RawHttp2.connect(port)) {
            assertThat(connection.postAndCancel("/v1/traces", false, 20_000)).isPositive();
            assertThat(connection.isClosedWithin(20_000)).isTrue();
        }
        assertTakes();
    }

    @Test
    void floodsOfSettingsPingsAndStreamsAreBorne() throws Exception {
        for (int type : new int[] {RawHttp2.SETTINGS, RawHttp2.PING, RawHttp2.HEADERS}) {
            try (RawHttp2 connection = RawHttp2.connect(port)) {
                try {
                    for (int i = 0; i < 200_000; i++) {
                        if (type == RawHttp2.HEADERS) {
                            connection.post(1 + 2 * i, "/v1/traces", false);
                        } else {
                            connection.frame(type, 0, 0, type == RawHttp2.PING ? new byte[8] : new byte[0]);
                        }
                    }
                    connection.flush();
                } catch (IOException cutOff) {
                    assertThat(receiver.isAlive()).isTrue();
                }
                assertTakes();
                assertThat(Long.parseLong(receiver.ask("memory"))).isLessThan((long) MEBIBYTES << 20);
            }
        }
    }

    @Test
    void megabytesOfHeadersAreRefused() throws Exception {
        try (ManySockets many = ManySockets.connect(port, 100, 4_096)) {
            many.send(ascii(HEAD + "x-long: "));
            many.sendUntilClosed(ascii("x".repeat(64 << 10)), 400, 100);
            assertThat(many.closedCount()).isEqualTo(100);
        }
        assertTakes();
    }
}
