package io.tokenstair.bench.accuracy;

import io.tokenstair.bench.accuracy.StaircaseSeries.Kind;
import io.tokenstair.bench.accuracy.StaircaseSeries.Truth;
import io.tokenstair.job.staircase.Rise;
import io.tokenstair.job.staircase.StaircaseDetector;
import io.tokenstair.job.staircase.StaircaseShape;
import io.tokenstair.job.staircase.StaircaseState;
import io.tokenstair.job.staircase.StaircaseVerdict;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Measures both staircase detectors on series whose truth is known, and prints the tables of docs/accuracy.md. */
@Command(
        name = "staircase-accuracy",
        description =
                "Measures both staircase detectors on made-up series: precision, recall, confusion, delay, false alarms.")
public final class StaircaseAccuracy implements Callable<Integer> {
    /** Constants of the detectors were chosen on seeds from here on, {@value #TUNING_COUNT} of each kind. */
    static final long TUNING_SEED = 1_000;

    static final int TUNING_COUNT = 200;

    /** Figures are taken on seeds from here on. */
    static final long HELD_OUT_SEED = 61_000_000;

    /** An onset is found when a rise lies this close. */
    private static final int ONSET_TOKENS = 12;

    private static final int QUIET_TOKENS = 3_000_000;
    private static final int QUIET_SERIES_TOKENS = 2_000;

    @Option(names = "--series", paramLabel = "N", defaultValue = "100", description = "of each kind")
    int seriesPerKind;

    @Option(names = "--seed", paramLabel = "S", defaultValue = "" + HELD_OUT_SEED, description = "the first one")
    long firstSeed;

    @Option(names = "--tuning", description = "the seeds that constants were chosen on, for comparison")
    boolean tuning;

    @Spec
    @SuppressWarnings("NullAway.Init")
    CommandSpec spec;

    /** What was measured: counts over series. */
    static final class Score {
        final Map<Kind, Map<StaircaseShape, Integer>> shapes = new EnumMap<>(Kind.class);
        final Map<Kind, Integer> kvDriven = new EnumMap<>(Kind.class);
        final List<Integer> verdictDelays = new ArrayList<>();
        final List<Integer> riseDelays = new ArrayList<>();
        int onsets;
        int onsetsFound;
        int rises;
        int risesTrue;

        int shape(Kind kind, StaircaseShape shape) {
            return shapes.getOrDefault(kind, Map.of()).getOrDefault(shape, 0);
        }

        int series(Truth truth) {
            int count = 0;
            for (Kind kind : of(truth)) {
                count += shapes.getOrDefault(kind, Map.of()).values().stream()
                        .mapToInt(Integer::intValue)
                        .sum();
            }
            return count;
        }

        int staircases(Truth truth) {
            return of(truth).stream()
                    .mapToInt(kind -> shape(kind, StaircaseShape.STAIRCASE))
                    .sum();
        }

        int kvDriven(Truth truth) {
            return of(truth).stream()
                    .mapToInt(kind -> kvDriven.getOrDefault(kind, 0))
                    .sum();
        }

        double precision() {
            double found = staircases(Truth.KV_STAIRCASE);
            return found / (found + staircases(Truth.NULL));
        }

        double recall() {
            return (double) staircases(Truth.KV_STAIRCASE) / series(Truth.KV_STAIRCASE);
        }

        double f1() {
            return 2 * precision() * recall() / (precision() + recall());
        }

        private static List<Kind> of(Truth truth) {
            List<Kind> kinds = new ArrayList<>();
            for (Kind kind : Kind.values()) {
                if (kind.truth() == truth) {
                    kinds.add(kind);
                }
            }
            return kinds;
        }
    }

    /** Judges so many series of each kind. */
    static Score score(
            StaircaseDetector detector, boolean withKvEvents, double noiseFactor, long firstSeed, int seriesPerKind) {
        Score score = new Score();
        for (Kind kind : Kind.values()) {
            for (int i = 0; i < seriesPerKind; i++) {
                judge(score, detector, StaircaseSeries.of(kind, firstSeed + i, noiseFactor), withKvEvents);
            }
        }
        return score;
    }

