package io.tokenstair.job.health;

import io.tokenstair.event.LabelText;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MetricOptions;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.metrics.HistogramStatistics;
import org.apache.flink.metrics.LogicalScopeProvider;
import org.apache.flink.metrics.Meter;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;
import org.jspecify.annotations.Nullable;

/**
 * The metrics of a job that runs inside this process, by the names that Flink's own reporter for Prometheus gives them on a cluster: one
 * dashboard for both. That reporter listens on every address of the machine, and cannot be told otherwise; this one only gives the text.
 *
 * <p>Flink makes the reporter itself, out of a name in its configuration: whoever wants the text finds it again by the page's name.
 */
public final class JobFigures implements MetricReporter {
    private static final String REPORTER = "tokenstair-page";
    private static final String PAGE = "page";
    private static final double[] QUANTILES = {0.5, 0.75, 0.95, 0.98, 0.99, 0.999};
    private static final Map<String, JobFigures> BY_PAGE = new ConcurrentHashMap<>();

    private final Map<String, Map<String, Metric>> families = new TreeMap<>();
    private String page = "";

    private JobFigures() {}

    /** Makes the reporter for Flink, which looks for it by its class. */
    public static final class Factory implements MetricReporterFactory {
        /** Made by Flink. */
        public Factory() {}

        @Override
        public MetricReporter createMetricReporter(Properties properties) {
            return new JobFigures();
        }
    }

    /** Adds the reporter of this page to the configuration of a cluster. */
    public static void report(String page, Configuration settings) {
        settings.set(MetricOptions.REPORTERS_LIST, REPORTER);
        Configuration reporter = MetricOptions.forReporter(settings, REPORTER);
        reporter.set(MetricOptions.REPORTER_FACTORY_CLASS, Factory.class.getName());
        reporter.setString(PAGE, page);
    }

    /** What the cluster of this page tells now, in the OpenMetrics text format without its end mark; empty while it does not run. */
    public static String text(String page) {
        JobFigures figures = BY_PAGE.get(page);
        return figures == null ? "" : figures.text();
    }

    @Override
    public void open(MetricConfig config) {
        page = String.valueOf(config.getString(PAGE, ""));
        BY_PAGE.put(page, this);
    }

    @Override
    public void close() {
        BY_PAGE.remove(page, this);
    }

    @Override
    public synchronized void notifyOfAddedMetric(Metric metric, String name, MetricGroup group) {
        families.computeIfAbsent(family(name, group), added -> new TreeMap<>()).put(labels(group), metric);
    }

    @Override
    public synchronized void notifyOfRemovedMetric(Metric metric, String name, MetricGroup group) {
        String family = family(name, group);
        Map<String, Metric> metrics = families.get(family);
        // Another of the same name may have come since.
        if (metrics != null && metrics.remove(labels(group), metric) && metrics.isEmpty()) {
            families.remove(family);
        }
    }

    private static String family(String name, MetricGroup group) {
        return "flink_" + word(LogicalScopeProvider.castFrom(group).getLogicalScope(JobFigures::word, '_')) + '_'
                + word(name);
    }

    /** Characters that no name may have become underscores. */
    private static String word(String text) {
        return text.replaceAll("[^a-zA-Z0-9_]", "_");
    }

    private static String labels(MetricGroup group) {
        List<String> labels = new ArrayList<>();
        new TreeMap<>(group.getAllVariables())
                .forEach((name, value) ->
                        labels.add(LabelText.of(word(name.replaceAll("[<>]", "")), String.valueOf(value))));
        return String.join(",", labels);
    }

    private String text() {
        Map<String, Map<String, Metric>> now = new LinkedHashMap<>();
        synchronized (this) {
            families.forEach((family, metrics) -> now.put(family, new LinkedHashMap<>(metrics)));
        }
        // Asked without the lock: a gauge may be slow.
        StringBuilder text = new StringBuilder();
        now.forEach((family, metrics) -> {
            StringBuilder samples = new StringBuilder();
            metrics.forEach((labels, metric) -> sample(family, labels, metric, samples));
            if (!samples.isEmpty()) {
                text.append("# TYPE ")
                        .append(family)
                        .append(type(metrics.values()))
                        .append(samples);
            }
        });
        return text.toString();
    }

    /** Counters too are gauges, as with Flink's own reporter: one that counts in this format has another name. */
    private static String type(Collection<Metric> metrics) {
        return metrics.iterator().next() instanceof Histogram ? " summary\n" : " gauge\n";
    }

    private static void sample(String family, String labels, Metric metric, StringBuilder text) {
        if (metric instanceof Histogram histogram) {
            HistogramStatistics statistics = histogram.getStatistics();
            for (double quantile : QUANTILES) {
                String and = labels.isEmpty() ? "" : labels + ",";
                line(family, and + "quantile=\"" + quantile + '"', statistics.getQuantile(quantile), text);
            }
            line(family + "_count", labels, histogram.getCount(), text);
            return;
        }
        Double value = value(metric);
        if (value != null) {
            line(family, labels, value, text);
        }
    }

    /** The value as a number; null for one that is none, or cannot be had now. */
    private static @Nullable Double value(Metric metric) {
        if (metric instanceof Counter counter) {
            return (double) counter.getCount();
        }
        if (metric instanceof Meter meter) {
            return meter.getRate();
        }
        if (!(metric instanceof Gauge<?> gauge)) {
            return null;
        }
        Object value;
        try {
            value = gauge.getValue();
        } catch (RuntimeException notNow) {
            // Of what is just being opened or closed.
            return null;
        }
        if (value instanceof Boolean flag) {
            return flag ? 1.0 : 0.0;
        }
        return value instanceof Number number ? Double.valueOf(number.doubleValue()) : null;
    }

    private static void line(String name, String labels, double value, StringBuilder text) {
        text.append(name);
        if (!labels.isEmpty()) {
            text.append('{').append(labels).append('}');
        }
        text.append(' ').append(number(value)).append('\n');
    }

    private static String number(double value) {
        if (value == Math.rint(value) && Math.abs(value) < 1L << 53) {
            return Long.toString((long) value);
        }
        return Double.isInfinite(value) ? (value > 0 ? "+Inf" : "-Inf") : Double.toString(value);
    }
}
