package io.tokenstair.live;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Streams completions of random prompts and counts the tokens that arrive. */
record StreamingClient(URI server) {
    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** Tokens by request id of concurrent requests named prefix-0, prefix-1 and so on. */
    Map<String, Integer> stream(String prefix, int requests, int promptTokens, int outputTokens) {
        Map<String, CompletableFuture<Integer>> answers = new TreeMap<>();
        for (int i = 0; i < requests; i++) {
            String id = prefix + "-" + i;
            answers.put(id, HTTP.sendAsync(request(id, i, promptTokens + 7 * i, outputTokens), HttpResponse.BodyHandlers.ofLines())
                    .thenApply(answer -> tokens(answer.body())));
        }
        Map<String, Integer> tokens = new TreeMap<>();
        answers.forEach((id, answer) -> tokens.put(id, answer.join()));
        return tokens;
    }

    private HttpRequest request(String id, int seed, int promptTokens, int outputTokens) {
        String prompt = new Random(seed)
                .ints(promptTokens, 10, 4000)
                .mapToObj(String::valueOf)
                .collect(Collectors.joining(","));
        String body = "{\"model\":\"tiny\",\"prompt\":[" + prompt + "],\"max_tokens\":" + outputTokens
                + ",\"ignore_eos\":true,\"temperature\":0,\"stream\":true,\"return_token_ids\":true}";
        return HttpRequest.newBuilder(server.resolve("/v1/completions"))
                .timeout(Duration.ofMinutes(5))
                .header("Content-Type", "application/json")
                .header("X-Request-Id", id)
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
    }

    private static int tokens(Stream<String> lines) {
        return lines.filter(line -> line.startsWith("data: {"))
                .mapToInt(StreamingClient::tokensOf)
                .sum();
    }

    /** Length of the first token_ids of an event. */
    private static int tokensOf(String line) {
        int begin = line.indexOf("\"token_ids\":[");
        if (begin < 0) {
            return 0;
        }
        int from = begin + "\"token_ids\":[".length();
        String ids = line.substring(from, line.indexOf(']', from));
        return ids.isBlank() ? 0 : ids.split(",", -1).length;
    }

    boolean isHealthy() throws InterruptedException {
        try {
            return HTTP.send(
                                    HttpRequest.newBuilder(server.resolve("/health"))
                                            .timeout(Duration.ofSeconds(5))
                                            .build(),
                                    HttpResponse.BodyHandlers.discarding())
                            .statusCode()
                    == 200;
        } catch (IOException notYet) {
            return false;
        }
    }
}
