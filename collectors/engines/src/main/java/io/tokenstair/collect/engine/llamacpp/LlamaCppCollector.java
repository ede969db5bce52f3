package io.tokenstair.collect.engine.llamacpp;

import io.tokenstair.clock.EpochClock;
import io.tokenstair.clock.HostClocks;
import io.tokenstair.collect.live.EngineSources;
import io.tokenstair.collect.live.EventOut;
import io.tokenstair.collect.live.Source;
import java.io.Closeable;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects a running llama.cpp server: its metrics, its slots, its log. What a client sees comes with the gateway. */
public final class LlamaCppCollector implements Closeable {
    private static final Duration LOOK = Duration.ofMillis(100);
    private static final int MAX_LINE_BYTES = 1 << 20;

    private final EngineSources sources;
    private final @Nullable FollowedLog log;

    /**
     * What to collect.
     *
     * @param collectorName what the ids of what it logs begin with; unique in this process
     * @param engineName what the engine is called
     * @param metrics where to scrape; absent when not asked for
     * @param metricsEvery how often
     * @param slots where the slots are told; absent when not asked for
     * @param slotsEvery how often they are asked for
     * @param log its log; absent when not asked for
     * @param fromEnd true to pass over what the log holds already
     */
    public record Settings(
            String collectorName,
            String engineName,
            @Nullable URI metrics,
            Duration metricsEvery,
            @Nullable URI slots,
            Duration slotsEvery,
            @Nullable Path log,
            boolean fromEnd) {
        /** Refuses what cannot be meant. */
        public Settings {
            if (metrics == null && slots == null && log == null) {
                throw new IllegalArgumentException("Cannot collect nothing: give --metrics, --slots or --log");
            }
        }
    }

    /** Starts to collect. */
    public LlamaCppCollector(Settings settings, EventOut out) {
        sources = new EngineSources(settings.collectorName(), out);
        URI metrics = settings.metrics();
        sources.scrape(metrics == null ? List.of() : List.of(metrics), settings.metricsEvery(), settings.engineName());
        URI slots = settings.slots();
        if (slots != null) {
            Source source = sources.source("slots", "slots", slots.toString());
            sources.poll(
                    "tokenstair-slots", slots, settings.slotsEvery(), new LlamaCppSlots(settings.engineName(), source));
        }
        Path file = settings.log();
        FollowedLog followed = null;
        if (file != null) {
            String name = String.valueOf(file.getFileName());
            Source source = sources.source("log", "log lines", name);
            // Tasks are counted from 0 by each server: this run's are told from an earlier one's by when it was met.
            String called = (name.length() > 120 ? name.substring(0, 120) : name) + "@"
                    + EpochClock.system().epochMillis();
            followed = new FollowedLog(
                    source, new LlamaCppLog(called, settings.engineName(), HostClocks.elapsedId(), source.events()));
            FollowedLog lines = followed;
            sources.follow(file, settings.fromEnd(), LOOK, MAX_LINE_BYTES, unused -> lines, lines::looked);
        }
        log = followed;
        sources.start();
    }

    /** What was read so far, in one line. */
    public String status() {
        return sources.status();
    }

    @Override
    public void close() {
        sources.close();
        if (log != null) {
            log.end();
        }
    }
}
