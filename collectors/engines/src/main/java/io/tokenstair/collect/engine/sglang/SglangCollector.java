package io.tokenstair.collect.engine.sglang;

import io.tokenstair.collect.engine.dynamo.ForwardPassStream;
import io.tokenstair.collect.live.EngineSources;
import io.tokenstair.collect.live.EventOut;
import io.tokenstair.collect.live.Source;
import io.tokenstair.collect.live.ZmqReader;
import java.io.Closeable;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects a running SGLang: forward passes, KV events and metrics. Its traces come to the receiver of OpenTelemetry. */
public final class SglangCollector implements Closeable {
    private final EngineSources sources;

    /**
     * What to collect.
     *
     * @param collectorName what the ids of what it logs begin with; unique in this process
     * @param engineName what the engine is called; ranks above 0 get their number behind it
     * @param fpm publishers of forward passes, one for each rank
     * @param kvEvents publishers of KV events, one for each rank
     * @param kvReplay their replay endpoints, in the same order; empty when there are none
     * @param kvTopic what to subscribe to; empty for everything
     * @param metrics where to scrape; absent when not asked for
     * @param metricsEvery how often
     */
    public record Settings(
            String collectorName,
            String engineName,
            List<String> fpm,
            List<String> kvEvents,
            List<String> kvReplay,
            String kvTopic,
            @Nullable URI metrics,
            Duration metricsEvery) {
        /** Copies the lists, and refuses what cannot be meant. */
        public Settings {
            fpm = List.copyOf(fpm);
            kvEvents = List.copyOf(kvEvents);
            kvReplay = List.copyOf(kvReplay);
            EngineSources.refuseUnpaired(kvEvents, kvReplay);
            if (fpm.isEmpty() && kvEvents.isEmpty() && metrics == null) {
                throw new IllegalArgumentException("Cannot collect nothing: give --fpm, --kv-events or --metrics");
            }
        }
    }

    /**
     * Starts to collect.
     *
     * @throws IllegalArgumentException when an address cannot be used
     */
    public SglangCollector(Settings settings, EventOut out) {
        sources = new EngineSources(settings.collectorName(), out);
        if (!settings.fpm().isEmpty()) {
            Source source = sources.source("fpm", "forward passes", "sglang-fpm");
            ZmqReader.Subscription subscription =
                    sources.zmq().subscription("", ForwardPassStream.of(source, settings.engineName()));
            settings.fpm().forEach(subscription::connect);
        }
        sources.kvEvents(settings.kvEvents(), settings.kvReplay(), settings.kvTopic(), List.of(settings.engineName()));
        URI metrics = settings.metrics();
        sources.scrape(metrics == null ? List.of() : List.of(metrics), settings.metricsEvery(), settings.engineName());
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
