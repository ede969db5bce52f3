package io.tokenstair.look.metrics;

import io.tokenstair.clock.ElapsedClock;
import io.tokenstair.look.archive.MetricQueries;
import io.tokenstair.look.archive.MetricQueries.LayerState;
import io.tokenstair.look.archive.MetricQueries.RowCount;
import io.tokenstair.look.archive.MetricQueries.WindowQuantiles;
import io.tokenstair.look.archive.ResultArchive;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * An archive's findings, counts and quantiles in the OpenMetrics text format. A job may still be writing the archive: each reading opens it
 * anew, at most once in {@value #FRESH_SECONDS} s. Series are bounded: at most {@value MetricQueries#MOST_SERIES} of a family, those with
 * most behind them; request ids are never labels.
 */
public final class ArchiveMetrics {
    /** How long a reading stands. */
    public static final int FRESH_SECONDS = 10;

    private final Path archive;
    private @Nullable String latest;
    private long latestNanos;

    /** The metrics of an archive. */
    public ArchiveMetrics(Path archive) {
        this.archive = archive;
    }

    /** The content type of {@link #text()}. */
    public static String contentType() {
        return OpenMetrics.CONTENT_TYPE;
    }

    /** The metrics. */
    public synchronized String text() {
        long now = ElapsedClock.system().elapsedNanos();
        String known = latest;
        if (known != null && now - latestNanos < FRESH_SECONDS * 1_000_000_000L) {
            return known;
        }
        OpenMetrics out = new OpenMetrics();
        try (ResultArchive opened = ResultArchive.open(archive, MetricQueries.TABLES)) {
            write(new MetricQueries(opened), out);
        }
        out.family(
                "tokenstair_archive_reading_seconds",
                OpenMetrics.Type.GAUGE,
                "seconds",
                "How long it took to read the archive for these metrics.");
        out.sample((ElapsedClock.system().elapsedNanos() - now) / 1e9);
        String text = out.text();
        latest = text;
        latestNanos = ElapsedClock.system().elapsedNanos();
        return text;
    }

    private static void write(MetricQueries queries, OpenMetrics out) {
        gauge(out, "tokenstair_findings", "Findings in the archive.", queries.findings(), "rule", "cause", "severity");
        gauge(
                out,
                "tokenstair_requests",
                "Sequences of requests in the archive.",
                queries.requests(),
                "state",
                "end_reason",
                "warmup");
        gauge(out, "tokenstair_tokens", "Output tokens in the archive.", queries.tokens(), "engine", "state", "");
        gauge(
                out,
                "tokenstair_slow_tokens",
                "Output tokens that were slow, by what was to blame.",
                queries.slowTokens(),
                "engine",
                "cause",
                "");
        out.family(
                "tokenstair_slow_tokens_excess_seconds",
                OpenMetrics.Type.GAUGE,
                "seconds",
                "What slow tokens took beyond the usual, by what was to blame.");
        for (RowCount row : queries.slowNanos()) {
            out.sample(row.count() / 1e9, "engine", row.first(), "cause", row.second());
        }
        gauge(
                out,
                "tokenstair_late_tokens",
                "Output tokens that were delivered late, by what was to blame.",
                queries.lateTokens(),
                "cause",
                "",
                "");
        quantiles(queries, out);
        health(queries, out);
    }

    private static void quantiles(MetricQueries queries, OpenMetrics out) {
        for (String metric : queries.quantileMetrics()) {
            String name = "tokenstair_" + metric.toLowerCase(Locale.ROOT).replace('-', '_');
            List<WindowQuantiles> newest = queries.newestQuantiles(metric);
            out.family(
                    name + "_seconds",
                    OpenMetrics.Type.SUMMARY,
                    "seconds",
                    "Quantiles of " + metric + " over the newest window of event time.");
            for (WindowQuantiles row : newest) {
                quantile(out, row, "0.5", row.p50Nanos());
                quantile(out, row, "0.9", row.p90Nanos());
                quantile(out, row, "0.99", row.p99Nanos());
                quantile(out, row, "0.999", row.p999Nanos());
            }
            out.family(
                    name + "_window_samples",
                    OpenMetrics.Type.GAUGE,
                    "",
                    "How many durations the newest window of " + metric + " holds.");
            for (WindowQuantiles row : newest) {
                out.sample(
                        row.count(),
                        "scope",
                        row.scope(),
                        "model",
                        row.model(),
                        "engine",
                        row.engine(),
                        "priority",
                        row.priority());
            }
        }
    }

    private static void quantile(OpenMetrics out, WindowQuantiles row, String quantile, @Nullable Long nanos) {
        if (nanos != null) {
            out.sample(
                    nanos / 1e9,
                    "scope",
                    row.scope(),
                    "model",
                    row.model(),
                    "engine",
                    row.engine(),
                    "priority",
                    row.priority(),
                    "quantile",
                    quantile);
        }
    }

    private static void health(MetricQueries queries, OpenMetrics out) {
        List<RowCount> rows = queries.rawRows();
        gauge(out, "tokenstair_archive_rows", "Rows of raw tables: what was read.", rows, "table", "", "");
        out.family(
                "tokenstair_archive_late_rows",
                OpenMetrics.Type.GAUGE,
                "",
                "Rows of raw tables that came after their lateness bound.");
        for (RowCount row : queries.lateRows()) {
            out.sample(row.count(), "table", row.first());
        }
        out.family(
                "tokenstair_rejected_inputs",
                OpenMetrics.Type.GAUGE,
                "",
                "Raw inputs that were refused with a reason.");
        out.sample(rows.stream()
                .filter(row -> row.first().equals("rejected"))
                .mapToLong(RowCount::count)
                .sum());
        out.family(
                "tokenstair_layer_reported",
                OpenMetrics.Type.GAUGE,
                "",
                "1 where a layer reported, 0 where it could have and did not.");
        List<LayerState> layers = queries.layers();
        for (LayerState layer : layers) {
            out.sample(layer.reported() ? 1 : 0, "engine", layer.engine(), "layer", layer.layer());
        }
        out.family(
                "tokenstair_lost_records",
                OpenMetrics.Type.GAUGE,
                "",
                "Records that collectors sent and nobody received.");
        for (LayerState layer : layers) {
            out.sample(layer.lost(), "engine", layer.engine(), "layer", layer.layer());
        }
        Long newest = queries.newestEpochMillis();
        out.family(
                "tokenstair_newest_event_timestamp_seconds",
                OpenMetrics.Type.GAUGE,
                "seconds",
                "Event time of the newest event: time() less this is how far the archive lags.");
        if (newest != null) {
            out.sample(newest / 1e3);
        }
    }

    private static void gauge(
            OpenMetrics out, String name, String help, List<RowCount> rows, String first, String second, String third) {
        out.family(name, OpenMetrics.Type.GAUGE, "", help);
        for (RowCount row : rows) {
            out.sample(
                    row.count(),
                    first,
                    row.first(),
                    second,
                    second.isEmpty() ? "" : row.second(),
                    third,
                    third.isEmpty() ? "" : row.third());
        }
    }
}
