package io.tokenstair.job.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Covariance;
import io.tokenstair.archive.result.Quantile;
import io.tokenstair.job.KeyedRun;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The operators around the sliding windows: arrival, watermarks and restores change nothing of what the windows say. */
public class SlideWindowsHarnessTest {
    private static final long START = 1_790_000_000_000L;
    private static final long HOLD_MILLIS = 5_000;
    private static final long LATENESS_MILLIS = 4_000;

    /** Parts of panes of three engines and two priorities. */
    public static List<DurationPane> durationParts(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<DurationPane> parts = new ArrayList<>();
        PaneCounter counter = new PaneCounter(parts::add);
        long millis = START;
        for (int i = 0; i < 6_000; i++) {
            millis += random.nextInt(120);
            counter.slot(Metric.GAP, "model", "engine-" + random.nextInt(3), random.nextInt(2), millis)
                    .record(20_000_000 + random.nextLong(9_000_000), "request-" + random.nextInt(30), i);
            if (random.nextInt(40) == 0) {
                counter.ship();
            }
        }
        counter.ship();
        return parts;
    }

    /** Panes of moments of two engines. */
    public static List<MomentPane> momentParts(long seed) {
        List<MomentPane> parts = new ArrayList<>();
        for (String engine : List.of("a", "b")) {
            SplittableRandom random = new SplittableRandom(seed + engine.hashCode());
            BlockSeries series = new BlockSeries();
            long millis = START;
            for (int i = 0; i < 20_000; i++) {
                millis += random.nextInt(60);
                MomentPane done = series.step(
                        millis,
                        20_000_000 + random.nextLong(3_000_000),
                        21_000_000,
                        1 + random.nextInt(64),
                        random.nextLong(200_000),
                        64,
                        random.nextInt(3) * 100L);
                if (done != null) {
                    done.engineId = engine;
                    parts.add(done);
                }
            }
        }
        parts.sort(Comparator.comparingLong(pane -> pane.paneStartMillis));
        return parts;
    }

    /** The operator of quantiles. */
    public static KeyedRun<DurationPane, Quantile> quantiles() {
        return new KeyedRun<>(() -> new SlideQuantiles(HOLD_MILLIS), SlideQuantiles::key, pane -> pane.paneStartMillis);
    }

    /** The operator of covariances. */
    public static KeyedRun<MomentPane, Covariance> covariances() {
        return new KeyedRun<>(
                () -> new SlideCovariance(HOLD_MILLIS), pane -> pane.engineId, pane -> pane.paneStartMillis);
    }

    private static List<String> sorted(List<String> said) {
        return said.stream().sorted().toList();
    }

    private static List<String> windowsOf(List<DurationPane> parts) {
        Map<String, DurationWindow> windows = new TreeMap<>();
        for (DurationPane part : parts) {
            windows.computeIfAbsent(SlideQuantiles.key(part), key -> new DurationWindow())
                    .add(part);
        }
        List<String> said = new ArrayList<>();
        windows.values().forEach(window -> window.tell(Long.MAX_VALUE, row -> said.add(row.toString())));
        return sorted(said);
    }

    private static List<String> windowsOfMoments(List<MomentPane> parts) {
        Map<String, MomentWindow> windows = new TreeMap<>();
        for (MomentPane part : parts) {
            windows.computeIfAbsent(part.engineId, key -> new MomentWindow()).add(part);
        }
        List<String> said = new ArrayList<>();
        windows.values().forEach(window -> window.tell(Long.MAX_VALUE, row -> said.add(row.toString())));
        return sorted(said);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 60})
    void quantilesAreThoseOfTheWindowsWhateverTheArrivalAndTheRestores(int restoreOneIn) throws Exception {
        List<DurationPane> parts = durationParts(7);
        Random random = new Random(restoreOneIn);
        KeyedRun<DurationPane, Quantile> operator = quantiles();

        List<String> said = operator.run(operator.late(parts, LATENESS_MILLIS, random), random, restoreOneIn);

        assertThat(sorted(said)).isNotEmpty().isEqualTo(windowsOf(parts));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 10})
    void covariancesAreThoseOfTheWindowsWhateverTheArrivalAndTheRestores(int restoreOneIn) throws Exception {
        List<MomentPane> parts = momentParts(8);
        Random random = new Random(restoreOneIn);
        KeyedRun<MomentPane, Covariance> operator = covariances();

        List<String> said = operator.run(operator.late(parts, LATENESS_MILLIS, random), random, restoreOneIn);

        assertThat(sorted(said)).isNotEmpty().isEqualTo(windowsOfMoments(parts));
    }

    @Test
    void nothingIsLeftInABundleWhenACheckpointPasses() throws Exception {
        List<DurationPane> parts = durationParts(9);
        long durations = parts.stream().mapToLong(part -> part.histogram.total).sum();
        try (var harness = new OneInputStreamOperatorTestHarness<>(new BundlePanes())) {
            harness.setup();
            harness.open();
            for (int i = 0; i < parts.size(); i++) {
                harness.processElement(new StreamRecord<>(parts.get(i)));
                if (i % 50 == 0 || i == parts.size() - 1) {
                    harness.prepareSnapshotPreBarrier(i);
                }
            }
            assertThat(harness.extractOutputValues().stream()
                            .filter(pane -> pane.scope == Scope.MODEL)
                            .mapToLong(pane -> pane.histogram.total)
                            .sum())
                    .isEqualTo(durations);
        }
    }
}
