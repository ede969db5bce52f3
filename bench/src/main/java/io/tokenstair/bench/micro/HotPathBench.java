package io.tokenstair.bench.micro;

import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.job.request.RequestInput;
import io.tokenstair.job.request.RequestInputSerializer;
import io.tokenstair.job.request.RequestLife;
import io.tokenstair.job.request.RequestState;
import io.tokenstair.job.staircase.StaircaseDetector;
import io.tokenstair.job.staircase.StaircaseState;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/** Nanoseconds per token of each stage a token passes, on one engine's records and without Flink around them. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(EngineRecords.TOKENS)
@Fork(1)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
public class HotPathBench {
    private final EngineRecords engine = new EngineRecords();
    private final Map<String, List<RequestInput>> requests = new LinkedHashMap<>();
    private final RequestInputSerializer serializer = new RequestInputSerializer();
    private final DataOutputSerializer out = new DataOutputSerializer(1 << 20);
    private final DataInputDeserializer in = new DataInputDeserializer();
    private final long[] gapNanos = new long[EngineRecords.TOKENS];
    private List<RequestInput> inputs = List.of();

    /** For JMH. */
    public HotPathBench() {}

    /** Runs the engine once, so that requests have something to hear. */
    @Setup
    public void prepare() {
        inputs = engine.inputs();
        for (RequestInput input : inputs) {
            requests.computeIfAbsent(input.requestId, id -> new ArrayList<>()).add(input);
        }
        requests.values().forEach(all -> all.sort(RequestInput.ORDER));
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < gapNanos.length; i++) {
            gapNanos[i] = 22_000_000 + random.nextLong(400_000);
        }
    }

    /** Bytes of a log to events. */
    @Benchmark
    public void decodeSteps(Blackhole hole) throws WireException {
        for (byte[] bytes : engine.bytes()) {
            hole.consume(EventCodec.decode(bytes));
        }
    }

    /** Events to bytes of a log: what a collector pays. */
    @Benchmark
    public void encodeSteps(Blackhole hole) {
        for (LoggedEvent event : engine.events()) {
            hole.consume(EventCodec.encode(event));
        }
    }

    /** Steps to judged tokens. */
    @Benchmark
    public void engineTimeline(Blackhole hole) {
        engine.tell(EngineRecords.engineTo(hole));
    }

    /** Judged tokens to bytes between operators and back, without unpacking. */
    @Benchmark
    public void exchange(Blackhole hole) throws IOException {
        for (RequestInput input : inputs) {
            out.clear();
            serializer.serialize(input, out);
            in.setBuffer(out.getSharedBuffer(), 0, out.length());
            hole.consume(serializer.deserialize(in));
        }
    }

    /** Judged tokens to token analyses, findings and closed requests. */
    @Benchmark
    public void requestLife(Blackhole hole) {
        for (Map.Entry<String, List<RequestInput>> request : requests.entrySet()) {
            RequestLife life = new RequestLife(request.getKey(), new RequestState(), EngineRecords.requestTo(hole));
            for (RequestInput input : request.getValue()) {
                life.accept(input);
            }
            life.finish();
        }
    }

    /** The staircase detector of a request alone, one long series. */
    @Benchmark
    public void staircaseDetector(Blackhole hole) {
        staircases(StaircaseDetector.COMPACT, hole);
    }

    /** The staircase detector of an engine's steps alone: nanoseconds per step. */
    @Benchmark
    public void staircaseDetectorOfSteps(Blackhole hole) {
        staircases(StaircaseDetector.FULL, hole);
    }

    private void staircases(StaircaseDetector detector, Blackhole hole) {
        StaircaseState state = detector.start();
        for (int i = 0; i < gapNanos.length; i++) {
            hole.consume(detector.accept(state, i, gapNanos[i], 22_200_000, i % 50 == 0 ? 1 : 0));
        }
        hole.consume(detector.verdict(state));
    }
}
