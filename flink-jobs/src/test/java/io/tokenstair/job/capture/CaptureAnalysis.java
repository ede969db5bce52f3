package io.tokenstair.job.capture;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.clock.ClockGraph;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.job.EventRoutes;
import io.tokenstair.job.clock.Segments;
import io.tokenstair.job.request.RequestInput;
import io.tokenstair.job.request.RequestLife;
import io.tokenstair.job.request.RequestOutput;
import io.tokenstair.job.request.RequestState;
import io.tokenstair.job.step.EngineOutput;
import io.tokenstair.job.step.EngineState;
import io.tokenstair.job.step.EngineTimeline;
import io.tokenstair.job.step.SequenceFact;
import io.tokenstair.job.step.TokenBatch;
import io.tokenstair.log.FolderLogReader;
import io.tokenstair.milestone.Milestone;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A log through the pure analysis, without Flink: engines in log order, then every request over its sorted inputs. What the job does
 * on a cluster must be the same; another test compares the two.
 */
final class CaptureAnalysis implements EngineOutput, RequestOutput {
    final Map<String, TokenAnalysis> tokens = new TreeMap<>();
    final Map<String, RequestAnalysis> requests = new TreeMap<>();
    final List<Finding> findings = new ArrayList<>();
    final List<Milestone> milestones = new ArrayList<>();
    final List<StepAnalysis> steps = new ArrayList<>();

    private final Map<String, List<RequestInput>> inputs = new TreeMap<>();

    static CaptureAnalysis of(Path log) throws IOException, WireException {
        CaptureAnalysis analysis = new CaptureAnalysis();
        ClockGraph clocks = Segments.of(read(log)).graph();
        Map<String, EngineTimeline> engines = new TreeMap<>();
        try (FolderLogReader reader = new FolderLogReader(log.resolve("partition-0000"), 0)) {
            for (byte[] bytes = reader.next(); bytes != null; bytes = reader.next()) {
                LoggedEvent logged = EventCodec.decode(bytes);
                String engineId = EventRoutes.engineOf(logged.event());
                if (engineId != null) {
                    EngineTimeline engine = engines.get(engineId);
                    if (engine == null) {
                        EngineState state = new EngineState();
                        state.engineId = engineId;
                        engine = new EngineTimeline(state, analysis, clocks);
                        engines.put(engineId, engine);
                    }
                    engine.accept(logged, bytes);
                }
                String requestId = EventRoutes.requestOf(logged.event());
                if (requestId != null) {
                    Long millis = logged.header().coarseEpochMillis();
                    analysis.input(RequestInput.observed(
                            requestId,
                            millis == null ? Long.MAX_VALUE : millis,
                            logged.header().collectorId(),
                            logged.header().collectorEpoch(),
                            logged.header().sequence(),
                            bytes));
                }
            }
        }
        engines.values().forEach(EngineTimeline::finish);
        for (Map.Entry<String, List<RequestInput>> entry : analysis.inputs.entrySet()) {
            RequestLife life = new RequestLife(entry.getKey(), new RequestState(), analysis, clocks);
            entry.getValue().stream().sorted(RequestInput.ORDER).forEach(life::accept);
            life.finish();
        }
        return analysis;
    }

    private static List<LoggedEvent> read(Path log) throws IOException, WireException {
        List<LoggedEvent> events = new ArrayList<>();
        try (FolderLogReader reader = new FolderLogReader(log.resolve("partition-0000"), 0)) {
            for (byte[] bytes = reader.next(); bytes != null; bytes = reader.next()) {
                LoggedEvent logged = EventCodec.decode(bytes);
                if (logged.event() instanceof ClockSampled) {
                    events.add(logged);
                }
            }
        }
        return events;
    }

    static String key(String requestId, int sequenceIndex, int tokenIndex) {
        return requestId + "#" + sequenceIndex + "@" + tokenIndex;
    }

    private void input(RequestInput input) {
        inputs.computeIfAbsent(input.requestId, id -> new ArrayList<>()).add(input);
    }

    @Override
    public void tokens(TokenBatch batch) {
        input(RequestInput.of(batch));
    }

    @Override
    public void rejected(io.tokenstair.event.LoggedEvent rejected) {
        // The recorded runs are whole.
        throw new AssertionError(rejected);
    }

    @Override
    public void fact(SequenceFact fact) {
        input(RequestInput.of(fact));
    }

    @Override
    public void step(StepAnalysis step) {
        steps.add(step);
    }

    @Override
    public void token(TokenAnalysis token) {
        TokenAnalysis before = tokens.put(key(token.requestId(), token.sequenceIndex(), token.tokenIndex()), token);
        if (before != null) {
            throw new AssertionError("A token was said twice: " + token);
        }
    }

    @Override
    public void request(RequestAnalysis request) {
        requests.put(request.requestId() + "#" + request.sequenceIndex(), request);
    }

    @Override
    public void finding(Finding finding) {
        findings.add(finding);
    }

    @Override
    public void milestone(Milestone milestone) {
        milestones.add(milestone);
    }
}
