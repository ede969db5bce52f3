package io.tokenstair.job.engine;

import io.tokenstair.archive.result.Remark;
import io.tokenstair.cause.Confidence;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.job.finding.Remarks;
import io.tokenstair.narrative.Phrase;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs of one benchmark set-up (model, configuration, requests at once) that differ in the length of their inputs, known by their
 * aggregates only, {@code bench:*}: how time per output token goes with the context. No token of any run is known, so what is said is consistent-with at most, and no
 * cause is named. State: {@value #MOST_RUNS} runs.
 */
public class RunSeries {
    static final String PREFIX = "bench:";

    /** Runs that are remembered. */
    static final int MOST_RUNS = 1_024;

    /** Different input lengths from which anything is said. */
    static final int LENGTHS = 4;

    /** The mean of the last third of the lengths is at least so much above that of the first third: it rises. */
    static final double RISES = 1.3;

    /** The same for the p99, where the median does not rise. */
    static final double TAIL_RISES = 2.0;

    /** How near to one another the times on a level are. */
    static final double LEVEL = 0.05;

    /** Lengths that are a level. */
    static final int LEVEL_LENGTHS = 4;

    /** How much the time to first token grows over a level that comes of a limit. */
    static final double WAIT_GROWS = 2.0;

    /** A step from one length to the next that is told. */
    static final double STEP = 1.5;

    public List<BenchmarkRun> runs = new ArrayList<>();
    /** Runs that were not remembered. */
    public long dropped;
    /** Runs without a success, whose aggregates are zeros. */
    public long withoutSuccess;

    /** For Flink's serializer. */
    public RunSeries() {}

    /** The set-up that a sample belongs to. */
    static String subjectOf(MetricSampled sample) {
        String labels = sample.labels();
        String model = EngineMetric.label(labels, "model");
        String config = EngineMetric.label(labels, "config");
        String backend = EngineMetric.label(labels, "backend");
        String concurrency = EngineMetric.label(labels, "concurrency");
        String rate = EngineMetric.label(labels, "rate");
        List<String> parts = new ArrayList<>();
        parts.add("runs of " + (model.isEmpty() ? "a model" : model));
        if (!config.isEmpty()) {
            parts.add(config);
        } else if (!backend.isEmpty()) {
            parts.add(backend);
        }
        if (!concurrency.isEmpty()) {
            parts.add(concurrency + " at once");
        }
        if (!rate.isEmpty() && !rate.equals("inf")) {
            parts.add(rate + " per second");
        }
        return String.join(", ", parts);
    }

    void accept(String eventId, MetricSampled sample) {
        double value = sample.sampledValue();
        if (!Double.isFinite(value) || value < 0) {
            return;
        }
        String name = sample.name().substring(PREFIX.length());
        if (name.equals("completed")) {
            withoutSuccess += value == 0 ? 1 : 0;
            return;
        }
        Long inputTokens = number(EngineMetric.label(sample.labels(), "input_tokens"));
        if (inputTokens == null || value == 0) {
            return;
        }
        String label = EngineMetric.label(sample.labels(), "run");
        BenchmarkRun run = runs.isEmpty() ? null : runs.get(runs.size() - 1);
        if (run == null || !run.run.equals(label)) {
            run = runs.stream()
                    .filter(known -> known.run.equals(label))
                    .findFirst()
                    .orElse(null);
        }
        if (run == null) {
            if (runs.size() == MOST_RUNS) {
                dropped++;
                return;
            }
            run = new BenchmarkRun();
            run.run = label;
            run.inputTokens = inputTokens;
            runs.add(run);
        }
        switch (name) {
            case "median_tpot_seconds" -> {
                run.medianTpotSeconds = value;
                run.eventId = eventId;
            }
            case "p99_tpot_seconds" -> run.p99TpotSeconds = value;
            case "median_ttft_seconds" -> run.medianTtftSeconds = value;
            default -> {
                // Nothing is concluded from it.
            }
        }
    }

    private static @Nullable Long number(String text) {
        if (text.isEmpty() || text.length() > 15 || !text.chars().allMatch(Character::isDigit)) {
            return null;
        }
        return Long.valueOf(text);
    }

    void finish(String subject, Consumer<Remark> output) {
        if (withoutSuccess > 0) {
            output.accept(Remarks.of(
                    "no-data",
                    subject,
                    null,
                    null,
                    Confidence.ESTABLISHED,
                    Phrase.WHY_SUCCESS_COUNT.say(),
                    List.of(),
                    List.of(),
                    Phrase.NO_SUCCESS.say(EngineFindings.times(withoutSuccess, "run"))));
        }
        List<BenchmarkRun> points = points();
        if (points.size() < LENGTHS) {
            return;
        }
        List<String> evidence = new ArrayList<>();
        for (BenchmarkRun point : points) {
            if (evidence.size() < Episode.EVIDENCE) {
                evidence.add(point.eventId);
            }
        }
        output.accept(Remarks.of(
                "tpot-by-context",
                subject,
                null,
                null,
                Confidence.CONSISTENT_WITH,
                Phrase.WHY_AGGREGATES.say(),
                evidence,
                List.of("steps", "client", "kv-events"),
                narrative(points)));
    }

    /** One point a length, by length; where several runs have the same, the one named first. */
    private List<BenchmarkRun> points() {
        TreeMap<Long, BenchmarkRun> byLength = new TreeMap<>();
        runs.stream()
                .filter(run -> run.medianTpotSeconds > 0)
                .sorted(Comparator.comparing((BenchmarkRun run) -> run.run))
                .forEach(run -> byLength.putIfAbsent(run.inputTokens, run));
        return new ArrayList<>(byLength.values());
    }

    private static String narrative(List<BenchmarkRun> points) {
        BenchmarkRun first = points.get(0);
        BenchmarkRun last = points.get(points.size() - 1);
        int level = levelFrom(points);
        double rise = rise(points, false);
        double tailRise = rise(points, true);
        if (level > 0) {
            BenchmarkRun from = points.get(level);
            return Phrase.TPOT_LEVELS_OFF.say(
                    milliseconds(first.medianTpotSeconds),
                    first.inputTokens,
                    milliseconds(from.medianTpotSeconds),
                    from.inputTokens,
                    last.inputTokens,
                    range(points.subList(level, points.size())),
                    seconds(from.medianTtftSeconds),
                    seconds(last.medianTtftSeconds));
        }
        if (rise >= RISES) {
            return rising(points);
        }
        if (tailRise >= TAIL_RISES) {
            return Phrase.TPOT_TAIL_RISES.say(
                    milliseconds(first.medianTpotSeconds),
                    first.inputTokens,
                    milliseconds(last.medianTpotSeconds),
                    last.inputTokens,
                    milliseconds(first.p99TpotSeconds),
                    milliseconds(last.p99TpotSeconds));
        }
        return Phrase.TPOT_DOES_NOT_RISE.say(
                milliseconds(first.medianTpotSeconds),
                first.inputTokens,
                milliseconds(last.medianTpotSeconds),
                last.inputTokens);
    }

    /** Mean of the last third over that of the first; 0 where it is not known. */
    private static double rise(List<BenchmarkRun> points, boolean tail) {
        int third = (points.size() + 2) / 3;
        double low = 0;
        double high = 0;
        for (int i = 0; i < third; i++) {
            BenchmarkRun a = points.get(i);
            BenchmarkRun b = points.get(points.size() - 1 - i);
            low += tail ? a.p99TpotSeconds : a.medianTpotSeconds;
            high += tail ? b.p99TpotSeconds : b.medianTpotSeconds;
        }
        return low <= 0 ? 0 : high / low;
    }

    /** The first point of a level that lasts to the end, comes after a rise, and over which requests wait longer and longer; 0 without one. */
    private static int levelFrom(List<BenchmarkRun> points) {
        BenchmarkRun last = points.get(points.size() - 1);
        for (int from = 1; from <= points.size() - LEVEL_LENGTHS; from++) {
            List<BenchmarkRun> level = points.subList(from, points.size());
            double least = level.stream()
                    .mapToDouble(run -> run.medianTpotSeconds)
                    .min()
                    .orElse(0);
            double most = level.stream()
                    .mapToDouble(run -> run.medianTpotSeconds)
                    .max()
                    .orElse(0);
            BenchmarkRun start = points.get(from);
            if (most <= least * (1 + 2 * LEVEL)
                    && least >= RISES * points.get(0).medianTpotSeconds
                    && start.medianTtftSeconds > 0
                    && last.medianTtftSeconds >= WAIT_GROWS * start.medianTtftSeconds) {
                return from;
            }
        }
        return 0;
    }

    private static String range(List<BenchmarkRun> points) {
        double least =
                points.stream().mapToDouble(run -> run.medianTpotSeconds).min().orElse(0);
        double most =
                points.stream().mapToDouble(run -> run.medianTpotSeconds).max().orElse(0);
        return String.format(Locale.ROOT, "%.1f to %.1f ms", least * 1e3, most * 1e3);
    }

    /** The rise, and the largest step between neighbours where it stands out: more than the length grew. */
    private static String rising(List<BenchmarkRun> points) {
        int at = 0;
        double most = 0;
        for (int i = 1; i < points.size(); i++) {
            double factor = points.get(i).medianTpotSeconds / points.get(i - 1).medianTpotSeconds;
            double longer = (double) points.get(i).inputTokens / Math.max(1, points.get(i - 1).inputTokens);
            if (factor > most && factor > longer) {
                most = factor;
                at = i;
            }
        }
        BenchmarkRun first = points.get(0);
        BenchmarkRun last = points.get(points.size() - 1);
        String low = milliseconds(first.medianTpotSeconds);
        String high = milliseconds(last.medianTpotSeconds);
        return most < STEP
                ? Phrase.TPOT_RISES.say(low, first.inputTokens, high, last.inputTokens)
                : Phrase.TPOT_RISES_BY_A_STEP.say(
                        low,
                        first.inputTokens,
                        high,
                        last.inputTokens,
                        String.format(Locale.ROOT, "%.2f", most),
                        points.get(at - 1).inputTokens,
                        points.get(at).inputTokens);
    }

    private static String milliseconds(double seconds) {
        return String.format(Locale.ROOT, "%.1f ms", seconds * 1e3);
    }

    private static String seconds(double seconds) {
        return String.format(Locale.ROOT, "%.1f s", seconds);
    }
}
