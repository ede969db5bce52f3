package io.tokenstair.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/** Streams that real servers sent, as a client recorded them line by line. */
final class RecordedStreams {
    static final List<String> NAMES = List.of("llamacpp-main", "llamacpp-spec", "llamacpp-kvfull", "dynamo", "llmd");

    private static final ObjectMapper JSON = new ObjectMapper();

    private RecordedStreams() {}

    /** One request of a recording. */
    static final class Stream {
        String path = "";
        String body = "";
        int status = 200;
        boolean streamed = true;
        boolean aborted;
        long sentNanos;
        final List<String> lines = new ArrayList<>();
        final List<Long> arrivals = new ArrayList<>();
        String whole = "";
        long wholeNanos;

        /** The bytes of line i as they were on the wire. */
        byte[] bytes(int i) {
            return (lines.get(i) + "\n\n").getBytes(StandardCharsets.UTF_8);
        }
    }

    /** The requests of a recording, by their names there. */
    static Map<String, Stream> read(String name) throws IOException {
        Map<String, Stream> streams = new LinkedHashMap<>();
        try (InputStream file = RecordedStreams.class.getResourceAsStream("/streams/" + name + ".jsonl.gz");
                BufferedReader lines =
                        new BufferedReader(new InputStreamReader(new GZIPInputStream(file), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JsonNode record = JSON.readTree(line);
                Stream stream = streams.computeIfAbsent(record.get("req").asText(), key -> new Stream());
                long nanos = record.get("mono_ns").asLong();
                switch (record.get("kind").asText()) {
                    case "sent" -> {
                        stream.path = record.get("path").asText();
                        stream.body = record.get("body").toString();
                        stream.sentNanos = nanos;
                    }
                    case "status" -> stream.status = record.get("status").asInt();
                    case "line" -> {
                        stream.lines.add(record.get("line").asText());
                        stream.arrivals.add(nanos);
                    }
                    case "body" -> {
                        stream.streamed = false;
                        stream.whole = record.has("text")
                                ? record.get("text").asText()
                                : record.path("body").isTextual()
                                        ? record.get("body").asText()
                                        : record.path("body").toString();
                        stream.wholeNanos = nanos;
                    }
                    case "client_abort" -> stream.aborted = true;
                    default -> {
                        // closed
                    }
                }
            }
        }
        return streams;
    }
}