    private static void judge(Score score, StaircaseDetector detector, StaircaseSeries series, boolean withKvEvents) {
        int needed = withKvEvents ? 2 : 3;
        boolean positive = series.kind.truth() == Truth.KV_STAIRCASE;
        boolean said = !positive;
        StaircaseState state = detector.start();
        for (int i = 0; i < series.gapNanos.length; i++) {
            Rise rise = detector.accept(
                    state, i, series.gapNanos[i], series.expectedNanos[i], withKvEvents ? series.kvEvents[i] : 0);
            if (positive && rise != null) {
                int onset = nearest(series.onsets, rise.onsetIndex());
                if (Math.abs(onset - rise.onsetIndex()) <= ONSET_TOKENS) {
                    score.riseDelays.add(i - onset);
                }
            }
            if (!said && i % 4 == 3 && i >= series.onsets.get(needed - 1) && state.changeCount >= needed) {
                said = detector.verdict(state).shape() == StaircaseShape.STAIRCASE;
                if (said) {
                    score.verdictDelays.add(i - series.onsets.get(needed - 1));
                }
            }
        }
        StaircaseVerdict verdict = detector.verdict(state);
        score.shapes
                .computeIfAbsent(series.kind, kind -> new EnumMap<>(StaircaseShape.class))
                .merge(verdict.shape(), 1, Integer::sum);
        score.kvDriven.merge(series.kind, verdict.kvDriven() ? 1 : 0, Integer::sum);
        if (positive) {
            score.onsets += series.onsets.size();
            for (int onset : series.onsets) {
                score.onsetsFound +=
                        verdict.rises().stream().anyMatch(rise -> Math.abs(rise.onsetIndex() - onset) <= ONSET_TOKENS)
                                ? 1
                                : 0;
            }
            for (Rise rise : verdict.rises()) {
                score.rises++;
                score.risesTrue +=
                        Math.abs(nearest(series.onsets, rise.onsetIndex()) - rise.onsetIndex()) <= ONSET_TOKENS ? 1 : 0;
            }
        }
    }

    private static int nearest(List<Integer> onsets, int index) {
        int nearest = onsets.get(0);
        for (int onset : onsets) {
            nearest = Math.abs(onset - index) < Math.abs(nearest - index) ? onset : nearest;
        }
        return nearest;
    }

    private static int quantile(List<Integer> values, double share) {
        List<Integer> sorted = new ArrayList<>(values);
        sorted.sort(null);
        return sorted.isEmpty() ? 0 : sorted.get((int) (share * (sorted.size() - 1)));
    }

    /** False alarms on noise alone, of {@value #QUIET_TOKENS} tokens in all. */
    record Quiet(long changes, long rises, int staircases) {}

