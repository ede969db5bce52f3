package io.tokenstair.job.capture;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.GZIPInputStream;

/** What is true in a recorded run: for tests only, the product never reads it. */
final class Truth {
    private static final ObjectMapper JSON = new ObjectMapper();

    final JsonNode summary;
    final Map<String, JsonNode> tokens = new TreeMap<>();

    private Truth(JsonNode summary) {
        this.summary = summary;
    }

    static Truth of(String capture) throws IOException {
        Path folder = Captures.folder().resolve(capture);
        Truth truth = new Truth(JSON.readTree(Files.readString(folder.resolve("truth.json"))));
        Path plain = folder.resolve("truth_tokens.jsonl");
        InputStream file = Files.exists(plain)
                ? Files.newInputStream(plain)
                : new GZIPInputStream(Files.newInputStream(folder.resolve("truth_tokens.jsonl.gz")));
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JsonNode token = JSON.readTree(line);
                truth.tokens.put(
                        CaptureAnalysis.key(
                                token.get("req").asText(),
                                token.get("choice").asInt(),
                                token.get("tok").asInt()),
                        token);
            }
        }
        return truth;
    }

    /** The keys of a list like {@code slow_tokens}: stream name to token indexes. */
    Set<String> keys(String list) {
        Set<String> keys = new TreeSet<>();
        summary.get(list).fields().forEachRemaining(stream -> {
            String[] name = stream.getKey().split("#");
            int sequence = name.length > 1 ? Integer.parseInt(name[1]) : 0;
            stream.getValue().forEach(index -> keys.add(CaptureAnalysis.key(name[0], sequence, index.asInt())));
        });
        return keys;
    }

    Set<String> causes(String key) {
        Set<String> causes = new TreeSet<>();
        JsonNode token = tokens.get(key);
        if (token != null) {
            token.get("causes").forEach(cause -> causes.add(cause.asText()));
        }
        return causes;
    }
}
