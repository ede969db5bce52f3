package io.tokenstair.collector;

import io.tokenstair.collect.engine.trtllm.TrtllmCollector;
import io.tokenstair.collector.reach.Engine;
import io.tokenstair.collector.reach.FoundServer;
import io.tokenstair.collector.reach.Look;
import io.tokenstair.log.LogOutlet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A running TensorRT-LLM, alone or behind Triton, as {@code tokenstair collect} knows it. */
final class TrtllmLiveCollector implements Collector {
    private static final String ITERATIONS = "iterations";
    private static final String ITERATIONS_EVERY = "iterations-every";

    private static final String TRACE = "trace";
    private static final String TRACE_ENGINE = "trace-engine";

    @Override
    public String type() {
        return "trtllm";
    }

    @Override
    public String summary() {
        return "A running TensorRT-LLM: iterations; metrics and traces, Triton's too.";
    }

    @Override
    public List<Option> options() {
        return List.of(
                Option.optional(
                        ITERATIONS,
                        OptionKind.PAGES,
                        "Take its iterations from here: http://127.0.0.1:8000/metrics. Each answer empties its queue."),
                Option.of(ITERATIONS_EVERY, OptionKind.DURATION, "1s", "How often; ever more rarely while it fails."),
                Option.optional(
                                EngineOptions.METRICS,
                                OptionKind.PAGES,
                                "Scrape these: its /prometheus/metrics, Triton's http://127.0.0.1:8002/metrics, with commas.")
                        .like("http://127.0.0.1:8002/metrics"),
                EngineOptions.metricsEvery(),
                Option.optional(
                        TRACE,
                        OptionKind.PATH,
                        "Follow Triton's trace files, as trace.json.*; it must run on this machine."),
                Option.of(TRACE_ENGINE, OptionKind.TEXT, "triton", "What Triton is called as an engine."),
                EngineOptions.begin(),
                Option.of(EngineOptions.ENGINE, OptionKind.TEXT, "trtllm", "What the engine is called."));
    }

    @Override
    public void check(OptionValues values) throws CollectorException {
        EngineOptions.check(() -> settings(type(), values));
    }

    @Override
    public Running start(String name, OptionValues values, LogOutlet outlet) throws CollectorException {
        try {
            TrtllmCollector collector = new TrtllmCollector(settings(name, values), EngineOptions.out(name, outlet));
            return EngineOptions.running(
                    collector::status,
                    collector::close,
                    "requests by step without enable_iter_req_stats; the client's request ids; KV blocks; what clients"
                            + " saw (use the gateway)");
        } catch (IllegalArgumentException impossible) {
            throw new CollectorException(name + ": " + impossible.getMessage(), impossible);
        }
    }

    private static TrtllmCollector.Settings settings(String name, OptionValues values) throws CollectorException {
        return new TrtllmCollector.Settings(
                name,
                values.text(EngineOptions.ENGINE),
                EngineOptions.page(values, ITERATIONS),
                values.duration(ITERATIONS_EVERY),
                EngineOptions.pages(values.optionalText(EngineOptions.METRICS)),
                values.duration(EngineOptions.METRICS_EVERY),
                values.optionalPath(TRACE),
                values.text(TRACE_ENGINE),
                values.text(EngineOptions.BEGIN).equals("end"));
    }

    @Override
    public List<Look> looks(OptionValues values) {
        // The page of iterations is not looked at: looking would take them away from whoever reads it.
        return EngineOptions.looks(values, Engine.TRTLLM, "TensorRT-LLM");
    }

    @Override
    public @Nullable String optionsFor(FoundServer server) {
        return server.engine() == Engine.TRTLLM
                ? "--iterations " + server.base() + "/metrics --metrics " + server.base() + "/prometheus/metrics"
                : null;
    }
}
