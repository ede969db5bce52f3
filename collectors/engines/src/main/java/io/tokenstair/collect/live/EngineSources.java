package io.tokenstair.collect.live;

import io.tokenstair.clock.HostClocks;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The sources of a live collector: started together, ended together, told of in one line. */
public final class EngineSources implements Closeable {
    private final String collectorName;
    private final EventOut out;
    private final List<Object> told = new ArrayList<>();
    private final List<Closeable> open = new ArrayList<>();
    private final List<Runnable> starts = new ArrayList<>();
    private @Nullable ZmqReader zmq;
    private volatile String kvStatus = "0, lost 0, rejected 0";

    /**
     * No sources yet.
     *
     * @param collectorName what the ids of what they log begin with
     * @param out takes their events
     */
    public EngineSources(String collectorName, EventOut out) {
        this.collectorName = collectorName;
        this.out = out;
    }

    /**
     * A source of this collector.
     *
     * @param what names it in collector ids, such as "fpm"
     * @param name what it is, for people
     * @param label an address or a file
     */
    public Source source(String what, String name, String label) {
        Source source = new Source(name, label, collectorName + "-" + what, out);
        told.add(source);
        return source;
    }

    /** Scrapes metrics; samples without a label {@code engine} are of this engine. */
    public void scrape(List<URI> endpoints, Duration every, @Nullable String engine) {
        for (int i = 0; i < endpoints.size(); i++) {
            URI endpoint = endpoints.get(i);
            String id = collectorName + "-metrics" + (i == 0 ? "" : "/" + i);
            starts.add(() -> {
                MetricsScraper scraper = MetricsScraper.start(endpoint, every, id, engine, out);
                open.add(scraper);
                told.add(new Told("metrics", scraper::status));
            });
        }
    }

    /** Asks a server again and again. */
    public void poll(String threadName, URI endpoint, Duration every, HttpPoller.Answers answers) {
        starts.add(() -> open.add(new HttpPoller(endpoint, every, threadName, answers)));
    }

    /** Follows files by their lines. */
    public void follow(
            Path path,
            boolean fromEnd,
            Duration every,
            int mostLineBytes,
            Function<Path, FileFollower.Lines> lines,
            Runnable afterEachLook) {
        follow(path, fromEnd, every, file -> new LineCutter(mostLineBytes, lines.apply(file)), afterEachLook);
    }

    /** Follows files that are cut into other pieces than lines. */
    public void follow(
            Path path,
            boolean fromEnd,
            Duration every,
            Function<Path, FileFollower.Cutter> cutters,
            Runnable afterEachLook) {
        starts.add(() -> open.add(0, FollowedFiles.start(path, fromEnd, every, cutters, afterEachLook)));
    }

    /** Publishers of KV events, each with its replay endpoint where there are any, and the engine it speaks for. */
    public void kvEvents(List<String> addresses, List<String> replays, String topic, List<String> engines) {
        for (int i = 0; i < addresses.size(); i++) {
            zmq().kvEvents(
                            addresses.get(i),
                            replays.isEmpty() ? null : replays.get(i),
                            topic,
                            new KvMessages(
                                    addresses.get(i),
                                    engines.get(Math.min(i, engines.size() - 1)),
                                    collectorName + "-kv/" + i,
                                    HostClocks.elapsedId(),
                                    out,
                                    rank -> null));
        }
        if (!addresses.isEmpty()) {
            ZmqReader reader = zmq();
            reader.afterEachTurn(() -> {
                long[] counts = reader.kvCounts();
                kvStatus = counts[0] + ", lost " + counts[1] + ", rejected " + counts[2];
            });
            told.add(new Told("KV messages", () -> kvStatus));
        }
    }

    /** Refuses replay endpoints that are not one for each publisher. */
    public static void refuseUnpaired(List<String> kvEvents, List<String> kvReplay) {
        if (!kvReplay.isEmpty() && kvReplay.size() != kvEvents.size()) {
            throw new IllegalArgumentException(
                    kvEvents.isEmpty()
                            ? "Cannot replay what is not followed: give --kv-events beside --kv-replay"
                            : "Cannot tell which replay endpoint belongs to which publisher: give as many of --kv-replay as of"
                                    + " --kv-events, " + kvEvents.size() + ", not " + kvReplay.size());
        }
    }

    /** The reader of ZeroMQ sockets. */
    public ZmqReader zmq() {
        ZmqReader reader = zmq;
        if (reader == null) {
            reader = new ZmqReader("tokenstair-" + collectorName);
            zmq = reader;
        }
        return reader;
    }

    /** Starts all of them. Nothing may be added afterwards. */
    public void start() {
        starts.forEach(Runnable::run);
        ZmqReader reader = zmq;
        if (reader != null) {
            reader.start();
        }
    }

    private record Told(String name, Supplier<String> status) {
        @Override
        public String toString() {
            return name + " " + status.get();
        }
    }

    /** How they fare, in one line. */
    public String status() {
        List<String> texts = new ArrayList<>();
        told.forEach(source -> texts.add(source.toString()));
        return String.join("; ", texts);
    }

    @Override
    public void close() {
        ZmqReader reader = zmq;
        if (reader != null) {
            reader.close();
        }
        for (Closeable source : open) {
            try {
                source.close();
            } catch (IOException gone) {
                throw new UncheckedIOException(gone);
            }
        }
    }
}
