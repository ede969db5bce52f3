package io.tokenstair.collector;

import io.tokenstair.collector.reach.Engine;
import io.tokenstair.collector.reach.FoundServer;
import io.tokenstair.collector.reach.Look;
import io.tokenstair.collector.reach.MetricsLook;
import io.tokenstair.collector.reach.PortLook;
import io.tokenstair.collector.reach.ZeroMqLook;
import io.tokenstair.log.LogOutlet;
import io.tokenstair.vllm.VllmCollector;
import io.tokenstair.vllm.VllmSettings;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A running vLLM, as {@code tokenstair collect} knows it: its probe, KV events, metrics and host. */
final class VllmLiveCollector implements Collector {
    @Override
    public String type() {
        return "vllm";
    }

    @Override
    public String summary() {
        return "A running vLLM: what the probe in it sends, its KV events, its metrics, its processes' core waits.";
    }

    @Override
    public List<Option> options() {
        return List.of(
                Option.optional("probe", OptionKind.LISTENING_SOCKET, "Where the probe sends to, bound here."),
                EngineOptions.kvEvents(),
                EngineOptions.kvReplay(),
                EngineOptions.kvTopic(),
                Option.optional(
                        EngineOptions.METRICS,
                        OptionKind.PAGES,
                        "Scrape this, such as http://127.0.0.1:8000/metrics: totals only."),
                EngineOptions.metricsEvery(),
                Option.of(
                        "host-every",
                        OptionKind.DURATION,
                        "10ms",
                        "How often the probe's processes are looked up in /proc; 0s: never."),
                Option.of(
                        EngineOptions.ENGINE,
                        OptionKind.TEXT,
                        "vllm-0",
                        "Name of an engine without TOKENSTAIR_ENGINE_ID."));
    }

    @Override
    public void check(OptionValues values) throws CollectorException {
        EngineOptions.check(() -> settings(type(), values));
    }

    @Override
    public Running start(String name, OptionValues values, LogOutlet outlet) throws CollectorException {
        try {
            VllmCollector collector = new VllmCollector(
                    settings(name, values),
                    (id, clock, nanos, event) -> outlet.feed(id).offer(clock, nanos, event));
            return new Running() {
                @Override
                public String status() {
                    return collector.status();
                }

                @Override
                public void close() {
                    collector.close();
                }
            };
        } catch (IllegalArgumentException impossible) {
            throw new CollectorException(name + ": " + impossible.getMessage(), impossible);
        }
    }

    private static VllmSettings settings(String name, OptionValues values) throws CollectorException {
        Duration hostEvery = values.duration("host-every");
        return new VllmSettings(
                name,
                values.text(EngineOptions.ENGINE),
                values.optionalText("probe"),
                EngineOptions.list(values.optionalText(EngineOptions.KV_EVENTS)),
                EngineOptions.list(values.optionalText(EngineOptions.KV_REPLAY)),
                EngineOptions.orEmpty(values.optionalText(EngineOptions.KV_TOPIC)),
                EngineOptions.page(values, EngineOptions.METRICS),
                values.duration(EngineOptions.METRICS_EVERY),
                hostEvery.isZero() ? null : hostEvery);
    }

    @Override
    public List<Look> looks(OptionValues values) {
        List<Look> looks = new ArrayList<>();
        String probe = values.optionalText("probe");
        if (probe != null) {
            looks.add(PortLook.atZeroMq("probe", probe));
        }
        for (String publisher : EngineOptions.list(values.optionalText(EngineOptions.KV_EVENTS))) {
            looks.add(ZeroMqLook.at(
                    EngineOptions.KV_EVENTS, publisher, List.of("PUB", "XPUB"), "SUB", "vLLM with --kv-events-config"));
        }
        for (String replay : EngineOptions.list(values.optionalText(EngineOptions.KV_REPLAY))) {
            looks.add(ZeroMqLook.at(
                    EngineOptions.KV_REPLAY,
                    replay,
                    List.of("ROUTER"),
                    "DEALER",
                    "vLLM with a replay_endpoint in --kv-events-config"));
        }
        String metrics = values.optionalText(EngineOptions.METRICS);
        if (metrics != null) {
            looks.add(MetricsLook.at(EngineOptions.METRICS, URI.create(metrics), Engine.VLLM));
        }
        return looks;
    }

    @Override
    public @Nullable String optionsFor(FoundServer server) {
        return server.engine() == Engine.VLLM ? "--metrics " + server.base() + "/metrics" : null;
    }
}
