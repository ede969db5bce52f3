package io.tokenstair.collect.otlp;

import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.AggregationTemporality;
import io.opentelemetry.proto.metrics.v1.DataPointFlags;
import io.opentelemetry.proto.metrics.v1.ExponentialHistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.metrics.v1.SummaryDataPoint;
import io.opentelemetry.proto.resource.v1.Resource;
import io.tokenstair.event.LabelText;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.wire.Utf8;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Data points to samples, as a scrape would show them: a histogram as {@code _bucket} with {@code le}, {@code _sum} and {@code _count}, a summary as its
 * quantiles. What counts since the last report and not since the start ends in {@code _delta}, so that nobody takes it for a running total. Names
 * and labels are as received, bounded.
 */
final class MetricReader {
    private static final int MAX_NAME_BYTES = 256;
    private static final int MAX_LABELS = 32;
    private static final int MAX_LABEL_BYTES = 128;
    private static final int MAX_LABELS_CHARACTERS = 2048;
    private static final int MAX_BUCKETS = 512;

    private MetricReader() {}

    /** What the samples of a resource come from: the service, and its instance where one is named. */
    static String source(Resource resource) {
        String service = SpanReader.service(resource);
        String instance = null;
        for (KeyValue attribute : resource.getAttributesList()) {
            if (attribute.getKey().equals("service.instance.id")) {
                instance = SpanReader.text(attribute.getValue());
            }
        }
        String name = service == null || service.isEmpty() ? "otlp" : service;
        return Utf8.cut(instance == null || instance.isEmpty() ? name : name + '@' + instance, MAX_NAME_BYTES);
    }

    static void read(Metric metric, String source, long latestNanos, OtlpBatch batch) {
        switch (metric.getDataCase()) {
            case GAUGE -> {
                for (NumberDataPoint point : metric.getGauge().getDataPointsList()) {
                    each(batch, () -> number(metric, "", point, source, latestNanos));
                }
            }
            case SUM -> {
                String suffix = suffix(metric.getSum().getAggregationTemporality());
                for (NumberDataPoint point : metric.getSum().getDataPointsList()) {
                    each(batch, () -> number(metric, suffix, point, source, latestNanos));
                }
            }
            case HISTOGRAM -> {
                String suffix = suffix(metric.getHistogram().getAggregationTemporality());
                for (HistogramDataPoint point : metric.getHistogram().getDataPointsList()) {
                    each(batch, () -> histogram(metric, suffix, point, source, latestNanos));
                }
            }
            case EXPONENTIAL_HISTOGRAM -> {
                String suffix = suffix(metric.getExponentialHistogram().getAggregationTemporality());
                for (ExponentialHistogramDataPoint point :
                        metric.getExponentialHistogram().getDataPointsList()) {
                    each(batch, () -> exponential(metric, suffix, point, source, latestNanos));
                }
            }
            case SUMMARY -> {
                for (SummaryDataPoint point : metric.getSummary().getDataPointsList()) {
                    each(batch, () -> summary(metric, point, source, latestNanos));
                }
            }
            default -> {
                // A metric without data points.
            }
        }
    }

    private interface Reader {
        List<TimedEvent> read() throws OtlpException;
    }

    private static void each(OtlpBatch batch, Reader reader) {
        try {
            List<TimedEvent> events = reader.read();
            if (events.isEmpty()) {
                batch.passOver();
            } else {
                events.forEach(batch::event);
                batch.accept();
            }
        } catch (OtlpException e) {
            batch.reject(e.reason());
        }
    }

    private static String suffix(AggregationTemporality temporality) {
        return temporality == AggregationTemporality.AGGREGATION_TEMPORALITY_DELTA ? "_delta" : "";
    }

    private static List<TimedEvent> number(
            Metric metric, String suffix, NumberDataPoint point, String source, long latestNanos) throws OtlpException {
        Series series = new Series(metric, point.getAttributesList(), point.getTimeUnixNano(), source, latestNanos);
        if (noValue(point.getFlags()) || point.getValueCase() == NumberDataPoint.ValueCase.VALUE_NOT_SET) {
            return List.of();
        }
        double value = point.hasAsInt() ? point.getAsInt() : point.getAsDouble();
        series.add(suffix, null, null, value);
        return series.events;
    }

    private static boolean noValue(int flags) {
        return (flags & DataPointFlags.DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK_VALUE) != 0;
    }

