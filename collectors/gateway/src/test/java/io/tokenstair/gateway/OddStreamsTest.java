package io.tokenstair.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Event;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.log.LogOutlet;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
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
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * One stream in every framing and cut that HTTP allows. A client of HTTP/1.1 gets it past the queues as far as its chunks are plain, one of
 * HTTP/2 through them; both get every byte, and the record has the same tokens.
 */
@Timeout(120)
class OddStreamsTest {
    private static final String ASKED = "{\"prompt\":\"secret\",\"max_tokens\":9,\"stream\":true}";
    /** Line ends of all three kinds, a comment, data of several lines, characters of two to four bytes. */
    private static final List<String> EVENTS = List.of(
            "data: {\"id\":\"cmpl-1\",\"choices\":[{\"index\":0,\"text\":\"Zw\u00f6lf \u20ac\",\"token_ids\":[7,8]}]}\n\n",
            ": still there\n\n",
            "event: message\r\ndata: {\"choices\":[{\"index\":0,\"text\":\"\ud834\udd1e\",\"token_ids\":[9]}]}\r\n\r\n",
            "data:{\"choices\":[{\"index\":0,\ndata: \"text\":\"\u4e2d\",\"token_ids\":[1,2,3]}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"token_ids\":[4],\"finish_reason\":\"stop\"}]}\r\r",
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":7}}\n\n",
            "data: [DONE]\n\n");

    private static final byte[] BODY = utf8(String.join("", EVENTS));
    private static final String HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    private static final String CHUNKED = HEAD + "Transfer-Encoding: chunked\r\n\r\n";

    @TempDir
    Path folder;

    private ScriptedEngine engine;
    private LogOutlet outlet;
    private Gateway gateway;

    /** An answer as the segments that its engine sends. */
    private record Framing(String name, boolean closes, List<byte[]> segments) {
        @Override
        public String toString() {
            return name;
        }
    }

    /** Answers every request of a connection with the same segments, with a rest between, so that most are read apart. */
    private static final class ScriptedEngine implements AutoCloseable {
        private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final Framing framing;

        ScriptedEngine(Framing framing) throws IOException {
            this.framing = framing;
            start(this::accept);
        }

        private static void start(Runnable work) {
            Thread thread = new Thread(work, "scripted-engine");
            thread.setDaemon(true);
            thread.start();
        }

        private void accept() {
            try {
                while (true) {
                    Socket socket = server.accept();
                    start(() -> serve(socket));
                }
            } catch (IOException closed) {
                // The test is over.
            }
        }

        private void serve(Socket socket) {
            try (socket) {
                socket.setTcpNoDelay(true);
                while (!RestedConnectionTest.head(socket.getInputStream()).isEmpty()) {
                    socket.getInputStream().readNBytes(ASKED.length());
                    for (byte[] segment : framing.segments()) {
                        socket.getOutputStream().write(segment);
                        assertThat(new CountDownLatch(1).await(1, TimeUnit.MILLISECONDS))
                                .isFalse();
                    }
                    if (framing.closes()) {
                        return;
                    }
                }
            } catch (IOException closed) {
                // Its peer went first.
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void close() throws IOException {
            server.close();
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] joined(List<byte[]> parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        parts.forEach(all::writeBytes);
        return all.toByteArray();
    }

    /** These bytes in pieces of so many. */
    private static List<byte[]> cut(byte[] bytes, int length) {
        List<byte[]> pieces = new ArrayList<>();
        for (int at = 0; at < bytes.length; at += length) {
            pieces.add(Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + length)));
        }
        return pieces;
    }

    /** A chunk of these bytes, its size written by a format that may have an extension. */
    private static byte[] chunk(String sizeFormat, byte[] data) {
        return joined(List.of(utf8(String.format(Locale.ROOT, sizeFormat, data.length) + "\r\n"), data, utf8("\r\n")));
    }

    private static List<byte[]> chunks(String sizeFormat, List<byte[]> data) {
        return data.stream().map(piece -> chunk(sizeFormat, piece)).toList();
    }

    private static List<byte[]> events() {
        return EVENTS.stream().map(OddStreamsTest::utf8).toList();
    }

    /** Head, chunks and an end, each a segment. */
    private static List<byte[]> segments(List<byte[]> chunks, String end) {
        List<byte[]> segments = new ArrayList<>();
        segments.add(utf8(CHUNKED));
        segments.addAll(chunks);
        segments.add(utf8(end));
        return segments;
    }

    private static Framing kept(String name, List<byte[]> segments) {
        return new Framing(name, false, segments);
    }

    private static Framing closed(String name, List<byte[]> segments) {
        return new Framing(name, true, segments);
    }

