package io.tokenstair.look.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.look.SampleArchive;
import io.tokenstair.look.archive.ResultArchive;
import io.tokenstair.look.archive.UnusableInputException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PageServerTest {
    @TempDir
    static Path directory;

    private static ResultArchive archive;
    private static PageServer server;
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @BeforeAll
    static void start() {
        SampleArchive.write(directory);
        archive = ResultArchive.open(directory);
        server = PageServer.start(archive, 0);
    }

    @AfterAll
    static void stop() {
        server.close();
        archive.close();
    }

    @Test
    void thePageAndEveryFileItNamesAreServed() throws Exception {
        String page = get("/").body();
        Matcher names = Pattern.compile("/page/([a-z.]+)").matcher(page);
        int files = 0;
        while (names.find()) {
            assertThat(get(names.group()).statusCode()).as(names.group()).isEqualTo(200);
            files++;
        }
        assertThat(files).isEqualTo(3);
        for (String module : new String[] {"api", "dom", "place", "requests", "strip", "token", "format"}) {
            HttpResponse<String> answer = get("/page/" + module + ".js");
            assertThat(answer.headers().firstValue("Content-Type"))
                    .hasValueSatisfying(type -> assertThat(type).startsWith("text/javascript"));
        }
    }

    @Test
    void thePageHoldsNoInlineCodeOrStyle() throws Exception {
        assertThat(get("/").body())
                .doesNotContain("style=", "onclick", "<style")
                .doesNotContainPattern("<script(?![^>]*src=)");
    }

    @Test
    void noModuleSetsMarkupFromText() throws Exception {
        for (String module : new String[] {"app", "api", "dom", "place", "requests", "strip", "token", "format"}) {
            assertThat(get("/page/" + module + ".js").body())
                    .doesNotContain(
                            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/api/archive", "/nowhere"})
    void everyAnswerForbidsForeignCodeAndFrames(String path) throws Exception {
        HttpResponse<String> answer = get(path);

        assertThat(answer.headers().firstValue("Content-Security-Policy"))
                .hasValueSatisfying(policy -> assertThat(policy)
                        .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
                        .doesNotContain("unsafe"));
        assertThat(answer.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
        assertThat(answer.headers().firstValue("Access-Control-Allow-Origin")).isEmpty();
        assertThat(answer.headers().firstValue("Server")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1:%d,200",
        "localhost:%d,200",
        "LOCALHOST,200",
        "localhost:9000,200",
        "evil.example:%d,403",
        "127.0.0.1.evil.example,403",
        "localhost.evil.example,403"
    })
    void onlyNamesOfThisMachineAreAnswered(String host, int status) throws Exception {
        assertThat(raw("GET /api/archive HTTP/1.1\r\nHost: " + host.formatted(port())
                        + "\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 " + status);
    }

    @Test
    void aPathCannotLeaveThePage() throws Exception {
        for (String path :
                new String[] {"/page/..%2f..%2fsimplelogger.properties", "/page/package-info.class", "/page/"}) {
            assertThat(raw("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
                    .doesNotStartWith("HTTP/1.1 200");
        }
    }

    @Test
    void onlyReadingIsAnswered() throws Exception {
        HttpRequest post = HttpRequest.newBuilder(uri("/api/archive"))
                .POST(HttpRequest.BodyPublishers.ofString("x"))
                .build();

        assertThat(CLIENT.send(post, HttpResponse.BodyHandlers.ofString()).statusCode())
                .isGreaterThanOrEqualTo(404);
    }

    @Test
    void theListFindsByIdAndAliasAndPutsTheWorstFirst() throws Exception {
        assertThat(get("/api/requests").body()).startsWith("{\"total\":12,\"sequences\":[{\"requestId\":\"chat-2\"");
        assertThat(get("/api/requests?q=CMPL-share").body())
                .startsWith("{\"total\":1,")
                .contains("\"share-5\"");
        assertThat(get("/api/requests?q=nobody").body()).isEqualTo("{\"total\":0,\"sequences\":[]}");
        assertThat(get("/api/requests?q=%25").body()).startsWith("{\"total\":0,");
        assertThat(get("/api/requests?sort=id&limit=1&offset=1").body()).contains("\"requestId\":\"chat-1\"");
    }

    @Test
    void aStripHasAPlacePerTokenOrTheWorstOfSeveral() throws Exception {
        String whole = get("/api/strip?request=chat-2").body();
        String binned = get("/api/strip?request=chat-2&places=10").body();

        assertThat(values(whole, "index")).hasSize(246).startsWith("0", "1", "2");
        assertThat(values(binned, "tokens")).hasSize(10).startsWith("25").endsWith("21");
        assertThat(values(binned, "index").get(3)).isEqualTo("96");
        assertThat(values(binned, "state").get(3)).isEqualTo("\"recompute\"");
        assertThat(values(get("/api/strip?request=chat-2&from=90&to=100").body(), "index"))
                .hasSize(10)
                .startsWith("90");
    }

    @Test
    void aTokenComesWithItsStepAndWhoSharedIt() throws Exception {
        assertThat(get("/api/token?request=chat-2&token=96").body())
                .contains("\"gapNanos\":3923225957", "\"stepId\":4190", "\"recomputeTokens\":1311")
                .contains("\"madeByTheSameStep\":[{\"requestId\":\"chat-1\"")
                .contains("\"producedEpochNanos\":\"1795946406579100082\"");
    }

    @Test
    void hostileIdsAreAnsweredAsJsonTextOnly() throws Exception {
        String id = URLEncoder.encode(SampleArchive.HOSTILE, StandardCharsets.UTF_8);
        HttpResponse<String> answer = get("/api/sequence?request=" + id);

        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/json");
        assertThat(answer.body()).contains("\\u001B[31m\\u202E").matches("[ -~]*");
    }

    @Test
    void sqlInAnIdIsOnlyAnId() throws Exception {
        String id = URLEncoder.encode("x' or 1=1; drop view finding; --", StandardCharsets.UTF_8);

        assertThat(get("/api/sequence?request=" + id).statusCode()).isEqualTo(404);
        assertThat(get("/api/requests?q=" + id).body()).startsWith("{\"total\":0");
        assertThat(get("/api/findings").body()).contains("\"findingId\"");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/api/token?request=chat-2&token=-1",
                "/api/token?request=chat-2&token=x",
                "/api/requests?sort=nope",
                "/api/requests?limit=99999999999",
                "/api/findings?severity=nope"
            })
    void unusableParametersAreRefused(String path) throws Exception {
        HttpResponse<String> answer = get(path);

        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).startsWith("{\"error\":\"Cannot use parameter");
    }

    @Test
    void anIdBeyondAnyBoundIsRefused() throws Exception {
        assertThat(get("/api/requests?q=" + "x".repeat(2000)).statusCode()).isEqualTo(400);
    }

    @Test
    void anAbsentTokenOrRequestIsNotFound() throws Exception {
        assertThat(get("/api/token?request=chat-2&token=246").statusCode()).isEqualTo(404);
        assertThat(get("/api/sequence?request=nobody").statusCode()).isEqualTo(404);
    }

    @Test
    void aTakenPortIsSaidInOneLine() {
        assertThatThrownBy(() -> PageServer.start(archive, port()))
                .isInstanceOf(UnusableInputException.class)
                .hasMessageContaining("Cannot listen on port " + port())
                .hasMessageContaining("--port");
    }

    private static List<String> values(String json, String name) {
        Matcher column = Pattern.compile("\"" + name + "\":\\[([^\\]]*)\\]").matcher(json);
        assertThat(column.find()).isTrue();
        return List.of(column.group(1).split(","));
    }

    private static int port() {
        return URI.create(server.url()).getPort();
    }

    private static URI uri(String path) {
        return URI.create(server.url()).resolve(path);
    }

    private static HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return CLIENT.send(HttpRequest.newBuilder(uri(path)).build(), HttpResponse.BodyHandlers.ofString());
    }

    private static String raw(String request) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", port());
                InputStream in = socket.getInputStream()) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
