package io.tokenstair.collect.engine.trtllm;

import io.tokenstair.collect.live.EngineSources;
import io.tokenstair.collect.live.EventOut;
import io.tokenstair.collect.live.Source;
import java.io.Closeable;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects a running TensorRT-LLM: its iteration statistics, and metrics of it and of Triton. */
public final class TrtllmCollector implements Closeable {
    private final EngineSources sources;

    /**
     * What to collect.
     *
     * @param collectorName what the ids of what it logs begin with; unique in this process
     * @param engineName what the engine is called
     * @param iterations where its iteration statistics are polled; absent when not asked for
     * @param iterationsEvery how often
     * @param metrics where to scrape
     * @param metricsEvery how often
     */
    public record Settings(
            String collectorName,
            String engineName,
            @Nullable URI iterations,
            Duration iterationsEvery,
            List<URI> metrics,
            Duration metricsEvery) {
        /** Copies the list, and refuses what cannot be meant. */
        public Settings {
            metrics = List.copyOf(metrics);
            if (iterations == null && metrics.isEmpty()) {
                throw new IllegalArgumentException("Cannot collect nothing: give --iterations or --metrics");
            }
        }
    }

    /** Starts to collect. */
    public TrtllmCollector(Settings settings, EventOut out) {
        sources = new EngineSources(settings.collectorName(), out);
        URI iterations = settings.iterations();
        if (iterations != null) {
            Source source = sources.source("iterations", "iterations", iterations.toString());
            sources.poll(
                    "tokenstair-iterations",
                    iterations,
                    settings.iterationsEvery(),
                    new PolledIterations(settings.engineName(), source));
        }
        sources.scrape(settings.metrics(), settings.metricsEvery(), settings.engineName());
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
