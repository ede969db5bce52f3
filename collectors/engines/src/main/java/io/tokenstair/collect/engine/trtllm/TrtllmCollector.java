package io.tokenstair.collect.engine.trtllm;

import io.tokenstair.clock.ElapsedClock;
import io.tokenstair.clock.EpochClock;
import io.tokenstair.collect.live.EngineSources;
import io.tokenstair.collect.live.EventOut;
import io.tokenstair.collect.live.Source;
import java.io.Closeable;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects a running TensorRT-LLM: its iteration statistics, and metrics and trace files of it and of Triton. */
public final class TrtllmCollector implements Closeable {
    private static final Duration LOOK = Duration.ofMillis(100);
    private static final int MAX_RECORD_BYTES = 8 << 20;

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
     * @param trace Triton's trace file on this machine, or a pattern of those that it numbers; absent when not asked for
     * @param traceEngine what Triton is called as an engine
     * @param fromEnd true to pass over what the trace files hold already
     */
    public record Settings(
            String collectorName,
            String engineName,
            @Nullable URI iterations,
            Duration iterationsEvery,
            List<URI> metrics,
            Duration metricsEvery,
            @Nullable Path trace,
            String traceEngine,
            boolean fromEnd) {
        /** Copies the list, and refuses what cannot be meant. */
        public Settings {
            metrics = List.copyOf(metrics);
            if (iterations == null && metrics.isEmpty() && trace == null) {
                throw new IllegalArgumentException("Cannot collect nothing: give --iterations, --metrics or --trace");
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
        Path trace = settings.trace();
        if (trace != null) {
            FollowedTraces traces = new FollowedTraces(
                    sources.source("trace", "trace records", String.valueOf(trace.getFileName())),
                    settings.traceEngine(),
                    EpochClock.system().epochMillis(),
                    MAX_RECORD_BYTES,
                    ElapsedClock.system());
            sources.follow(trace, settings.fromEnd(), LOOK, traces::cutter, traces::looked);
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
