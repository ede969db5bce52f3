package io.tokenstair.collect.vllm;

import io.tokenstair.collect.input.CaptureFolder;
import io.tokenstair.collect.input.StampPair;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.prometheus.Scrape;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Scrapes of {@code /metrics}, {@code metrics_*.prom}. A scrape's stamps stand in its first line; the scrapes before and after the
 * load carry none and are dated by the begin and the end of the load in {@code meta.json}, else undated.
 */
final class MetricsLayer {
    static final String NAME = "metrics";
    static final String COLLECTOR = "vllm-metrics";

    private static final String SOURCE = "/metrics";

    private final CaptureMeta meta;
    private final CollectorSpool events;

    MetricsLayer(CaptureMeta meta, CollectorSpool events) {
        this.meta = meta;
        this.events = events;
    }

    static List<Path> files(CaptureFolder capture) throws IOException {
        return capture.list("", name -> name.startsWith("metrics_") && name.endsWith(".prom"));
    }

    /** Reads the scrapes; false when there is none. */
    boolean read(LayerReader reader) throws IOException {
        List<Path> files = files(reader.capture());
        for (Path file : files) {
            read(reader, file);
        }
        return !files.isEmpty();
    }

    private void read(LayerReader reader, Path file) throws IOException {
        StampPair scraped = switch (CaptureFolder.plainName(file)) {
            case "metrics_before.prom" -> meta.begin();
            case "metrics_after.prom" -> meta.end();
            default -> null;
        };
        Scrape.read(reader, file, SOURCE, scraped, events);
    }
}
