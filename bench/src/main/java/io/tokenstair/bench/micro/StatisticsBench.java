package io.tokenstair.bench.micro;

import io.tokenstair.job.statistics.BlockSeries;
import io.tokenstair.job.statistics.DurationCounter;
import io.tokenstair.job.statistics.DurationHistogram;
import io.tokenstair.job.statistics.Metric;
import io.tokenstair.job.statistics.MomentPane;
import io.tokenstair.job.statistics.PaneCounter;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/** Nanoseconds per token of the statistics: tokens of 64 sequences, a step of 64 tokens at a time, batches of 16. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(StatisticsBench.TOKENS)
@Fork(1)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
public class StatisticsBench {
    /** Tokens per call. */
    static final int TOKENS = 65_536;

    private static final int BATCH = 16;
    private static final int STEP = 64;

    private final long[] gapNanos = new long[TOKENS];
    private final String[] requestIds = new String[STEP];
    private final DurationCounter histogram = new DurationCounter();

    /** For JMH: gaps of a step alike, a stall now and then. */
    public StatisticsBench() {
        SplittableRandom random = new SplittableRandom(3);
        long step = 0;
        for (int i = 0; i < TOKENS; i++) {
            if (i % STEP == 0) {
                step = 22_000_000 + random.nextLong(4_000_000);
            }
            gapNanos[i] = random.nextInt(500) == 0 ? step + random.nextLong(400_000_000) : step;
        }
        for (int i = 0; i < STEP; i++) {
            requestIds[i] = "request-" + i;
        }
    }

    /** A duration into the histogram alone. */
    @Benchmark
    public void histogramRecord(Blackhole hole) {
        for (long nanos : gapNanos) {
            histogram.record(nanos);
        }
        hole.consume(histogram);
    }

    /** A duration into its pane, with the longest remembered, a look-up per batch, shipped every four steps. */
    @Benchmark
    public void paneRecord(Blackhole hole) {
        PaneCounter counter = new PaneCounter(hole::consume);
        for (int i = 0; i < TOKENS; ) {
            String requestId = requestIds[i / BATCH % STEP];
            PaneCounter.Slot slot = counter.slot(Metric.GAP, "model", "engine-0", 0, i);
            for (int k = 0; k < BATCH; k++) {
                slot.record(gapNanos[i], requestId, i);
                i++;
            }
            if (i % (4 * STEP) == 0) {
                counter.ship();
            }
        }
    }

    /** A step into the series of blocks, its share per token: moments at 24 lags every 8th step. */
    @Benchmark
    public void covarianceStep(Blackhole hole) {
        BlockSeries series = new BlockSeries();
        for (int i = 0; i < TOKENS; i += STEP) {
            MomentPane pane = series.step(i, gapNanos[i], 24_000_000, STEP, 100_000L + i, STEP, i % 7);
            if (pane != null) {
                hole.consume(pane);
            }
        }
        hole.consume(series);
    }

    /** Everything from a second of an engine once more: merged, given back, and its quantiles, its share per token. */
    @Benchmark
    public void slide(Blackhole hole) {
        DurationHistogram pane = histogramOf(0);
        DurationHistogram window = histogramOf(TOKENS / 2);
        DurationHistogram sum = window.plus(pane);
        hole.consume(sum.quantileNanos(5_000));
        hole.consume(sum.quantileNanos(9_900));
        hole.consume(sum.medianAbsoluteDeviationNanos());
        hole.consume(sum.minus(window));
    }

    private DurationHistogram histogramOf(int from) {
        DurationCounter counter = new DurationCounter();
        for (int i = from; i < from + TOKENS / 2; i++) {
            counter.record(gapNanos[i]);
        }
        return counter.histogram();
    }
}
