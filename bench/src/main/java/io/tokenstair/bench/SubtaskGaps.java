package io.tokenstair.bench;

import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;

/**
 * The longest time in which a subtask took neither a record nor a watermark, of each subtask by itself: looked at from outside, by Flink's
 * own metrics, every {@link #LOOK_MILLIS} ms. Time in which it had nothing to do is part of it, so what its own work made it pause is at most
 * that. What was before its first and after its last record or watermark does not count. One run at a time.
 */
final class SubtaskGaps {
    private static final long LOOK_MILLIS = 2;
    private static final Set<String> OPERATORS = Set.of(
            "run-rules-request",
            "run-rules-engine",
            "run-rules-device",
            "schedule-rules",
            "analyse-steps",
            "analyse-requests");

    private static final Map<String, Subtask> SUBTASKS = new ConcurrentHashMap<>();

    private final CountDownLatch over = new CountDownLatch(1);
    private final Thread thread = new Thread(this::look, "subtask-gaps");

    private SubtaskGaps() {}

    /** What a subtask took so far, and its longest gap. */
    private static final class Subtask {
        private volatile LongSupplier records = () -> 0;
        private volatile LongSupplier watermark = () -> Long.MIN_VALUE;
        private long lastRecords;
        private long lastWatermark = Long.MIN_VALUE;
        private long lastNanos = Long.MIN_VALUE;
        private long longestNanos;

        void look(long nowNanos) {
            long recordsNow = records.getAsLong();
            long watermarkNow = watermark.getAsLong();
            if (recordsNow == lastRecords && watermarkNow == lastWatermark) {
                return;
            }
            lastRecords = recordsNow;
            lastWatermark = watermarkNow;
            longestNanos = lastNanos == Long.MIN_VALUE ? 0 : Math.max(longestNanos, nowNanos - lastNanos);
            lastNanos = nowNanos;
        }
    }

    /** Has a job tell its metrics here. */
    static void tellMetrics(Configuration settings) {
        settings.setString("metrics.reporters", "gaps");
        settings.setString("metrics.reporter.gaps.factory.class", Factory.class.getName());
    }

    /** Begins to look. */
    static SubtaskGaps start() {
        SUBTASKS.clear();
        SubtaskGaps gaps = new SubtaskGaps();
        gaps.thread.start();
        return gaps;
    }

    private void look() {
        try {
            while (!over.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
                long now = System.nanoTime();
                SUBTASKS.values().forEach(subtask -> subtask.look(now));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends, and gives the longest gap of each subtask in ms, by operator and subtask; 0 where it took nothing twice. */
    Map<String, Long> stop() throws InterruptedException {
        over.countDown();
        thread.join();
        Map<String, Long> millis = new TreeMap<>();
        SUBTASKS.forEach((name, subtask) -> millis.put(name, subtask.longestNanos / 1_000_000));
        return millis;
    }

    /** Hears of metrics. */
    private static final class Reporter implements MetricReporter {
        @Override
        public void open(MetricConfig config) {}

        @Override
        public void close() {}

        @Override
        public void notifyOfAddedMetric(Metric metric, String name, MetricGroup group) {
            Map<String, String> variables = group.getAllVariables();
            String operator = variables.get("<operator_name>");
            String index = variables.get("<subtask_index>");
            if (operator == null || index == null || !OPERATORS.contains(operator)) {
                return;
            }
            String subtask = operator + " " + index;
            if (metric instanceof Counter counter && name.equals("numRecordsIn")) {
                SUBTASKS.computeIfAbsent(subtask, key -> new Subtask()).records = counter::getCount;
            } else if (metric instanceof Gauge<?> gauge && name.equals("currentInputWatermark")) {
                SUBTASKS.computeIfAbsent(subtask, key -> new Subtask()).watermark =
                        () -> gauge.getValue() instanceof Long watermark ? watermark : Long.MIN_VALUE;
            }
        }

        @Override
        public void notifyOfRemovedMetric(Metric metric, String name, MetricGroup group) {}
    }

    /** Makes the reporter; Flink finds it by its name. */
    public static final class Factory implements MetricReporterFactory {
        /** For Flink. */
        public Factory() {}

        @Override
        public MetricReporter createMetricReporter(Properties properties) {
            return new Reporter();
        }
    }
}
