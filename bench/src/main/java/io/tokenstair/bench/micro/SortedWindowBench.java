package io.tokenstair.bench.micro;

import io.tokenstair.job.step.EngineState;
import io.tokenstair.job.window.SortedWindow;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Nanoseconds per value of a full window, paid several times per step and never per token. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class SortedWindowBench {
    private final SplittableRandom random = new SplittableRandom(7);
    private final SortedWindow window = new SortedWindow(EngineState.REFERENCE_STEPS);

    /** For JMH: a full window. */
    public SortedWindowBench() {
        for (int i = 0; i < 2 * EngineState.REFERENCE_STEPS; i++) {
            window.add(random.nextLong(1_000_000));
        }
    }

    /** A value in, the oldest out. */
    @Benchmark
    public long add() {
        window.add(random.nextLong(1_000_000));
        return window.median();
    }

    /** Distance around the median. */
    @Benchmark
    public long medianAbsoluteDeviation() {
        return window.medianAbsoluteDeviation();
    }
}
