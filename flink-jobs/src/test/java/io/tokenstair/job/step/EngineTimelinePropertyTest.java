package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Cause.Level;
import io.tokenstair.cause.Part;
import io.tokenstair.clock.ClockGraph;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.clock.Segments;
import io.tokenstair.job.statistics.DurationPane;
import io.tokenstair.job.statistics.PaneCounter;
import io.tokenstair.job.statistics.StatisticsOutput;
import io.tokenstair.job.step.Told.Token;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What holds whatever the engine does, on random schedules by seed. */
class EngineTimelinePropertyTest {
    private static final int STEPS = 600;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void partsSumToTheGapAndSlowTokensHaveACauseOfTokens(long seed) {
        Told told = RandomEngine.script(seed, STEPS).told();

        assertThat(told.tokens()).hasSizeGreaterThan(STEPS);
        for (Token token : told.tokens()) {
            if (token.gapNanos() == null) {
                assertThat(token.parts()).isEmpty();
            } else {
                assertThat(token.gapNanos()).isNotNegative();
                assertThat(token.sum()).as(token.text()).isEqualTo(token.gapNanos());
            }
            assertThat(token.slow() != null).isEqualTo(token.is(TokenBatch.SLOW));
            Cause cause = token.cause();
            if (cause != null) {
                assertThat(token.referenceNanos()).as(token.text()).isNotNull();
                assertThat(cause.levels()).contains(Level.TOKEN);
                assertThat(token.culprit()).as(token.text()).isNotEqualTo(token.requestId());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13, 14, 15})
    void partsOfAMechanismNeedItsEvidence(long seed) {
        Told told = RandomEngine.script(seed, STEPS).told();
        Map<String, Long> lost = new HashMap<>();
        told.facts(SequenceFact.Kind.PREEMPTED).forEach(fact -> lost.put(fact.name.engineRequestId, fact.clockNanos));

        for (Token token : told.tokens()) {
            if (token.parts().containsKey(Part.RECOMPUTE_OWN)) {
                assertThat(token.is(TokenBatch.RECOMPUTED)).isTrue();
                assertThat(lost).containsKey(token.engineRequestId());
            }
            if (token.parts().containsKey(Part.PREEMPTED_WAIT)) {
                assertThat(lost).containsKey(token.engineRequestId());
            }
            if (token.parts().containsKey(Part.QUEUE_WAIT)) {
                assertThat(token.index()).isZero();
            }
            if (token.parts().containsKey(Part.HOST_CONTENTION) || token.parts().containsKey(Part.HOST_PAUSE)) {
                assertThat(token.is(TokenBatch.HOST_COVERED)).isTrue();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {21, 22, 23, 24, 25})
    void everyTokenComesOnceAndInOrder(long seed) {
        EngineScript engine = RandomEngine.script(seed, STEPS);
        Told told = engine.told();
        Map<String, Integer> next = new HashMap<>();
        for (TokenBatch batch : told.batches) {
            assertThat(batch.count).isBetween(1, TokenBatch.CAPACITY);
            List<TokenRow> rows = Told.rows(batch);
            for (TokenRow row : rows) {
                int expected = next.getOrDefault(batch.name.requestId, 0);
                assertThat(row.tokenIndex).isEqualTo(expected);
                next.put(batch.name.requestId, expected + 1);
            }
            // Cut by the token-index grid.
            assertThat(rows.get(0).tokenIndex / TokenBatch.CAPACITY)
                    .isEqualTo(rows.get(batch.count - 1).tokenIndex / TokenBatch.CAPACITY);
        }
        for (String requestId : engine.open()) {
            assertThat(next.getOrDefault(requestId, 0)).isEqualTo(engine.madeTokens(requestId));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {41, 42, 43, 44, 45, 46, 47, 48})
    void judgingAlikeTokensTogetherMakesNoDifference(long seed) {
        EngineScript engine = RandomEngine.script(seed, STEPS);
        EngineState state = new EngineState();
        state.engineId = EngineScript.ENGINE;
        Told one = new Told();
        EngineTimeline timeline =
                new EngineTimeline(state, one, Segments.of(engine.events()).graph(), false);
        for (LoggedEvent event : engine.events()) {
            timeline.accept(event, EventCodec.encode(event));
        }
        timeline.finish();

        assertThat(engine.told().said()).isEqualTo(one.said());
    }

    @ParameterizedTest
    @ValueSource(longs = {51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62})
    void holdingTokensOfSeveralStepsMakesNoDifference(long seed) {
        EngineScript engine = seed % 2 == 0 ? RandomEngine.script(seed, STEPS) : RandomEngine.steady(seed, STEPS);
        List<DurationPane> panes = new ArrayList<>();
        List<String> one = taken(engine, 1, panes).said();
        assertThat(panes).isNotEmpty();
        for (int events : new int[] {3, 40, 1_000_000}) {
            List<DurationPane> ofHeld = new ArrayList<>();
            assertThat(taken(engine, events, ofHeld).said()).isEqualTo(one);
            assertThat(ofHeld).usingRecursiveComparison().isEqualTo(panes);
        }
    }

    /** Feeds everything, so many events at a time, to timelines made anew for every time as in the job. */
    private static Told taken(EngineScript engine, int events, List<DurationPane> panes) {
        EngineState state = new EngineState();
        state.engineId = EngineScript.ENGINE;
        Told told = new Told();
        ClockGraph clocks = Segments.of(engine.events()).graph();
        PaneCounter counter = new PaneCounter(panes::add);
        EngineTimeline timeline = new EngineTimeline(state, told, clocks, StatisticsOutput.NOWHERE, counter);
        int taken = 0;
        for (LoggedEvent event : engine.events()) {
            // Decoded, as in the job: that all rows of a step decode one token is known of such ones only.
            byte[] bytes = EventCodec.encode(event);
            timeline.take(EngineState.decode(bytes), bytes);
            if (++taken % events == 0) {
                timeline.settle();
                timeline = new EngineTimeline(state, told, clocks, StatisticsOutput.NOWHERE, counter);
            }
        }
        timeline.finish();
        counter.ship();
        return told;
    }

    @ParameterizedTest
    @ValueSource(longs = {31, 32, 33, 34, 35, 36, 37, 38, 39, 40})
    void whenItIsAskedMakesNoDifference(long seed) {
        EngineScript engine = RandomEngine.script(seed, STEPS);
        List<String> unasked = engine.told().said();
        for (int round = 0; round < 3; round++) {
            assertThat(asked(engine, new Random(seed + 1_000 * round)).said()).isEqualTo(unasked);
        }
    }

    /** Feeds everything, and now and then says that event time has gone on. */
    private static Told asked(EngineScript engine, Random random) {
        EngineState state = new EngineState();
        state.engineId = EngineScript.ENGINE;
        Told told = new Told();
        ClockGraph clocks = Segments.of(engine.events()).graph();
        EngineTimeline timeline = new EngineTimeline(state, told, clocks);
        long complete = Long.MIN_VALUE;
        for (LoggedEvent event : engine.events()) {
            long before = Objects.requireNonNull(event.header().coarseEpochMillis()) - 1;
            if (before > complete && random.nextInt(3) == 0) {
                complete = before - (random.nextBoolean() ? 0 : Math.min(before - complete - 1, random.nextInt(5)));
                // A timeline is made anew for every call in the job.
                timeline = new EngineTimeline(state, told, clocks);
                timeline.advance(complete);
            }
            timeline.accept(event, EventCodec.encode(event));
        }
        timeline.finish();
        return told;
    }
}
