package io.tokenstair.collect.bench;

import io.tokenstair.event.LabelText;
import io.tokenstair.event.MetricSampled;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The aggregates of a run as samples, as the benchmark computed them: {@code bench:median_tpot_seconds} and the like, with what was run as
 * labels. Those of 0 are left out: a run without a success writes zeros.
 */
final class BenchRun {
    private static final List<String> STATISTICS = List.of("median", "p99");
    private static final List<String> LATENCIES = List.of("ttft", "tpot");

    /** Parts of a result's file name that say what the other labels say. */
    private static final Pattern SWEPT = Pattern.compile("[_-]?(isl|osl|conc|concurrency|input|output)[_-]?\\d+");

    private BenchRun() {}

    /** Whether an object has aggregates of a run. */
    static boolean isAggregate(BenchObject object) {
        for (String statistic : List.of("median", "mean", "p99")) {
            for (String latency : LATENCIES) {
                String name = statistic + '_' + latency;
                if (object.number(name + "_ms") != null || object.number(name) != null) {
                    return true;
                }
            }
        }
        return object.number("completed") != null && object.number("duration") != null;
    }

    /** The samples of a run. */
    static List<MetricSampled> samples(BenchObject object, String source, String run) {
        Double completed = object.number("completed");
        Double failed = object.number("failed");
        Map<String, @Nullable String> labels = new HashMap<>();
        labels.put("run", run);
        labels.put("model", object.text("model_id"));
        labels.put("backend", object.text("backend"));
        labels.put("config", config(object));
        labels.put("concurrency", whole(object.positive("max_concurrency")));
        Double rate = object.number("request_rate");
        labels.put("rate", rate == null ? object.text("request_rate") : decimal(rate));
        if (completed != null && completed > 0) {
            labels.put("input_tokens", perRequest(object.positive("total_input_tokens"), completed));
            labels.put("output_tokens", perRequest(object.positive("total_output_tokens"), completed));
        }
        String written = LabelText.of(labels);
        List<MetricSampled> samples = new ArrayList<>();
        if (completed != null && Double.isFinite(completed)) {
            samples.add(new MetricSampled(source, "bench:completed", written, completed));
        }
        if (failed != null && Double.isFinite(failed)) {
            samples.add(new MetricSampled(source, "bench:failed", written, failed));
        }
        if (completed == null || completed > 0) {
            for (String statistic : STATISTICS) {
                for (String latency : LATENCIES) {
                    Double seconds = seconds(object, statistic + '_' + latency);
                    if (seconds != null) {
                        samples.add(new MetricSampled(
                                source, "bench:" + statistic + '_' + latency + "_seconds", written, seconds));
                    }
                }
            }
        }
        return samples;
    }

    /** An aggregate, which some write in ms and some in seconds. */
    private static @Nullable Double seconds(BenchObject object, String name) {
        Double milliseconds = object.positive(name + "_ms");
        return milliseconds != null ? Double.valueOf(milliseconds / 1e3) : object.positive(name);
    }

    private static @Nullable String config(BenchObject object) {
        String label = object.text("label");
        if (label != null) {
            return label;
        }
        String file = object.text("_file");
        if (file == null) {
            return null;
        }
        String name = file.substring(file.lastIndexOf('/') + 1);
        name = name.endsWith(".json") ? name.substring(0, name.length() - ".json".length()) : name;
        return SWEPT.matcher(name).replaceAll("");
    }

    private static @Nullable String perRequest(@Nullable Double total, double requests) {
        return total == null ? null : whole(StrictMath.rint(total / requests));
    }

    private static @Nullable String whole(@Nullable Double value) {
        return value == null || value > 1e15 ? null : String.format(Locale.ROOT, "%.0f", value);
    }

    private static String decimal(double value) {
        return Double.isInfinite(value) ? "inf" : String.format(Locale.ROOT, "%.3f", value);
    }
}
