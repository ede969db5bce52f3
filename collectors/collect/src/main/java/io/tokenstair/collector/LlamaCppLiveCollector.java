package io.tokenstair.collector;

import io.tokenstair.collect.engine.llamacpp.LlamaCppCollector;
import io.tokenstair.collector.reach.Engine;
import io.tokenstair.collector.reach.FoundServer;
import io.tokenstair.collector.reach.Look;
import io.tokenstair.log.LogOutlet;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A running llama.cpp server, as {@code tokenstair collect} knows it. */
final class LlamaCppLiveCollector implements Collector {
    private static final String SLOTS = "slots";
    private static final String SLOTS_EVERY = "slots-every";
    private static final String LOG = "log";

    @Override
    public String type() {
        return "llamacpp";
    }

    @Override
    public String summary() {
        return "A running llama.cpp server: metrics, slots, log.";
    }

    @Override
    public List<Option> options() {
        return List.of(
                Option.optional(EngineOptions.METRICS, OptionKind.PAGES, "Scrape this: http://127.0.0.1:8080/metrics.")
                        .like("http://127.0.0.1:8080/metrics"),
                EngineOptions.metricsEvery(),
                Option.optional(
                                SLOTS,
                                OptionKind.PAGES,
                                "Ask this which task is in which slot: http://127.0.0.1:8080/slots.")
                        .like("http://127.0.0.1:8080/slots"),
                Option.of(SLOTS_EVERY, OptionKind.DURATION, "1s", "How often; ever more rarely while it fails."),
                Option.optional(LOG, OptionKind.PATH, "Follow the file that the server's --log-file names."),
                EngineOptions.begin(),
                Option.of(EngineOptions.ENGINE, OptionKind.TEXT, "llamacpp", "What the engine is called."));
    }

    @Override
    public void check(OptionValues values) throws CollectorException {
        EngineOptions.check(() -> settings(type(), values));
    }

    @Override
    public Running start(String name, OptionValues values, LogOutlet outlet) throws CollectorException {
        try {
            LlamaCppCollector.Settings settings = settings(name, values);
            LlamaCppCollector collector = new LlamaCppCollector(settings, EngineOptions.out(name, outlet));
            List<String> cannot = new ArrayList<>(List.of("steps", "tokens and what clients saw (use the gateway)"));
            if (settings.log() == null) {
                cannot.add("tasks, context shifts, drafts and a full context (give --log)");
            }
            cannot.add("KV blocks");
            return EngineOptions.running(collector::status, collector::close, String.join("; ", cannot));
        } catch (IllegalArgumentException impossible) {
            throw new CollectorException(name + ": " + impossible.getMessage(), impossible);
        }
    }

    private static LlamaCppCollector.Settings settings(String name, OptionValues values) throws CollectorException {
        return new LlamaCppCollector.Settings(
                name,
                values.text(EngineOptions.ENGINE),
                EngineOptions.page(values, EngineOptions.METRICS),
                values.duration(EngineOptions.METRICS_EVERY),
                EngineOptions.page(values, SLOTS),
                values.duration(SLOTS_EVERY),
                values.optionalPath(LOG),
                values.text(EngineOptions.BEGIN).equals("end"));
    }

    @Override
    public List<Look> looks(OptionValues values) {
        return EngineOptions.looks(values, Engine.LLAMA_CPP, "llama-server");
    }

    @Override
    public @Nullable String optionsFor(FoundServer server) {
        return server.engine() == Engine.LLAMA_CPP
                ? "--metrics " + server.base() + "/metrics --slots " + server.base() + "/slots"
                : null;
    }
}
