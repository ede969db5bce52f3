package io.tokenstair.collector;

import io.tokenstair.collect.engine.sglang.SglangCollector;
import io.tokenstair.collector.reach.Engine;
import io.tokenstair.collector.reach.FoundServer;
import io.tokenstair.collector.reach.Look;
import io.tokenstair.log.LogOutlet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A running SGLang, as {@code tokenstair collect} knows it. */
final class SglangLiveCollector implements Collector {
    @Override
    public String type() {
        return "sglang";
    }

    @Override
    public String summary() {
        return "A running SGLang: forward passes, KV events, metrics.";
    }

    @Override
    public List<Option> options() {
        return List.of(
                Option.optional(
                                EngineOptions.FPM,
                                OptionKind.SOCKETS,
                                "Publishers of forward passes, one a data-parallel rank, with commas.")
                        .like("tcp://127.0.0.1:5560"),
                EngineOptions.kvEvents(),
                EngineOptions.kvReplay(),
                EngineOptions.kvTopic(),
                Option.optional(EngineOptions.METRICS, OptionKind.PAGES, "Scrape this: http://127.0.0.1:30000/metrics.")
                        .like("http://127.0.0.1:30000/metrics"),
                EngineOptions.metricsEvery(),
                Option.of(EngineOptions.ENGINE, OptionKind.TEXT, "sglang-0", "What the engine is called."));
    }

    @Override
    public void check(OptionValues values) throws CollectorException {
        EngineOptions.check(() -> settings(type(), values));
    }

    @Override
    public Running start(String name, OptionValues values, LogOutlet outlet) throws CollectorException {
        try {
            SglangCollector collector = new SglangCollector(settings(name, values), EngineOptions.out(name, outlet));
            return EngineOptions.running(
                    collector::status,
                    collector::close,
                    "which requests ran in a step, retractions by request (its traces, as files, have them); hits in the"
                            + " cache; single tokens (use the gateway)");
        } catch (IllegalArgumentException impossible) {
            throw new CollectorException(name + ": " + impossible.getMessage(), impossible);
        }
    }

    private static SglangCollector.Settings settings(String name, OptionValues values) throws CollectorException {
        return new SglangCollector.Settings(
                name,
                values.text(EngineOptions.ENGINE),
                EngineOptions.list(values.optionalText(EngineOptions.FPM)),
                EngineOptions.list(values.optionalText(EngineOptions.KV_EVENTS)),
                EngineOptions.list(values.optionalText(EngineOptions.KV_REPLAY)),
                EngineOptions.orEmpty(values.optionalText(EngineOptions.KV_TOPIC)),
                EngineOptions.page(values, EngineOptions.METRICS),
                values.duration(EngineOptions.METRICS_EVERY));
    }

    @Override
    public List<Look> looks(OptionValues values) {
        return EngineOptions.looks(values, Engine.SGLANG, "SGLang");
    }

    @Override
    public @Nullable String optionsFor(FoundServer server) {
        return server.engine() == Engine.SGLANG ? "--metrics " + server.base() + "/metrics" : null;
    }
}
