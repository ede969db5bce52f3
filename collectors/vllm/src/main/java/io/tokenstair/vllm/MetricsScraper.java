package io.tokenstair.vllm;

import io.tokenstair.clock.ElapsedClock;
import io.tokenstair.clock.HostClocks;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Rejected;
import io.tokenstair.foreign.ForeignFormatException;
import io.tokenstair.foreign.PrometheusLine;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Scrapes {@code /metrics}: what there is without a probe. It knows how many sequences run and wait, how full the KV cache is and how
 * many were preempted, and quantiles by buckets; it cannot know which request, which step, which token, or why. A scrape that fails
 * becomes one Rejected event per row of failures.
 */
final class MetricsScraper implements Closeable {
    private static final int MAX_BODY_BYTES = 16 << 20;
    private static final int MAX_SAMPLES = 100_000;

    private final URI endpoint;
    private final EventOut out;
    private final String collectorId;
    private final HttpClient client;
    private final ScheduledExecutorService clock;
    private boolean failing;

    MetricsScraper(URI endpoint, Duration every, String collectorId, EventOut out) {
        this.endpoint = endpoint;
        this.out = out;
        this.collectorId = collectorId;
        this.client =
                HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
        this.clock = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "tokenstair-vllm-metrics");
            thread.setDaemon(true);
            return thread;
        });
        clock.scheduleWithFixedDelay(this::scrape, 0, every.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void scrape() {
        long before = ElapsedClock.system().elapsedNanos();
        try {
            HttpResponse<InputStream> answer = client.send(
                    HttpRequest.newBuilder(endpoint)
                            .timeout(Duration.ofSeconds(5))
                            .build(),
                    HttpResponse.BodyHandlers.ofInputStream());
            byte[] body;
            try (InputStream in = answer.body()) {
                body = in.readNBytes(MAX_BODY_BYTES);
            }
            if (answer.statusCode() != 200) {
                failed("HTTP status " + answer.statusCode(), before);
                return;
            }
            failing = false;
            samples(new String(body, StandardCharsets.UTF_8), before);
        } catch (IOException | RuntimeException away) {
            failed("cannot be read: " + away.getClass().getSimpleName(), before);
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        }
    }

    private void failed(String reason, long stamp) {
        if (!failing) {
            failing = true;
            out.accept(
                    collectorId,
                    HostClocks.elapsedId(),
                    stamp,
                    new Rejected(endpoint.toString(), null, null, reason, null));
        }
    }

    /** The samples of a scrape; histograms' buckets too, as they come. */
    void samples(String text, long clockNanos) {
        int count = 0;
        int rejected = 0;
        for (String line : (Iterable<String>) text.lines()::iterator) {
            if (line.isBlank() || line.startsWith("#") || count++ >= MAX_SAMPLES) {
                continue;
            }
            try {
                PrometheusLine sample = PrometheusLine.parse(line.trim());
                out.accept(
                        collectorId,
                        HostClocks.elapsedId(),
                        clockNanos,
                        new MetricSampled(endpoint.toString(), sample.name(), sample.labels(), sample.value()));
            } catch (ForeignFormatException unreadable) {
                if (rejected++ == 0) {
                    out.accept(
                            collectorId,
                            HostClocks.elapsedId(),
                            clockNanos,
                            new Rejected(endpoint.toString(), (long) count, null, unreadable.reason(), null));
                }
            }
        }
    }

    @Override
    public void close() {
        clock.shutdownNow();
    }
}
