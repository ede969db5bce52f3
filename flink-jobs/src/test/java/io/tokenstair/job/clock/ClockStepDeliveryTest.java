package io.tokenstair.job.clock;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.clock.ClockGraph;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.EventRoutes;
import io.tokenstair.job.request.Lived;
import io.tokenstair.job.request.RequestInput;
import io.tokenstair.job.request.RequestLife;
import io.tokenstair.job.request.RequestState;
import io.tokenstair.job.step.EngineState;
import io.tokenstair.job.step.EngineTimeline;
import io.tokenstair.job.step.Told;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The clock of a host steps while a request is served, and nothing is slow: what was delivered around the step has no delivery that is known,
 * nothing has one that is wrong, and nothing is called late.
 */
class ClockStepDeliveryTest {
    private static final long MS = ClockFleet.MS;
    private static final long SECOND = ClockFleet.SECOND;
    private static final int TOKENS = 700;
    private static final long STEP_AT = 36 * SECOND + 7 * MS;

    private static Stream<Arguments> steps() {
        List<Arguments> cases = new ArrayList<>();
        for (String clockId : List.of(
                ClockFleet.CLIENT_CLOCK, ClockFleet.PROCESS_CLOCK, ClockFleet.GATEWAY_CLOCK, ClockFleet.ENGINE_CLOCK)) {
            for (long by : new long[] {3 * SECOND, -3 * SECOND, 2 * MS, -2 * MS, 40 * SECOND}) {
                for (int tokensPerSample : new int[] {1, 10, 50, 200}) {
                    cases.add(Arguments.of(clockId, by, tokensPerSample));
                }
            }
        }
        return cases.stream();
    }

    /** What an engine's timeline and the life of request "x" say, who both have the segments of all samples. */
    private static Lived analysed(ClockFleet fleet) {
        List<LoggedEvent> events = new ArrayList<>(fleet.events);
        events.sort(Comparator.comparing(LoggedEvent::header, EventHeader.ORDER));
        ClockGraph clocks = Segments.of(events).graph();
        EngineState state = new EngineState();
        state.engineId = ClockFleet.ENGINE;
        Told told = new Told();
        EngineTimeline engine = new EngineTimeline(state, told, clocks);
        List<RequestInput> inputs = new ArrayList<>();
        for (LoggedEvent logged : events) {
            byte[] bytes = EventCodec.encode(logged);
            if (EventRoutes.engineOf(logged.event()) != null) {
                engine.accept(logged, bytes);
            }
            if (EventRoutes.requestOf(logged.event()) != null) {
                EventHeader header = logged.header();
                inputs.add(RequestInput.observed(
                        "x",
                        Objects.requireNonNull(header.coarseEpochMillis()),
                        header.collectorId(),
                        header.collectorEpoch(),
                        header.sequence(),
                        bytes));
            }
        }
        engine.finish();
        told.batches.forEach(batch -> inputs.add(RequestInput.of(batch)));
        told.facts.forEach(fact -> inputs.add(RequestInput.of(fact)));
        Lived lived = new Lived();
        RequestLife life = new RequestLife("x", new RequestState(), lived, clocks);
        inputs.stream().sorted(RequestInput.ORDER).forEach(life::accept);
        life.finish();
        return lived;
    }

    @ParameterizedTest(name = "{0} by {1} ns, a sample every {2} tokens")
    @MethodSource("steps")
    void aStepMakesNothingLateAndNothingThatIsWrong(String clockId, long byNanos, int tokensPerSample) {
        boolean client = clockId.equals(ClockFleet.CLIENT_CLOCK);
        String observer = client ? "client" : "gateway";
        String observed = client ? ClockFleet.CLIENT_CLOCK : ClockFleet.PROCESS_CLOCK;
        ClockFleet fleet = new ClockFleet().steps(clockId, STEP_AT, byNanos).samplesEvery(tokensPerSample);
        fleet.idle(20 * SECOND, true)
                .request("x", observer, observed, TOKENS, true, token -> 3 * MS + token % 5 * 10_000)
                .idle(10 * SECOND, true);

        List<TokenAnalysis> tokens = analysed(fleet).tokens;

        assertThat(tokens).hasSize(TOKENS);
        int unknown = 0;
        for (TokenAnalysis token : tokens) {
            assertThat(token.deliveryCause()).as("token %d", token.tokenIndex()).isNull();
            if (token.deliveryNanos() == null) {
                unknown++;
                assertThat(token.missingLayers()).contains("clocks");
                assertThat(token.deliveredEpochNanos()).isNull();
                assertThat(token.deliveredBoundNanos()).isNull();
            } else {
                long truth = Objects.requireNonNull(fleet.truth.get("x@" + token.tokenIndex()));
                assertThat(Math.abs(token.deliveryNanos() - truth))
                        .as("token %d", token.tokenIndex())
                        .isLessThanOrEqualTo(Objects.requireNonNull(token.deliveredBoundNanos()));
            }
        }
        // Ten seconds around the step at most, of fourteen.
        assertThat(unknown).isBetween(1, 550);
    }
}
