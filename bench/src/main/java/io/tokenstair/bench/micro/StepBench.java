package io.tokenstair.bench.micro;

import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.staircase.StaircaseDetector;
import io.tokenstair.job.staircase.StaircaseState;
import io.tokenstair.job.step.StepLoad;
import io.tokenstair.job.step.StepTimeModel;
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

/** Nanoseconds per step of what is paid per step: per token it is the 64th part at a batch of 64. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(StepBench.STEPS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class StepBench {
    static final int STEPS = 1_024;

    private final StepLoad[] loads = new StepLoad[STEPS];
    private final long[] stepNanos = new long[STEPS];
    private final EngineRecords engine = new EngineRecords();

    /** For JMH: decode-only steps of a growing batch. */
    public StepBench() {
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < STEPS; i++) {
            int sequences = 32 + random.nextInt(64);
            loads[i] = StepLoad.decodeOnly(sequences, sequences * 600L);
            stepNanos[i] = 12_000_000 + sequences * 160_000L + random.nextLong(200_000);
        }
    }

    /** The step time model: a prediction, then learning from the step. */
    @Benchmark
    public void stepTimeModel(Blackhole hole) {
        StepTimeModel.State model = new StepTimeModel.State();
        for (int i = 0; i < STEPS; i++) {
            hole.consume(StepTimeModel.predictNanos(model, loads[i]));
            StepTimeModel.learn(model, loads[i], stepNanos[i]);
        }
    }

    /** The full staircase detector on the step stream. */
    @Benchmark
    public void fullStaircaseDetector(Blackhole hole) {
        StaircaseState state = StaircaseDetector.FULL.start();
        for (int i = 0; i < STEPS; i++) {
            hole.consume(StaircaseDetector.FULL.accept(state, i, stepNanos[i], 22_000_000, 0));
        }
    }

    /** The header of a record, all that is read of it before its engine has it. */
    @Benchmark
    public void peekRecord(Blackhole hole) {
        for (int i = 0; i < STEPS; i++) {
            hole.consume(RawRecord.of(engine.bytes()[i], "log", i));
        }
    }
}
