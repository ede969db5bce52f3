package io.tokenstair.collect.engine.dynamo;

import io.tokenstair.clock.HostClocks;
import io.tokenstair.collect.live.EngineSources;
import io.tokenstair.collect.live.EventOut;
import io.tokenstair.collect.live.JsonLines;
import io.tokenstair.collect.live.Source;
import io.tokenstair.collect.live.ZmqReader;
import java.io.Closeable;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects a running Dynamo: forward passes and KV events of its workers, request traces of its frontend, metrics of both. */
public final class DynamoCollector implements Closeable {
    /** Longest line of a request trace: a prompt's block hashes are in it. */
    private static final int MAX_LINE_BYTES = 8 << 20;

    private static final Duration LOOK = Duration.ofMillis(200);

    private final EngineSources sources;

    /**
     * What to collect.
     *
     * @param collectorName what the ids of what it logs begin with; unique in this process
     * @param fpm publishers of forward passes
     * @param discovery the folder of the file discovery, in which the workers say where they publish them; absent without one
     * @param kvEvents publishers of KV events, one for each rank
     * @param kvReplay their replay endpoints, in the same order; empty when there are none
     * @param kvTopic what to subscribe to; empty for everything
     * @param kvEngines what the engines behind the publishers are called, in the same order; the last for all that follow
     * @param requestTrace file of request traces, or a pattern; absent when not asked for
     * @param fromEnd true to pass over what files hold already
     * @param metrics where to scrape
     * @param metricsEvery how often
     */
    public record Settings(
            String collectorName,
            List<String> fpm,
            @Nullable Path discovery,
            List<String> kvEvents,
            List<String> kvReplay,
            String kvTopic,
            List<String> kvEngines,
            @Nullable Path requestTrace,
            boolean fromEnd,
            List<URI> metrics,
            Duration metricsEvery) {
        /** Copies the lists, and refuses what cannot be meant. */
        public Settings {
            fpm = List.copyOf(fpm);
            kvEvents = List.copyOf(kvEvents);
            kvReplay = List.copyOf(kvReplay);
            kvEngines = List.copyOf(kvEngines);
            metrics = List.copyOf(metrics);
            EngineSources.refuseUnpaired(kvEvents, kvReplay);
            if (fpm.isEmpty() && discovery == null && kvEvents.isEmpty() && requestTrace == null && metrics.isEmpty()) {
                throw new IllegalArgumentException("Cannot collect nothing: give --fpm, --fpm-discovery, --kv-events,"
                        + " --request-trace or --metrics");
            }
        }
    }

    /**
     * Starts to collect.
     *
     * @throws IllegalArgumentException when an address cannot be used
     */
    public DynamoCollector(Settings settings, EventOut out) {
        sources = new EngineSources(settings.collectorName(), out);
        if (!settings.fpm().isEmpty() || settings.discovery() != null) {
            Source source = sources.source("fpm", "forward passes", "dynamo-fpm");
            ZmqReader.Subscription subscription = sources.zmq().subscription("", new ForwardPassStream(source));
            settings.fpm().forEach(subscription::connect);
            if (settings.discovery() != null) {
                sources.zmq()
                        .afterEachTurn(
                                new EventChannels(settings.discovery(), ForwardPassStream.TOPIC, subscription, source));
            }
        }
        sources.kvEvents(settings.kvEvents(), settings.kvReplay(), settings.kvTopic(), settings.kvEngines());
        Path traces = settings.requestTrace();
        if (traces != null) {
            String name = String.valueOf(traces.getFileName());
            Source source = sources.source("requests", "request traces", name);
            DynamoRequestTrace trace = new DynamoRequestTrace(source.label(), HostClocks.epochId(), source.events());
            sources.follow(
                    traces,
                    settings.fromEnd(),
                    LOOK,
                    MAX_LINE_BYTES,
                    file -> new JsonLines(source, trace::accept),
                    () -> {});
        }
        sources.scrape(settings.metrics(), settings.metricsEvery(), null);
        sources.start();
    }

    /** What was read so far, in one line. */
    public String status() {
        return sources.status();
    }

    @Override
    public void close() {
        sources.close();
    }
}
