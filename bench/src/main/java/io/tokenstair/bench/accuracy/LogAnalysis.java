package io.tokenstair.bench.accuracy;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.clock.ClockGraph;
import io.tokenstair.event.ClockFitted;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.EventRoutes;
import io.tokenstair.job.clock.ClockFitting;
import io.tokenstair.job.clock.FittingState;
import io.tokenstair.job.clock.PublishedSegment;
import io.tokenstair.job.request.RequestInput;
import io.tokenstair.job.request.RequestLife;
import io.tokenstair.job.request.RequestOutput;
import io.tokenstair.job.request.RequestState;
import io.tokenstair.job.step.EngineOutput;
import io.tokenstair.job.step.EngineState;
import io.tokenstair.job.step.EngineTimeline;
import io.tokenstair.job.step.SequenceFact;
import io.tokenstair.job.step.TokenBatch;
import io.tokenstair.milestone.Milestone;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the product says of a log, without a job: its engines in total order, then each request. An event that comes twice counts once. */
final class LogAnalysis implements EngineOutput, RequestOutput {
    final List<TokenAnalysis> tokens = new ArrayList<>();
    final List<Finding> findings = new ArrayList<>();
    final List<StepAnalysis> steps = new ArrayList<>();
    final List<Milestone> milestones = new ArrayList<>();

    private final Map<String, EngineTimeline> engines = new TreeMap<>();
    private final Map<String, List<RequestInput>> inputs = new TreeMap<>();

    private final ClockGraph clocks = new ClockGraph();

    private LogAnalysis() {}

    static LogAnalysis of(List<LoggedEvent> log) {
        LogAnalysis analysis = new LogAnalysis();
        List<LoggedEvent> ordered = new ArrayList<>(log);
        ordered.sort(Comparator.comparing(LoggedEvent::header, EventHeader.ORDER));
        ordered = once(ordered);
        analysis.fit(ordered);
        ordered.forEach(analysis::accept);
        analysis.finish();
        return analysis;
    }

    private static List<LoggedEvent> once(List<LoggedEvent> ordered) {
        List<LoggedEvent> kept = new ArrayList<>(ordered.size());
        for (LoggedEvent logged : ordered) {
            EventHeader before =
                    kept.isEmpty() ? null : kept.get(kept.size() - 1).header();
            if (before == null || EventHeader.ORDER.compare(before, logged.header()) != 0) {
                kept.add(logged);
            }
        }
        return kept;
    }

    /** Fits all clocks ahead: which segment aligns a stamp depends on event time alone. */
    private void fit(List<LoggedEvent> ordered) {
        ClockFitting fitting = new ClockFitting(new FittingState(), new ClockFitting.Output() {
            @Override
            public void published(PublishedSegment segment) {
                clocks.add(segment.segment(), segment.publishedMillis());
            }

            @Override
            public void made(LoggedEvent event) {
                // For the archive.
            }
        });
        for (LoggedEvent logged : ordered) {
            if (logged.event() instanceof ClockSampled || logged.event() instanceof ClockFitted) {
                fitting.accept(logged);
            }
        }
    }

    private void accept(LoggedEvent logged) {
        byte[] bytes = EventCodec.encode(logged);
        String engineId = EventRoutes.engineOf(logged.event());
        if (engineId != null) {
            engines.computeIfAbsent(engineId, this::engine).accept(logged, bytes);
        }
        String requestId = EventRoutes.requestOf(logged.event());
        if (requestId != null) {
            EventHeader header = logged.header();
            Long millis = header.coarseEpochMillis();
            input(RequestInput.observed(
                    requestId,
                    millis == null ? Long.MAX_VALUE : millis,
                    header.collectorId(),
                    header.collectorEpoch(),
                    header.sequence(),
                    bytes));
        }
    }

    private EngineTimeline engine(String engineId) {
        EngineState state = new EngineState();
        state.engineId = engineId;
        return new EngineTimeline(state, this, clocks);
    }

    private void finish() {
        engines.values().forEach(EngineTimeline::finish);
        inputs.forEach((requestId, list) -> {
            RequestLife life = new RequestLife(requestId, new RequestState(), this, clocks);
            list.stream().sorted(RequestInput.ORDER).forEach(life::accept);
            life.finish();
        });
        inputs.clear();
    }

    private void input(RequestInput input) {
        inputs.computeIfAbsent(input.requestId, id -> new ArrayList<>()).add(input);
    }

    @Override
    public void tokens(TokenBatch batch) {
        input(RequestInput.of(batch));
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
        tokens.add(token);
    }

    @Override
    public void request(RequestAnalysis request) {
        // Their causes are findings too.
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
