package io.tokenstair.live;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Streams completions of random prompts and counts the tokens that arrive.
 *
 * @param server what it asks
 * @param dialect how this server is asked for counts
 */
record StreamingClient(URI server, Dialect dialect) {
    private static final int MINUTES = 10;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** How an engine is asked to say what it streams. */
    enum Dialect {
        /** Prompts are token ids, each chunk holds its token ids. */
        VLLM("\"return_token_ids\":true"),
        /** Prompts are words; each chunk holds the count so far. */
        LLAMA_CPP("\"return_tokens\":true,\"timings_per_token\":true"),
        /** Prompts are words; each chunk is one token. */
        DYNAMO("\"stream_options\":{\"include_usage\":true}");

        private final String asking;

        Dialect(String asking) {
            this.asking = asking;
        }
    }

    /**
     * What one request got.
     *
     * @param tokens output tokens, as the stream shows them
     * @param prompt what was asked, as it stands in the body
     * @param text what was generated
     */
    record Streamed(int tokens, String prompt, String text) {}

    /** What concurrent requests named prefix-0, prefix-1 and so on got. */
    Map<String, Streamed> stream(String prefix, int requests, int promptTokens, int outputTokens)
            throws InterruptedException, ExecutionException, TimeoutException {
        Map<String, CompletableFuture<Streamed>> answers = new TreeMap<>();
        for (int i = 0; i < requests; i++) {
            String id = prefix + "-" + i;
            String prompt = prompt(prefix.hashCode() + i, promptTokens + 7 * i);
            answers.put(
                    id,
                    HTTP.sendAsync(request(id, prompt, outputTokens), HttpResponse.BodyHandlers.ofLines())
                            .thenApply(answer -> streamed(id, prompt, answer)));
        }
        Map<String, Streamed> streamed = new TreeMap<>();
        for (Map.Entry<String, CompletableFuture<Streamed>> answer : answers.entrySet()) {
            streamed.put(answer.getKey(), answer.getValue().get(MINUTES, TimeUnit.MINUTES));
        }
        return streamed;
    }

    private String prompt(int seed, int tokens) {
        Random random = new Random(seed);
        return dialect == Dialect.VLLM
                ? random.ints(tokens, 10, 4000).mapToObj(String::valueOf).collect(Collectors.joining(",", "[", "]"))
                : random.ints(tokens, 0, 1000).mapToObj(i -> "w" + i).collect(Collectors.joining(" ", "\"", "\""));
    }

    private HttpRequest request(String id, String prompt, int outputTokens) {
        String body = "{\"model\":\"tiny\",\"prompt\":" + prompt + ",\"max_tokens\":" + outputTokens
                + ",\"ignore_eos\":true,\"temperature\":0,\"stream\":true," + dialect.asking + "}";
        return HttpRequest.newBuilder(server.resolve("/v1/completions"))
                .timeout(Duration.ofMinutes(MINUTES))
                .header("Content-Type", "application/json")
                .header("X-Request-Id", id)
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
    }

    private Streamed streamed(String id, String prompt, HttpResponse<Stream<String>> answer) {
        int tokens = 0;
        StringBuilder text = new StringBuilder();
        StringBuilder other = new StringBuilder();
        boolean done = false;
        for (String line : (Iterable<String>) answer.body()::iterator) {
            if (line.startsWith("data: {")) {
                JsonNode chunk = parsed(line);
                for (JsonNode choice : chunk.path("choices")) {
                    String piece = choice.path("text").asText("");
                    text.append(piece);
                    tokens = switch (dialect) {
                        case VLLM -> tokens + choice.path("token_ids").size();
                        case LLAMA_CPP ->
                            Math.max(
                                    tokens,
                                    chunk.path("timings").path("predicted_n").asInt());
                        case DYNAMO -> piece.isEmpty() ? tokens : tokens + 1;
                    };
                }
            } else {
                done |= line.equals("data: [DONE]");
                other.append(line);
            }
        }
        if (answer.statusCode() != 200 || !done) {
            throw new IllegalStateException(id + ": " + answer.statusCode() + ", not ended: " + other);
        }
        return new Streamed(tokens, prompt, text.toString());
    }

    private static JsonNode parsed(String line) {
        try {
            return JSON.readTree(line.substring("data: ".length()));
        } catch (JsonProcessingException noJson) {
            throw new UncheckedIOException(noJson);
        }
    }

    /** Whether a GET of this path is answered with 200 and this text in it. */
    boolean answers(String path, String text) throws InterruptedException {
        try {
            HttpResponse<String> answer = HTTP.send(
                    HttpRequest.newBuilder(server.resolve(path))
                            .timeout(Duration.ofSeconds(10))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            return answer.statusCode() == 200 && answer.body().contains(text);
        } catch (IOException notYet) {
            return false;
        }
    }

    /** Tokens by request. */
    static Map<String, Integer> counts(Map<String, Streamed> streamed) {
        Map<String, Integer> counts = new TreeMap<>();
        streamed.forEach((id, answer) -> counts.put(id, answer.tokens()));
        return counts;
    }
}
