package io.tokenstair.bench.micro;

import io.tokenstair.job.step.BatchBucket;
import io.tokenstair.job.step.GraphMode;
import io.tokenstair.job.step.StepExpectation;
import io.tokenstair.job.step.StepLoad;
import io.tokenstair.job.step.StepTimeModel;
import io.tokenstair.job.step.StepTimeSnapshot;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** What the step time model costs, ns per step: expectation with Shapley values, and learning with publishing. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class StepTimeBench {
    private static final int STEPS = 8_192;

    private final StepLoad[] loads = new StepLoad[STEPS];
    private final long[] nanos = new long[STEPS];
    private StepTimeModel.State model = new StepTimeModel.State();
    private StepTimeSnapshot snapshot = new StepTimeSnapshot();
    private int at;

    /** Makes steps of 1 to 256 sequences, one in eight with a chunk of a prompt, and learns them once. */
    @Setup
    public void steps() {
        Random random = new Random(5);
        for (int i = 0; i < STEPS; i++) {
            int sequences = 1 + random.nextInt(256);
            boolean prompt = random.nextInt(8) == 0;
            GraphMode mode = prompt ? GraphMode.PIECEWISE : GraphMode.FULL;
            int chunk = prompt ? 16 + random.nextInt(496) : 0;
            int padded = BatchBucket.paddedCount(sequences, sequences, chunk, 0, mode);
            loads[i] =
                    new StepLoad(sequences, padded, mode, 700L * sequences, chunk, 0, StepLoad.pairs(chunk, chunk), 0);
            double mean = 9e6 + 2e6 * (padded / 64) + 5e4 * sequences + 33e3 * chunk;
            nanos[i] = Math.round(mean * (1 + 0.015 * random.nextGaussian()));
        }
        for (int i = 0; i < STEPS; i++) {
            learn();
        }
    }

    /** Learns a step, and publishes a version when one is due. */
    @Benchmark
    public StepTimeSnapshot learn() {
        int i = at++ & (STEPS - 1);
        StepTimeModel.learn(model, loads[i], nanos[i]);
        snapshot = StepTimeModel.publish(model, snapshot, loads[i], loads[0], at);
        return snapshot;
    }

    /** What a step should take, and why more than usual. */
    @Benchmark
    public StepExpectation expect() {
        return snapshot.expect(loads[at++ & (STEPS - 1)]);
    }
}