    static Quiet quiet(StaircaseDetector detector, long seed) {
        long changes = 0;
        long rises = 0;
        int staircases = 0;
        for (int i = 0; i < QUIET_TOKENS / QUIET_SERIES_TOKENS; i++) {
            CounterRandom random = new CounterRandom(seed + i, "quiet");
            StaircaseState state = detector.start();
            double sigma = random.uniform(0.015, 0.04);
            double noise = 0;
            for (int token = 0; token < QUIET_SERIES_TOKENS; token++) {
                noise = 0.3 * noise + sigma * random.gaussian();
                double heavy = random.chance(0.003) ? random.uniform(2, 20) : 0;
                long nanos = StrictMath.round(1e6 * (15 * StrictMath.exp(noise) + heavy));
                rises += detector.accept(state, token, nanos, 15_000_000, 0) == null ? 0 : 1;
            }
            changes += state.changeCount;
            staircases += detector.verdict(state).shape() == StaircaseShape.STAIRCASE ? 1 : 0;
        }
        return new Quiet(changes, rises, staircases);
    }

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        int count = tuning ? TUNING_COUNT : seriesPerKind;
        long seed = tuning ? TUNING_SEED : firstSeed;
        out.printf(Locale.ROOT, "%d series of each kind, seeds from %d%n", count, seed);
        out.printf("%n| detector | evidence | noise | precision | recall | F1 | called KV-driven | of nulls |%n");
        out.printf("|---|---|---|---|---|---|---|---|%n");
        Map<String, Score> scores = new java.util.LinkedHashMap<>();
        for (double noise : new double[] {1, 0.5, 2}) {
            for (boolean full : new boolean[] {true, false}) {
                for (boolean kv : new boolean[] {true, false}) {
                    Score score = score(detector(full), kv, noise, seed, count);
                    if (noise == 1) {
                        scores.put((full ? "full" : "compact") + ", " + (kv ? "with KV events" : "shape only"), score);
                    }
                    out.printf(
                            Locale.ROOT,
                            "| %s | %s | x%s | %.3f | %.3f | %.3f | %d of %d | %d of %d |%n",
                            full ? "full" : "compact",
                            kv ? "KV events" : "shape only",
                            noise == 0.5 ? "0.5" : String.valueOf((int) noise),
                            score.precision(),
                            score.recall(),
                            score.f1(),
                            score.kvDriven(Truth.KV_STAIRCASE),
                            score.series(Truth.KV_STAIRCASE),
                            score.kvDriven(Truth.NULL) + score.kvDriven(Truth.HARD_NULL),
                            score.series(Truth.NULL) + score.series(Truth.HARD_NULL));
                }
            }
        }
        scores.forEach((name, score) -> confusion(out, name, score));
        out.printf("%n| detector | onsets: precision | recall | told after, p50 | p90 | verdict after, p50 | p90 |%n");
        out.printf("|---|---|---|---|---|---|---|%n");
        scores.forEach((name, score) -> out.printf(
                Locale.ROOT,
                "| %s | %.3f | %.3f | %d | %d | %d | %d |%n",
                name,
                (double) score.risesTrue / score.rises,
                (double) score.onsetsFound / score.onsets,
                quantile(score.riseDelays, 0.5),
                quantile(score.riseDelays, 0.9),
                quantile(score.verdictDelays, 0.5),
                quantile(score.verdictDelays, 0.9)));
        out.printf(
                "%n| detector | tokens of noise | changes raised | rises told | staircases, of %d series |%n",
                QUIET_TOKENS / QUIET_SERIES_TOKENS);
        out.printf("|---|---|---|---|---|%n");
        for (boolean full : new boolean[] {true, false}) {
            Quiet quiet = quiet(detector(full), seed);
            out.printf(
                    Locale.ROOT,
                    "| %s | %d | %d | %d | %d |%n",
                    full ? "full" : "compact",
                    QUIET_TOKENS,
                    quiet.changes,
                    quiet.rises,
                    quiet.staircases);
        }
        out.flush();
        return 0;
    }

    private static StaircaseDetector detector(boolean full) {
        return full ? StaircaseDetector.FULL : StaircaseDetector.COMPACT;
    }

    private static void confusion(PrintWriter out, String name, Score score) {
        out.printf("%n%s:%n%n| series |", name);
        for (StaircaseShape shape : StaircaseShape.values()) {
            out.printf(" %s |", shape);
        }
        out.printf(" KV-driven |%n|---|");
        for (int i = 0; i <= StaircaseShape.values().length; i++) {
            out.print("---|");
        }
        out.println();
        for (Kind kind : Kind.values()) {
            out.printf("| %s |", kind);
            for (StaircaseShape shape : StaircaseShape.values()) {
                out.printf(" %s |", score.shape(kind, shape) == 0 ? "" : String.valueOf(score.shape(kind, shape)));
            }
            out.printf(" %d |%n", score.kvDriven.getOrDefault(kind, 0));
        }
    }

    /** Prints the tables. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new StaircaseAccuracy()).execute(arguments));
    }
}
