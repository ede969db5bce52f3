package io.tokenstair.collect.live;

import io.tokenstair.clock.HostClocks;
import io.tokenstair.event.Event;
import io.tokenstair.event.LabelText;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Rejected;
import io.tokenstair.foreign.ForeignFormatException;
import io.tokenstair.foreign.PrometheusLine;
import java.io.Closeable;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Scrapes metrics in the Prometheus text format: an engine as a whole. It knows how many sequences run and wait, how full the KV cache is and
 * how many were preempted, and quantiles by buckets; it cannot know which request, which step, which token, or why. A row of scrapes that
 * fail becomes one Rejected event, and so do the lines of a scrape that cannot be read.
 */
public final class MetricsScraper implements Closeable, HttpPoller.Answers {
    private static final int MAX_SAMPLES = 100_000;

    private final URI endpoint;
    private final EventOut out;
    private final String collectorId;
    private final @Nullable String engine;
    private volatile @Nullable HttpPoller poller;

    private MetricsScraper(URI endpoint, String collectorId, @Nullable String engine, EventOut out) {
        this.endpoint = endpoint;
        this.out = out;
        this.collectorId = collectorId;
        this.engine = engine;
    }

    /**
     * A scraper that begins at once.
     *
     * @param endpoint where the metrics are
     * @param every how often
     * @param collectorId who records
     * @param engine what samples without a label {@code engine} are said to be of; absent to leave them as they are
     * @param out takes the samples
     */
    public static MetricsScraper start(
            URI endpoint, Duration every, String collectorId, @Nullable String engine, EventOut out) {
        MetricsScraper scraper = new MetricsScraper(endpoint, collectorId, engine, out);
        scraper.poller = new HttpPoller(endpoint, every, "tokenstair-metrics", scraper);
        return scraper;
    }

    @Override
    public void answered(byte[] body, long beforeNanos, long afterNanos) {
        samples(new String(body, StandardCharsets.UTF_8), beforeNanos);
    }

    @Override
    public void failed(String reason, long beforeNanos) {
        tell(beforeNanos, new Rejected(endpoint.toString(), null, null, reason, null));
    }

    /** The samples of a scrape; histograms' buckets too, as they come. */
    private void samples(String text, long clockNanos) {
        int count = 0;
        int rejected = 0;
        for (String line : (Iterable<String>) text.lines()::iterator) {
            if (line.isBlank() || line.startsWith("#") || count++ >= MAX_SAMPLES) {
                continue;
            }
            try {
                PrometheusLine sample = PrometheusLine.parse(line.trim());
                tell(
                        clockNanos,
                        new MetricSampled(endpoint.toString(), sample.name(), labels(sample.labels()), sample.value()));
            } catch (ForeignFormatException unreadable) {
                if (rejected++ == 0) {
                    tell(clockNanos, new Rejected(endpoint.toString(), (long) count, null, unreadable.reason(), null));
                }
            }
        }
    }

    private String labels(String labels) {
        if (engine == null || labels.startsWith("engine=\"") || labels.contains(",engine=\"")) {
            return labels;
        }
        String own = LabelText.of("engine", engine);
        return labels.isEmpty() ? own : own + "," + labels;
    }

    private void tell(long clockNanos, Event event) {
        out.accept(collectorId, HostClocks.elapsedId(), clockNanos, event);
    }

    /** How it fares, in one line. */
    public String status() {
        HttpPoller asking = poller;
        return asking == null ? "" : asking.answeredCount() + " scrapes, " + asking.failedCount() + " failed";
    }

    @Override
    public void close() {
        HttpPoller asking = poller;
        if (asking != null) {
            asking.close();
        }
    }
}
