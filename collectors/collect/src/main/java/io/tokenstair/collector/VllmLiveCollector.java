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
                Option.optional("probe", OptionKind.TEXT, "Where the probe sends to, such as tcp://127.0.0.1:5559."),
                Option.optional(
                        "kv-events",
                        OptionKind.TEXT,
                        "Publishers of KV events, one a data-parallel rank, with commas."),
                Option.optional(
                        "kv-replay",
                        OptionKind.TEXT,
                        "Their replay endpoints, in the same order: missed messages again."),
                Option.optional("kv-topic", OptionKind.TEXT, "Only messages whose topic begins so."),
                Option.optional(
                        "metrics", OptionKind.TEXT, "Scrape this, such as http://127.0.0.1:8000/metrics: totals only."),
                Option.of("metrics-every", OptionKind.DURATION, "1s", "How often."),
                Option.of(
                        "host-every",
                        OptionKind.DURATION,
                        "10ms",
                        "How often the probe's processes are looked up in /proc; 0s: never."),
                Option.of("engine", OptionKind.TEXT, "vllm-0", "Name of an engine without TOKENSTAIR_ENGINE_ID."));
    }

    @Override
    public Running start(String name, OptionValues values, LogOutlet outlet) throws CollectorException {
        try {
            String metrics = values.optionalText("metrics");
            Duration hostEvery = values.duration("host-every");
            VllmCollector collector = new VllmCollector(
                    new VllmSettings(
                            name,
                            values.text("engine"),
                            values.optionalText("probe"),
                            list(values.optionalText("kv-events")),
                            list(values.optionalText("kv-replay")),
                            orEmpty(values.optionalText("kv-topic")),
                            metrics == null ? null : URI.create(metrics),
                            values.duration("metrics-every"),
                            hostEvery.isZero() ? null : hostEvery),
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

    @Override
    public List<Look> looks(OptionValues values) {
        List<Look> looks = new ArrayList<>();
        String probe = values.optionalText("probe");
        if (probe != null) {
            looks.add(PortLook.atZeroMq("probe", probe));
        }
        for (String publisher : list(values.optionalText("kv-events"))) {
            looks.add(ZeroMqLook.at(
                    "kv-events", publisher, List.of("PUB", "XPUB"), "SUB", "vLLM with --kv-events-config"));
        }
        for (String replay : list(values.optionalText("kv-replay"))) {
            looks.add(ZeroMqLook.at(
                    "kv-replay",
                    replay,
                    List.of("ROUTER"),
                    "DEALER",
                    "vLLM with a replay_endpoint in --kv-events-config"));
        }
        String metrics = values.optionalText("metrics");
        if (metrics != null) {
            looks.add(MetricsLook.at("metrics", URI.create(metrics), Engine.VLLM));
        }
        return looks;
    }

    @Override
    public @Nullable String optionsFor(FoundServer server) {
        return server.engine() == Engine.VLLM ? "--metrics " + server.base() + "/metrics" : null;
    }

    private static List<String> list(@Nullable String texts) {
        return texts == null || texts.isBlank() ? List.of() : List.of(texts.split("\\s*,\\s*", -1));
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }
}
