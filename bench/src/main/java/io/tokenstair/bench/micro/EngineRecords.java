package io.tokenstair.bench.micro;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.bench.Fleet;
import io.tokenstair.bench.FleetSize;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.job.request.RequestInput;
import io.tokenstair.job.request.RequestOutput;
import io.tokenstair.job.request.TokenRun;
import io.tokenstair.job.step.EngineOutput;
import io.tokenstair.job.step.EngineState;
import io.tokenstair.job.step.EngineTimeline;
import io.tokenstair.job.step.SequenceFact;
import io.tokenstair.job.step.TokenBatch;
import io.tokenstair.milestone.Milestone;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.infra.Blackhole;

/** The records of one engine that makes {@link #TOKENS} tokens, and what its timeline says of them. */
final class EngineRecords {
    /** Tokens of the engine: 1024 steps of 64 sequences. */
    static final int TOKENS = 65_536;

    private static final int SEQUENCES = 64;

    /** Events that a timeline takes at a time, about as many as in the job. */
    private static final int DRAINED = 24;

    private final byte[][] bytes;
    private final LoggedEvent[] events;

    EngineRecords() {
        bytes = Fleet.of(new FleetSize(TOKENS, SEQUENCES, SEQUENCES, 1, false)).partition(0);
        events = new LoggedEvent[bytes.length];
        try {
            for (int i = 0; i < bytes.length; i++) {
                events[i] = EventCodec.decode(bytes[i]);
            }
        } catch (WireException e) {
            throw new IllegalStateException("Cannot read a record of the fleet", e);
        }
    }

    byte[][] bytes() {
        return bytes;
    }

    LoggedEvent[] events() {
        return events;
    }

    /** Runs them through a new timeline. */
    void tell(EngineOutput output) {
        EngineState state = new EngineState();
        state.engineId = "engine-0";
        EngineTimeline timeline = new EngineTimeline(state, output);
        for (int i = 0; i < events.length; i++) {
            timeline.take(events[i], bytes[i]);
            if (i % DRAINED == 0) {
                timeline.settle();
            }
        }
        timeline.finish();
    }

    /** What its requests hear. */
    List<RequestInput> inputs() {
        List<RequestInput> inputs = new ArrayList<>();
        tell(new EngineOutput() {
            @Override
            public void tokens(TokenBatch batch) {
                inputs.add(RequestInput.of(batch));
            }

            @Override
            public void fact(SequenceFact fact) {
                inputs.add(RequestInput.of(fact));
            }

            @Override
            public void step(StepAnalysis step) {
                // Requests do not hear of steps.
            }

            @Override
            public void finding(Finding finding) {
                // Nor of what is said of the engine.
            }
        });
        return inputs;
    }

    /** Hands everything to a black hole. */
    static EngineOutput engineTo(Blackhole hole) {
        return new EngineOutput() {
            @Override
            public void tokens(TokenBatch batch) {
                hole.consume(batch);
            }

            @Override
            public void fact(SequenceFact fact) {
                hole.consume(fact);
            }

            @Override
            public void step(StepAnalysis step) {
                hole.consume(step);
            }

            @Override
            public void finding(Finding finding) {
                hole.consume(finding);
            }
        };
    }

    /** Hands everything to a black hole. */
    static RequestOutput requestTo(Blackhole hole) {
        return new RequestOutput() {
            @Override
            public void token(TokenAnalysis token) {
                hole.consume(token);
            }

            @Override
            public void tokens(TokenRun run) {
                hole.consume(run);
            }

            @Override
            public void request(RequestAnalysis request) {
                hole.consume(request);
            }

            @Override
            public void finding(Finding finding) {
                hole.consume(finding);
            }

            @Override
            public void milestone(Milestone milestone) {
                hole.consume(milestone);
            }
        };
    }
}