    static Stream<Framing> framings() {
        List<byte[]> plain = segments(chunks("%x", events()), "0\r\n\r\n");
        List<byte[]> withinSizes = new ArrayList<>();
        for (byte[] chunk : chunks("%x", events())) {
            int line = new String(chunk, StandardCharsets.ISO_8859_1).indexOf("\r\n");
            withinSizes.add(Arrays.copyOf(chunk, 1));
            withinSizes.add(Arrays.copyOfRange(chunk, 1, line + 1));
            withinSizes.add(Arrays.copyOfRange(chunk, line + 1, chunk.length - 1));
            withinSizes.add(Arrays.copyOfRange(chunk, chunk.length - 1, chunk.length));
        }
        byte[] early = utf8("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
        return Stream.of(
                kept("an event a chunk, a chunk a segment", plain),
                kept("all in one segment", List.of(joined(plain))),
                kept("a byte a segment", cut(joined(plain), 1)),
                kept("a segment begins anywhere", cut(joined(plain), 23)),
                kept("a size begins in one segment and ends in another", segments(withinSizes, "0\r\n\r\n")),
                kept(
                        "a byte a chunk, several a segment",
                        cut(joined(segments(chunks("%x", cut(BODY, 1)), "0\r\n\r\n")), 100)),
                kept("a chunk begins within a character", segments(chunks("%x", cut(BODY, 7)), "0\r\n\r\n")),
                kept("several events a chunk", segments(chunks("%x", cut(BODY, 300)), "0\r\n\r\n")),
                kept("sizes with leading zeros and capitals", segments(chunks("00%X", events()), "000\r\n\r\n")),
                kept("sizes of more digits than are followed", segments(chunks("%09x", events()), "0\r\n\r\n")),
                kept("chunks with extensions", segments(chunks("%x;name=\"a;b\";c", events()), "0;last\r\n\r\n")),
                kept(
                        "extensions after plain chunks",
                        segments(
                                Stream.concat(
                                                chunks("%x", events().subList(0, 4)).stream(),
                                                chunks("%x;c", events().subList(4, 7)).stream())
                                        .toList(),
                                "0\r\n\r\n")),
                kept("trailers", segments(chunks("%x", events()), "0\r\nX-Checksum: 1\r\nX-Took: 2 ms\r\n\r\n")),
                kept(
                        "a head in two segments",
                        Stream.concat(
                                        cut(utf8(CHUNKED), 40).stream(),
                                        plain.stream().skip(1))
                                .toList()),
                kept(
                        "an interim answer before",
                        Stream.concat(Stream.of(early), plain.stream()).toList()),
                kept("a length", List.of(utf8(HEAD + "Content-Length: " + BODY.length + "\r\n\r\n"), BODY)),
                closed(
                        "ends with its connection",
                        Stream.concat(Stream.of(utf8(HEAD + "Connection: close\r\n\r\n")), cut(BODY, 50).stream())
                                .toList()),
                closed(
                        "HTTP/1.0",
                        Stream.concat(Stream.of(utf8(HEAD.replace("1.1", "1.0") + "\r\n")), cut(BODY, 50).stream())
                                .toList()));
    }

    private void start(Framing framing) throws Exception {
        engine = new ScriptedEngine(framing);
        outlet = LogOutlet.open(folder.resolve("log").toString());
        gateway = Gateway.start(
                GatewaySettings.before(URI.create("http://127.0.0.1:" + engine.server.getLocalPort())),
                outlet.feed("gateway-0"));
    }

    @AfterEach
    void stop() throws Exception {
        if (gateway != null) {
            gateway.close();
            outlet.close();
            engine.close();
        }
    }

    private List<Event> events(int requests) throws Exception {
        GatewayTest.waitFor(() -> gateway.requestCount() == requests && gateway.openCount() == 0);
        gateway.close();
        outlet.close();
        assertThat(outlet.status().lostCount()).isZero();
        return LogRecords.eventsIn(folder.resolve("log"));
    }

    private void ask(OutputStream out) throws IOException {
        out.write(utf8("POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: "
                + ASKED.length() + "\r\n\r\n" + ASKED));
    }

    /** What a client reads on a connection that it keeps: head, body out of its chunks, and all behind the last one. */
    private record Answer(String head, byte[] body, String trailers) {
        static Answer of(InputStream in) throws IOException {
            String head = RestedConnectionTest.head(in);
            int length = head.toLowerCase(Locale.ROOT).indexOf("content-length: ");
            if (length >= 0) {
                String bytes = head.substring(length + 16, head.indexOf("\r\n", length));
                return new Answer(head, in.readNBytes(Integer.parseInt(bytes)), "");
            }
            assertThat(head.toLowerCase(Locale.ROOT)).contains("transfer-encoding: chunked");
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            for (String line = line(in); !line.matches("0+(;.*)?"); line = line(in)) {
                int size = Integer.parseInt(line.replaceAll(";.*", ""), 16);
                byte[] data = in.readNBytes(size);
                assertThat(data).hasSize(size);
                body.writeBytes(data);
                assertThat(line(in)).isEmpty();
            }
            StringBuilder trailers = new StringBuilder();
            for (String line = line(in); !line.isEmpty(); line = line(in)) {
                trailers.append(line).append('\n');
            }
            return new Answer(head, body.toByteArray(), trailers.toString());
        }

        private static String line(InputStream in) throws IOException {
            StringBuilder line = new StringBuilder();
            while (line.indexOf("\r\n") < 0) {
                int next = in.read();
                if (next < 0) {
                    throw new IOException("ended within a line: " + line);
                }
                line.append((char) next);
            }
            return line.substring(0, line.length() - 2);
        }
    }

    @ParameterizedTest
    @MethodSource("framings")
    void everyByteReachesTheClientAndEveryTokenTheRecord(Framing framing) throws Exception {
        start(framing);
        try (Socket socket = new Socket("127.0.0.1", gateway.port())) {
            // The second on kept connections, where nothing of the first may be left.
            for (int i = 0; i < 2; i++) {
                ask(socket.getOutputStream());
                Answer answer = Answer.of(socket.getInputStream());
                assertThat(answer.head()).startsWith("HTTP/1.1 200 OK\r\n").contains("text/event-stream");
                assertThat(answer.body()).isEqualTo(BODY);
                assertThat(answer.trailers().toLowerCase(Locale.ROOT))
                        .isEqualTo(framing.name().equals("trailers") ? "x-checksum: 1\nx-took: 2 ms\n" : "");
            }
        }
        HttpResponse<byte[]> queued = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_2)
                .build()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + gateway.port() + "/v1/completions"))
                                .header("content-type", "application/json")
                                .POST(HttpRequest.BodyPublishers.ofString(ASKED))
                                .build(),
                        HttpResponse.BodyHandlers.ofByteArray());
        assertThat(queued.version()).isEqualTo(HttpClient.Version.HTTP_2);
        assertThat(queued.body()).isEqualTo(BODY);
        List<Event> events = events(3);
        List<String> ids = new ArrayList<>();
        for (Event event : events) {
            if (event instanceof RequestCompleted completed) {
                assertThat(completed.outcome()).isEqualTo("complete");
                assertThat(completed.outputTokens()).isEqualTo(7);
                assertThat(completed.promptTokens()).isEqualTo(3);
                ids.add(completed.requestId());
            }
        }
        assertThat(ids).hasSize(3).doesNotHaveDuplicates();
        for (String id : ids) {
            assertThat(tokens(events, id)).containsExactly("0+2", "2+1", "3+3", "6+1");
        }
    }

    /** Of each chunk of a request that has tokens, the first one's index and how many. */
    private static List<String> tokens(List<Event> events, String requestId) {
        List<String> tokens = new ArrayList<>();
        for (Event event : events) {
            if (event instanceof ChunkDelivered delivered
                    && delivered.requestId().equals(requestId)) {
                for (Chunk chunk : delivered.chunks()) {
                    if (chunk.tokenCount() > 0) {
                        tokens.add(chunk.firstTokenIndex() + "+" + chunk.tokenCount());
                    }
                }
            }
        }
        return tokens;
    }

    @Test
    void whatIsCompressedPassesAsItIsAndItsTokensStayUnknown() throws Exception {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
            gzip.write(BODY);
        }
        List<byte[]> segments = new ArrayList<>(segments(chunks("%x", cut(packed.toByteArray(), 60)), "0\r\n\r\n"));
        segments.set(0, utf8(HEAD + "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"));
        start(kept("gzip", segments));
        try (Socket socket = new Socket("127.0.0.1", gateway.port())) {
            ask(socket.getOutputStream());
            Answer answer = Answer.of(socket.getInputStream());
            assertThat(answer.head().toLowerCase(Locale.ROOT)).contains("content-encoding: gzip\r\n");
            assertThat(answer.body()).isEqualTo(packed.toByteArray());
        }
        List<Event> events = events(1);
        RequestCompleted completed =
                LogRecords.of(RequestCompleted.class, events).get(0);
        assertThat(completed.outcome()).isEqualTo("complete");
        assertThat(completed.outputTokens()).isNull();
        assertThat(tokens(events, completed.requestId())).isEmpty();
    }

    @Test
    void anAnswerThatBreaksOffWithinAChunkHasNoEndAtTheClientEither() throws Exception {
        List<byte[]> broken = new ArrayList<>(segments(chunks("%x", events().subList(0, 4)), "5\r\ndata"));
        start(closed("broken", broken));
        byte[] got;
        try (Socket socket = new Socket("127.0.0.1", gateway.port())) {
            ask(socket.getOutputStream());
            got = socket.getInputStream().readAllBytes();
        }
        assertThat(new String(got, StandardCharsets.UTF_8))
                .contains(EVENTS.get(3))
                .doesNotContain("\r\n0\r\n");
        List<Event> events = events(1);
        RequestCompleted completed =
                LogRecords.of(RequestCompleted.class, events).get(0);
        assertThat(completed.outcome()).isEqualTo("failed");
        assertThat(completed.errorType()).isEqualTo("upstream-closed");
        assertThat(tokens(events, completed.requestId())).containsExactly("0+2", "2+1", "3+3");
    }
}
