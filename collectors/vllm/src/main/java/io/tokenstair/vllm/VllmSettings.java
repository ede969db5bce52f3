package io.tokenstair.vllm;

import io.tokenstair.collect.live.EngineSources;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What to collect of a vLLM server.
 *
 * @param collectorName what the ids of what it logs begin with; unique in this process
 * @param engineName what its engine is called where nothing else names it; ranks above 0 get their number behind it
 * @param probe where the probe sends to, bound here; absent when no probe is installed
 * @param kvEvents publishers of KV events, one for each rank
 * @param kvReplay their replay endpoints, in the same order; empty when there are none
 * @param kvTopic what to subscribe to; empty for everything
 * @param metrics where to scrape {@code /metrics}; absent when not asked for
 * @param metricsEvery how often
 * @param hostEvery how often the probe's processes are looked up in /proc; absent when not asked for
 */
public record VllmSettings(
        String collectorName,
        String engineName,
        @Nullable String probe,
        List<String> kvEvents,
        List<String> kvReplay,
        String kvTopic,
        @Nullable URI metrics,
        Duration metricsEvery,
        @Nullable Duration hostEvery) {
    /** Copies the lists, and refuses what cannot be meant. */
    public VllmSettings {
        kvEvents = List.copyOf(kvEvents);
        kvReplay = List.copyOf(kvReplay);
        EngineSources.refuseUnpaired(kvEvents, kvReplay);
        if (probe == null && kvEvents.isEmpty() && metrics == null) {
            throw new IllegalArgumentException("Cannot collect nothing: give --probe, --kv-events or --metrics");
        }
    }
}
