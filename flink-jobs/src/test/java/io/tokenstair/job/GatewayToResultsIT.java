package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.TableReader;
import io.tokenstair.archive.TableSchema;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.gateway.Gateway;
import io.tokenstair.gateway.GatewaySettings;
import io.tokenstair.log.LogOutlet;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Concurrent streams through the gateway, its log through the job: every token delivered, at its request, none anywhere else. */
@Timeout(300)
class GatewayToResultsIT {
    private static final int REQUESTS = 48;

    @TempDir
    Path folder;

    @Test
    void everyTokenIsAtItsRequestAndNoneIsAmbiguous() throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        HttpServer engine = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        engine.setExecutor(threads);
        engine.createContext("/v1/completions", GatewayToResultsIT::stream);
        engine.start();
        Map<String, Integer> expected = new HashMap<>();
        LogOutlet outlet = LogOutlet.open(folder.resolve("log").toString());
        try (Gateway gateway = Gateway.start(
                GatewaySettings.before(
                        URI.create("http://127.0.0.1:" + engine.getAddress().getPort())),
                outlet.feed("gateway-0"))) {
            HttpClient client = HttpClient.newHttpClient();
            List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
            for (int i = 0; i < REQUESTS; i++) {
                HttpRequest.Builder request = HttpRequest.newBuilder(
                                URI.create("http://127.0.0.1:" + gateway.port() + "/v1/completions"))
                        .POST(HttpRequest.BodyPublishers.ofString(
                                "{\"model\":\"m\",\"max_tokens\":" + tokens(i) + "}"));
                // Some name themselves, some do not, and three at once call themselves the same.
                if (i % 3 == 0) {
                    request.header("X-Request-Id", i < 9 ? "same" : "mine-" + i);
                }
                answers.add(client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString()));
            }
            for (int i = 0; i < REQUESTS; i++) {
                HttpResponse<String> answer = answers.get(i).get(120, TimeUnit.SECONDS);
                assertThat(answer.statusCode()).isEqualTo(200);
                String id = answer.headers().firstValue("x-request-id").orElseThrow();
                assertThat(expected.put(id, tokens(i))).as(id).isNull();
            }
        } finally {
            outlet.close();
            engine.stop(0);
            threads.shutdownNow();
        }
        assertThat(outlet.status().lostCount()).isZero();

        Path archive = folder.resolve("archive");
        assertThat(JobMain.run(
                        "run", "--once", "--from", folder.resolve("log").toString(), "--archive", archive.toString()))
                .isZero();
        List<TokenAnalysis> tokens = rows(archive, ResultTables.TOKEN_ANALYSIS);
        Map<String, Integer> told = new HashMap<>();
        for (TokenAnalysis token : tokens) {
            assertThat(expected).as("a token without its request").containsKey(token.requestId());
            assertThat(token.lifetime()).isZero();
            assertThat(token.deliveredEpochNanos()).isNotNull();
            assertThat(token.gapBasis()).isEqualTo("delivered");
            told.merge(token.requestId(), 1, Integer::sum);
        }
        assertThat(told).isEqualTo(expected);
        List<RequestAnalysis> requests = rows(archive, ResultTables.REQUEST_ANALYSIS);
        assertThat(requests).hasSize(REQUESTS);
        for (RequestAnalysis request : requests) {
            assertThat(request.state()).isEqualTo("complete");
            assertThat(request.droppedChunks()).as("ambiguous chunks").isNull();
            assertThat(request.droppedTokens()).isNull();
            assertThat(request.tokenCount()).isEqualTo((long) expected.get(request.requestId()));
            assertThat(request.ttftNanos()).isPositive();
        }

        // The replay of what was archived says the same.
        Path again = folder.resolve("again");
        assertThat(JobMain.run("replay", "--archive", archive.toString(), "--out", again.toString()))
                .isZero();
        assertThat(rows(again, ResultTables.TOKEN_ANALYSIS)).containsExactlyInAnyOrderElementsOf(tokens);
    }

    private static <R extends Record> List<R> rows(Path archive, TableSchema<R> schema) throws Exception {
        List<R> rows = new ArrayList<>();
        for (Path file : ArchiveLayout.files(archive, schema.table())) {
            try (TableReader<R> reader = TableReader.open(schema, file)) {
                reader.forEachRemaining(rows::add);
            }
        }
        return rows;
    }

    private static int tokens(int i) {
        return 6 + i % 17;
    }

    private static void stream(HttpExchange exchange) {
        try (exchange) {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            int tokens = Integer.parseInt(body.replaceAll(".*max_tokens\":(\\d+).*", "$1"));
            String id = exchange.getRequestHeaders().getFirst("x-request-id");
            exchange.getResponseHeaders().add("content-type", "text/event-stream");
            exchange.sendResponseHeaders(200, 0);
            OutputStream out = exchange.getResponseBody();
            for (int i = 0; i < tokens; i++) {
                out.write(("data: {\"id\":\"cmpl-" + id + "\",\"choices\":[{\"index\":0,\"text\":\"t\",\"token_ids\":["
                                + i + "]" + (i == tokens - 1 ? ",\"finish_reason\":\"length\"" : "") + "}]}\n\n")
                        .getBytes(StandardCharsets.UTF_8));
                out.flush();
                Thread.onSpinWait();
            }
            out.write("data: [DONE]\n\n".getBytes(StandardCharsets.UTF_8));
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }
}
