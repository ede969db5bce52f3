package io.tokenstair.collect.engine.dynamo;

import io.tokenstair.clock.ElapsedClock;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.live.Source;
import io.tokenstair.collect.live.ZmqReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Where Dynamo's workers publish, as they say themselves in the folder of the file discovery ({@code DYN_FILE_KV}): workers come and go,
 * each with a port of its own. Looked at every 2 s; at most {@value #MAX_CHANNELS} publishers.
 */
final class EventChannels implements ZmqReader.Turn {
    private static final int MAX_CHANNELS = 4_096;
    private static final int MAX_FILE_BYTES = 64 << 10;
    private static final long EVERY_NANOS = 2_000_000_000L;

    private final Path channels;
    private final String topic;
    private final ZmqReader.Subscription subscription;
    private final Source source;
    private final TreeSet<String> connected = new TreeSet<>();
    private long lookedNanos;
    private boolean looked;

    /**
     * Channels that were not looked for yet.
     *
     * @param folder what {@code DYN_FILE_KV} names
     * @param topic the topic of theirs that is wanted
     * @param subscription hears them
     * @param source told of what cannot be read
     */
    EventChannels(Path folder, String topic, ZmqReader.Subscription subscription, Source source) {
        this.channels = folder.resolve("v1").resolve("event_channels");
        this.topic = topic;
        this.subscription = subscription;
        this.source = source;
    }

    @Override
    public void ended() {
        long now = ElapsedClock.system().elapsedNanos();
        if (looked && now - lookedNanos < EVERY_NANOS) {
            return;
        }
        looked = true;
        lookedNanos = now;
        TreeSet<String> found = new TreeSet<>();
        find(channels, found, 0);
        for (String address : found) {
            if (!connected.contains(address)) {
                try {
                    subscription.connect(address);
                    connected.add(address);
                } catch (IllegalArgumentException none) {
                    source.rejected("a publisher's address cannot be used");
                }
            }
        }
        for (String address : new TreeSet<>(connected)) {
            if (!found.contains(address)) {
                subscription.disconnect(address);
                connected.remove(address);
            }
        }
    }

    private void find(Path folder, TreeSet<String> found, int depth) {
        if (depth > 2 || !Files.isDirectory(folder)) {
            return;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            for (Path entry : entries) {
                if (found.size() >= MAX_CHANNELS) {
                    return;
                }
                if (Files.isDirectory(entry)) {
                    find(entry, found, depth + 1);
                } else {
                    String address = address(entry);
                    if (address != null) {
                        found.add(address);
                    }
                }
            }
        } catch (IOException gone) {
            // A worker that ended took its file with it; the next look sees what is left.
            return;
        }
    }

    private @Nullable String address(Path file) throws IOException {
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            bytes = in.readNBytes(MAX_FILE_BYTES);
        }
        try {
            Fields channel = Fields.parse(bytes, bytes.length);
            Fields transport = channel.optionalObject("transport");
            if (transport == null
                    || !topic.equals(channel.optionalText("topic"))
                    || !"Zmq".equals(transport.optionalText("kind"))) {
                return null;
            }
            Fields config = transport.optionalObject("config");
            return config == null ? null : config.optionalText("endpoint");
        } catch (RejectedRecordException halfWritten) {
            return null;
        }
    }
}
