package io.tokenstair.bench.micro;

import io.tokenstair.job.request.RequestInput;
import io.tokenstair.job.request.RequestLife;
import io.tokenstair.job.request.RequestState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Nanoseconds per token of closing requests: what waits is sent, the row of the request and its findings are made. A closed request is
 * gone, so their lives are lived anew before each call; a call closes all requests of an engine and takes about a millisecond, so the
 * clock is read often enough.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(EngineRecords.TOKENS)
@Fork(1)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
public class ClosingBench {
    private final Map<String, List<RequestInput>> requests = new LinkedHashMap<>();
    private final List<RequestLife> lives = new ArrayList<>();

    /** For JMH: what requests of an engine hear. */
    public ClosingBench() {
        for (RequestInput input : new EngineRecords().inputs()) {
            requests.computeIfAbsent(input.requestId, id -> new ArrayList<>()).add(input);
        }
        requests.values().forEach(all -> all.sort(RequestInput.ORDER));
    }

    /** Lives up to the end of each request. */
    @Setup(Level.Invocation)
    public void live(Blackhole hole) {
        lives.clear();
        for (Map.Entry<String, List<RequestInput>> request : requests.entrySet()) {
            RequestLife life = new RequestLife(request.getKey(), new RequestState(), EngineRecords.requestTo(hole));
            for (RequestInput input : request.getValue()) {
                life.accept(input);
            }
            lives.add(life);
        }
    }

    /** Closes all requests. */
    @Benchmark
    public void closeRequests() {
        for (RequestLife life : lives) {
            life.finish();
        }
    }
}
