package io.tokenstair.job.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Quantile;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Windows against a count of all durations from the start, whatever the order of parts and the moments of telling. */
class DurationWindowTest {
    private static final long START = 1_790_000_000_000L;

    /** A duration at an event time. */
    private record At(long millis, long nanos, String requestId) {}

    private static List<At> durations(SplittableRandom random) {
        List<At> all = new ArrayList<>();
        long millis = START;
        for (int i = 0; i < 3_000; i++) {
            millis += random.nextInt(300);
            if (random.nextInt(500) == 0) {
                millis += 100_000;
            }
            long nanos = random.nextInt(200) == 0
                    ? random.nextLong(1_000_000_000)
                    : 24_000_000 + random.nextLong(2_000_000) - (random.nextInt(300) == 0 ? 1_000_000_000 : 0);
            all.add(new At(millis, nanos, "request-" + random.nextInt(40)));
        }
        return all;
    }

    private static List<DurationPane> parts(List<At> durations, SplittableRandom random) {
        List<DurationPane> parts = new ArrayList<>();
        PaneCounter counter = new PaneCounter(parts::add);
        for (At at : durations) {
            counter.slot(Metric.GAP, "model", "engine", 0, at.millis).record(at.nanos, at.requestId, 1);
            if (random.nextInt(20) == 0) {
                counter.ship();
            }
        }
        counter.ship();
        return parts;
    }

    private static List<Quantile> expected(List<At> durations) {
        List<Quantile> rows = new ArrayList<>();
        long last = durations.get(durations.size() - 1).millis;
        for (long end = START - START % Panes.MILLIS + Panes.MILLIS;
                end <= last + Panes.WINDOW_MILLIS;
                end += Panes.MILLIS) {
            long until = end;
            List<At> inside = durations.stream()
                    .filter(at -> at.millis < until && at.millis >= until - Panes.WINDOW_MILLIS)
                    .toList();
            if (inside.isEmpty()) {
                continue;
            }
            List<Quantile> one = new ArrayList<>();
            List<At> moved = inside.stream()
                    .map(at -> new At(until - 1, at.nanos, at.requestId))
                    .toList();
            DurationWindow window = new DurationWindow();
            parts(moved, new SplittableRandom(0)).forEach(window::add);
            window.tell(end, one::add);
            assertThat(one).hasSize(1);
            assertThat(one.get(0).windowEndMillis()).isEqualTo(end);
            rows.addAll(one);
        }
        return rows;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void everyWindowIsThatOfItsDurationsWheneverItIsTold(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<At> durations = durations(random);
        List<Quantile> expected = expected(durations);
        List<DurationPane> parts = parts(durations, random);

        // All at once, in another order: as at the end of a batch.
        List<DurationPane> shuffled = new ArrayList<>(parts);
        for (int i = shuffled.size() - 1; i > 0; i--) {
            shuffled.set(i, shuffled.set(random.nextInt(i + 1), shuffled.get(i)));
        }
        List<Quantile> batch = new ArrayList<>();
        DurationWindow window = new DurationWindow();
        shuffled.forEach(window::add);
        window.tell(Long.MAX_VALUE, batch::add);
        assertThat(batch).isEqualTo(expected);
        assertThat(window.panes).isEmpty();

        // As the events come, told at odd moments, forgotten when empty.
        List<Quantile> stream = new ArrayList<>();
        window = new DurationWindow();
        for (int i = 0; i < parts.size(); i++) {
            long complete = parts.get(i).paneStartMillis;
            if (random.nextInt(3) == 0) {
                window.tell(complete, stream::add);
                if (window.panes.isEmpty()) {
                    window = new DurationWindow();
                }
            }
            assertThat(window.add(parts.get(i))).isTrue();
        }
        window.tell(Long.MAX_VALUE, stream::add);
        assertThat(stream).isEqualTo(expected);
    }

    @Test
    void outliersAreCountedAndNamed() {
        List<DurationPane> parts = new ArrayList<>();
        PaneCounter counter = new PaneCounter(parts::add);
        PaneCounter.Slot slot = counter.slot(Metric.GAP, null, "engine", null, START);
        for (int i = 0; i < 1_000; i++) {
            slot.record(25_000_000 + (i % 21 - 10) * 100_000L, "usual", i);
        }
        slot.record(900_000_000, "slowest", 3);
        slot.record(80_000_000, "slow", 7);
        slot.record(-5, "broken", 1);
        counter.ship();
        List<Quantile> rows = new ArrayList<>();
        DurationWindow window = new DurationWindow();
        parts.forEach(window::add);
        window.tell(START + Panes.MILLIS, rows::add);

        assertThat(rows).singleElement().satisfies(row -> {
            assertThat(row.count()).isEqualTo(1_002);
            assertThat(row.outlierCount()).isEqualTo(2);
            assertThat(row.worstRequestIds()).containsExactly("slowest", "slow");
            assertThat(row.worstNanos()).containsExactly(900_000_000L, 80_000_000L);
            assertThat(row.maxNanos()).isEqualTo(900_000_000L);
            assertThat(row.invalidCount()).isEqualTo(1);
            assertThat((double) row.p50Nanos()).isBetween(24.8e6, 25.2e6);
            assertThat((double) row.deviationNanos()).isBetween(0.3e6, 0.7e6);
        });
    }

    @Test
    void undatedInputHasOneWindow() {
        List<DurationPane> parts = new ArrayList<>();
        PaneCounter counter = new PaneCounter(parts::add);
        counter.slot(Metric.STEP, null, "engine", null, Long.MAX_VALUE).record(1_000_000, "", -1);
        counter.ship();
        List<Quantile> rows = new ArrayList<>();
        DurationWindow window = new DurationWindow();
        parts.forEach(window::add);
        window.tell(Long.MAX_VALUE - 1, rows::add);
        assertThat(rows).isEmpty();
        window.tell(Long.MAX_VALUE, rows::add);

        assertThat(rows).singleElement().satisfies(row -> {
            assertThat(row.windowStartMillis()).isNull();
            assertThat(row.windowEndMillis()).isNull();
            assertThat(row.count()).isEqualTo(1);
        });
        assertThat(window.panes).isEmpty();
    }

    @Test
    void aPaneAfterItsWindowWasToldIsRefused() {
        List<DurationPane> parts = new ArrayList<>();
        PaneCounter counter = new PaneCounter(parts::add);
        for (long millis : new long[] {START, START + 30_000, START}) {
            counter.slot(Metric.STEP, null, "engine", null, millis).record(1_000_000, "", -1);
            counter.ship();
        }
        DurationWindow window = new DurationWindow();
        assertThat(window.add(parts.get(0))).isTrue();
        assertThat(window.add(parts.get(1))).isTrue();
        window.tell(START + Panes.MILLIS, row -> {});
        assertThat(window.add(parts.get(2))).isFalse();
    }
}
