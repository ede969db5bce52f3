package io.tokenstair.collect.vllm;

import io.tokenstair.collect.input.CaptureFolder;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.PrometheusLine;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.event.MetricSampled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Scrapes of {@code /metrics}, {@code metrics_*.prom}. A scrape's stamps stand in its first line; the scrapes before and after the
 * load carry none and are dated by the begin and the end of the load in {@code meta.json}, else undated.
 */
final class MetricsLayer {
    static final String NAME = "metrics";
    static final String COLLECTOR = "vllm-metrics";

    private static final String SOURCE = "/metrics";
    private static final Pattern STAMPS = Pattern.compile("# scraped mono_ns=(\\d{1,18}) wall_ns=(\\d{1,19})\\s*");

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
        String source = reader.capture().sourceName(file);
        StampPair scraped = switch (CaptureFolder.plainName(file)) {
            case "metrics_before.prom" -> meta.begin();
            case "metrics_after.prom" -> meta.end();
            default -> null;
        };
        try (LineSource lines = reader.open(file)) {
            while (lines.next()) {
                String line = new String(lines.bytes(), 0, lines.length(), StandardCharsets.UTF_8);
                if (!lines.tooLong() && line.startsWith("#")) {
                    StampPair stated = lines.lineNumber() == 1 ? stamps(line) : null;
                    scraped = stated == null ? scraped : stated;
                    continue;
                }
                try {
                    if (lines.tooLong()) {
                        throw new RejectedRecordException("a line that is too long");
                    }
                    PrometheusLine sample = PrometheusLine.parse(line.trim());
                    Long clockNanos = scraped == null ? null : Long.valueOf(scraped.monotonicNanos());
                    Long wallMillis = scraped == null ? null : Long.valueOf(scraped.wallMillis());
                    events.add(
                            clockNanos == null ? 0 : clockNanos,
                            clockNanos,
                            wallMillis,
                            new MetricSampled(SOURCE, sample.name(), sample.labels(), sample.value()));
                    reader.accepted(wallMillis);
                } catch (RejectedRecordException e) {
                    reader.rejected(source, lines.lineNumber(), e.reason(), null);
                }
            }
            reader.rejectDefect(lines);
        }
    }

    private static @Nullable StampPair stamps(String line) {
        Matcher stamps = STAMPS.matcher(line);
        if (!stamps.matches()
                || stamps.group(2).compareTo("9223372036854775807") > 0
                        && stamps.group(2).length() == 19) {
            return null;
        }
        return new StampPair(Long.parseLong(stamps.group(1)), Long.parseLong(stamps.group(2)));
    }
}