    private static List<TimedEvent> histogram(
            Metric metric, String suffix, HistogramDataPoint point, String source, long latestNanos)
            throws OtlpException {
        Series series = new Series(metric, point.getAttributesList(), point.getTimeUnixNano(), source, latestNanos);
        if (noValue(point.getFlags())) {
            return List.of();
        }
        int bounds = point.getExplicitBoundsCount();
        int counts = point.getBucketCountsCount();
        if (counts != 0 && counts != bounds + 1) {
            throw new OtlpException("field bucketCounts: " + counts + " for " + bounds + " bounds");
        }
        if (counts > MAX_BUCKETS) {
            throw new OtlpException("field bucketCounts: more than " + MAX_BUCKETS);
        }
        long total = 0;
        for (int i = 0; i < counts; i++) {
            total += point.getBucketCounts(i);
            if (point.getBucketCounts(i) < 0 || total < 0) {
                throw new OtlpException("field bucketCounts: out of range");
            }
            if (i > 0 && i < bounds && !(point.getExplicitBounds(i) > point.getExplicitBounds(i - 1))) {
                throw new OtlpException("field explicitBounds: not ascending");
            }
            series.add("_bucket" + suffix, "le", i < bounds ? bound(point.getExplicitBounds(i)) : "+Inf", total);
        }
        if (counts != 0 && total != point.getCount()) {
            throw new OtlpException("field count: not the sum of the buckets");
        }
        series.total(suffix, point.getCount(), point.hasSum() ? point.getSum() : null);
        return series.events;
    }

    private static String bound(double bound) {
        return bound == StrictMath.rint(bound) && Math.abs(bound) < 1e15
                ? String.valueOf((long) bound) + ".0"
                : String.valueOf(bound);
    }

    private static List<TimedEvent> exponential(
            Metric metric, String suffix, ExponentialHistogramDataPoint point, String source, long latestNanos)
            throws OtlpException {
        Series series = new Series(metric, point.getAttributesList(), point.getTimeUnixNano(), source, latestNanos);
        if (noValue(point.getFlags())) {
            return List.of();
        }
        series.total(suffix, point.getCount(), point.hasSum() ? point.getSum() : null);
        return series.events;
    }

    private static List<TimedEvent> summary(Metric metric, SummaryDataPoint point, String source, long latestNanos)
            throws OtlpException {
        Series series = new Series(metric, point.getAttributesList(), point.getTimeUnixNano(), source, latestNanos);
        if (noValue(point.getFlags())) {
            return List.of();
        }
        if (point.getQuantileValuesCount() > MAX_BUCKETS) {
            throw new OtlpException("field quantileValues: more than " + MAX_BUCKETS);
        }
        for (SummaryDataPoint.ValueAtQuantile quantile : point.getQuantileValuesList()) {
            series.add("", "quantile", String.valueOf(quantile.getQuantile()), quantile.getValue());
        }
        series.add("_sum", null, null, point.getSum());
        series.add("_count", null, null, point.getCount());
        return series.events;
    }

    /** The samples of one data point. */
    private static final class Series {
        private final String name;
        private final String source;
        private final Map<String, String> labels = new HashMap<>();
        private final @Nullable Long stamp;
        private final List<TimedEvent> events = new ArrayList<>();

        Series(Metric metric, List<KeyValue> attributes, long timeUnixNano, String source, long latestNanos)
                throws OtlpException {
            if (metric.getName().isEmpty() || metric.getName().length() > MAX_NAME_BYTES) {
                throw new OtlpException("field name: empty, or longer than " + MAX_NAME_BYTES);
            }
            this.name = metric.getName();
            this.source = source;
            this.stamp = SpanReader.stamp(timeUnixNano, "timeUnixNano", latestNanos);
            if (attributes.size() > MAX_LABELS) {
                throw new OtlpException("field attributes: more than " + MAX_LABELS + " of one data point");
            }
            for (KeyValue attribute : attributes) {
                if (GenAiNames.isContent(attribute.getKey())) {
                    continue;
                }
                labels.put(
                        Utf8.cut(attribute.getKey(), MAX_LABEL_BYTES),
                        Utf8.cut(SpanReader.text(attribute.getValue()), 2 * MAX_LABEL_BYTES));
            }
        }

        /** The sum and the count of a histogram. */
        void total(String suffix, long count, @Nullable Double sum) throws OtlpException {
            if (count < 0) {
                throw new OtlpException("field count: out of range");
            }
            if (sum != null) {
                add("_sum" + suffix, null, null, sum);
            }
            add("_count" + suffix, null, null, count);
        }

        void add(String suffix, @Nullable String extra, @Nullable String extraValue, double value)
                throws OtlpException {
            if (Double.isNaN(value)) {
                throw new OtlpException("a value that is not a number");
            }
            Map<String, @Nullable String> all = new HashMap<>(labels);
            if (extra != null && extraValue != null) {
                all.put(extra, extraValue);
            }
            String joined = LabelText.of(all);
            if (joined.length() > MAX_LABELS_CHARACTERS) {
                throw new OtlpException("labels of more than " + MAX_LABELS_CHARACTERS + " characters");
            }
            events.add(new TimedEvent(new MetricSampled(source, name + suffix, joined, value), stamp, stamp));
        }
    }
}
