package io.tokenstair.vllm;

import io.tokenstair.clock.HostClocks;
import io.tokenstair.collect.live.EventOut;
import io.tokenstair.collect.live.KvEvictionReasons;
import io.tokenstair.collect.live.KvMessages;
import io.tokenstair.collect.live.MetricsScraper;
import io.tokenstair.collect.live.ZmqReader;
import java.io.Closeable;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Collects a running vLLM. One thread reads all sockets, so that nothing here needs a lock: what the probe sends, what the publishers
 * of KV events say, and what they say again when asked. Closing it ends the thread.
 */
public final class VllmCollector implements Closeable {
    private final ZmqReader reader = new ZmqReader("tokenstair-vllm");
    private final ProbeSources probes;
    private final Map<Integer, KvEvictionReasons> evictions = new HashMap<>();
    private final @Nullable HostReader host;
    private final @Nullable MetricsScraper metrics;
    private volatile String status = "";

    /**
     * Starts to collect.
     *
     * @throws IllegalArgumentException when an address cannot be bound or connected to
     */
    public VllmCollector(VllmSettings settings, EventOut out) {
        this.host = settings.hostEvery() == null
                ? null
                : new HostReader(settings.collectorName() + "-host", settings.hostEvery(), out);
        boolean joinsEvictions = !settings.kvEvents().isEmpty();
        this.probes = new ProbeSources(
                settings.collectorName(),
                settings.engineName(),
                out,
                rank -> joinsEvictions ? evictions.computeIfAbsent(rank, unused -> new KvEvictionReasons()) : null,
                process -> {
                    if (host != null) {
                        host.observe(process);
                    }
                });
        if (settings.probe() != null) {
            reader.bind(settings.probe(), (frames, now) -> {
                if (frames.size() == 2) {
                    probes.message(frames.get(0), frames.get(1));
                } else {
                    probes.message(new byte[0], new byte[0]);
                }
            });
        }
        for (int i = 0; i < settings.kvEvents().size(); i++) {
            String address = settings.kvEvents().get(i);
            reader.kvEvents(
                    address,
                    settings.kvReplay().isEmpty() ? null : settings.kvReplay().get(i),
                    settings.kvTopic(),
                    new KvMessages(
                            address,
                            settings.engineName(),
                            settings.collectorName() + "-kv/" + i,
                            HostClocks.elapsedId(),
                            out,
                            evictions::get));
        }
        this.metrics = settings.metrics() == null
                ? null
                : MetricsScraper.start(
                        settings.metrics(), settings.metricsEvery(), settings.collectorName() + "-metrics", null, out);
        reader.afterEachTurn(() -> status = readSoFar());
        reader.start();
    }

    /** What was read so far, in one line. */
    public String status() {
        return status;
    }

    private String readSoFar() {
        long[] kv = reader.kvCounts();
        ProbeSources.Counts probed = probes.counts();
        return "probe records " + probed.recordCount() + ", lost " + probed.lostCount() + ", rejected "
                + probed.rejectedCount() + "; KV messages " + kv[0] + ", lost " + kv[1] + ", rejected " + kv[2];
    }

    @Override
    public void close() {
        reader.close();
        if (host != null) {
            host.close();
        }
        if (metrics != null) {
            metrics.close();
        }
    }
}
