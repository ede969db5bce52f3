package io.tokenstair.vllm;

import io.tokenstair.event.Event;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/** What a probe in a real server sent, as it came off the wire: lengths of both frames (int each), then the frames. */
record RecordedMessages(List<byte[][]> messages) {
    /** An event as it left the collector. */
    record Told(
            String collectorId, String clockId, @Nullable Long clockNanos, Event event) {}

    static RecordedMessages of(String resource) throws IOException {
        List<byte[][]> messages = new ArrayList<>();
        try (InputStream packed =
                        Objects.requireNonNull(RecordedMessages.class.getResourceAsStream(resource), resource);
                DataInputStream in =
                        new DataInputStream(new ByteArrayInputStream(new GZIPInputStream(packed).readAllBytes()))) {
            while (in.available() > 0) {
                int first = in.readInt();
                int second = in.readInt();
                messages.add(new byte[][] {in.readNBytes(first), in.readNBytes(second)});
            }
        }
        return new RecordedMessages(messages);
    }

    /** The events of all messages, evictions among them. */
    List<Told> events() {
        List<Told> told = new ArrayList<>();
        ProbeSources sources = new ProbeSources(
                "vllm",
                "vllm-0",
                (collector, clock, nanos, event) -> told.add(new Told(collector, clock, nanos, event)),
                rank -> null,
                process -> {});
        for (byte[][] message : messages) {
            sources.message(message[0], message[1]);
        }
        return told;
    }
}
