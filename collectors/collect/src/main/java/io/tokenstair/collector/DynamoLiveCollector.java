package io.tokenstair.collector;

import io.tokenstair.collect.engine.dynamo.DynamoCollector;
import io.tokenstair.collector.reach.Engine;
import io.tokenstair.collector.reach.FoundServer;
import io.tokenstair.collector.reach.Look;
import io.tokenstair.log.LogOutlet;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A running Dynamo, as {@code tokenstair collect} knows it. */
final class DynamoLiveCollector implements Collector {
    private static final String FPM_DISCOVERY = "fpm-discovery";
    private static final String REQUEST_TRACE = "request-trace";
    private static final String KV_ENGINES = "kv-engines";

    @Override
    public String type() {
        return "dynamo";
    }

    @Override
    public String summary() {
        return "A running Dynamo: forward passes, KV events, request traces.";
    }

    @Override
    public List<Option> options() {
        return List.of(
                Option.optional(EngineOptions.FPM, OptionKind.SOCKETS, "Publishers of forward passes, with commas.")
                        .like("tcp://127.0.0.1:20380"),
                Option.optional(
                        FPM_DISCOVERY,
                        OptionKind.PATH,
                        "Find them in the folder that DYN_FILE_KV names (DYN_EVENT_PLANE=zmq)."),
                EngineOptions.kvEvents(),
                EngineOptions.kvReplay(),
                EngineOptions.kvTopic(),
                Option.of(
                        KV_ENGINES,
                        OptionKind.TEXT,
                        "dynamo-0",
                        "Whose KV events these are, in the same order: worker-ID joins forward passes."),
                Option.optional(
                        REQUEST_TRACE,
                        OptionKind.PATH,
                        "Follow this file, or all of a pattern such as /tmp/trace.*.jsonl.gz."),
                EngineOptions.begin(),
                Option.optional(
                        EngineOptions.METRICS,
                        OptionKind.PAGES,
                        "Scrape these, frontend and workers, with commas: totals only."),
                EngineOptions.metricsEvery());
    }

    @Override
    public void check(OptionValues values) throws CollectorException {
        EngineOptions.check(() -> settings(type(), values));
    }

    @Override
    public Running start(String name, OptionValues values, LogOutlet outlet) throws CollectorException {
        try {
            DynamoCollector.Settings settings = settings(name, values);
            DynamoCollector collector = new DynamoCollector(settings, EngineOptions.out(name, outlet));
            List<String> cannot = new ArrayList<>(List.of(
                    "which requests ran in a step, single tokens (use the gateway)",
                    "hits in the cache (a router's forecast is none)"));
            if (settings.fpm().isEmpty() && settings.discovery() == null) {
                cannot.add(0, "steps and preemptions (give --fpm or --fpm-discovery)");
            }
            return EngineOptions.running(collector::status, collector::close, String.join("; ", cannot));
        } catch (IllegalArgumentException impossible) {
            throw new CollectorException(name + ": " + impossible.getMessage(), impossible);
        }
    }

    private static DynamoCollector.Settings settings(String name, OptionValues values) throws CollectorException {
        return new DynamoCollector.Settings(
                name,
                EngineOptions.list(values.optionalText(EngineOptions.FPM)),
                values.optionalPath(FPM_DISCOVERY),
                EngineOptions.list(values.optionalText(EngineOptions.KV_EVENTS)),
                EngineOptions.list(values.optionalText(EngineOptions.KV_REPLAY)),
                EngineOptions.orEmpty(values.optionalText(EngineOptions.KV_TOPIC)),
                EngineOptions.list(values.text(KV_ENGINES)),
                values.optionalPath(REQUEST_TRACE),
                values.text(EngineOptions.BEGIN).equals("end"),
                EngineOptions.pages(values.optionalText(EngineOptions.METRICS)),
                values.duration(EngineOptions.METRICS_EVERY));
    }

    @Override
    public List<Look> looks(OptionValues values) {
        return EngineOptions.looks(values, Engine.DYNAMO, "Dynamo");
    }

    @Override
    public @Nullable String optionsFor(FoundServer server) {
        return server.engine() == Engine.DYNAMO ? "--metrics " + server.base() + "/metrics" : null;
    }
}
