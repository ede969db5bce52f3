package io.tokenstair.job.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.job.step.RandomEngine;
import io.tokenstair.job.step.Told;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What holds for every request of a random engine with random clients, by seed. */
class RequestLifePropertyTest {
    private static final int STEPS = 400;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void everyTokenOfTheEngineComesOnceWithItsGap(long seed) {
        Told told = RandomEngine.script(seed, STEPS).told();
        for (RequestScript script : RandomClients.scripts(told, seed)) {
            Lived lived = script.lived();
            Map<Integer, TokenAnalysis> byIndex = new HashMap<>();
            lived.tokens.forEach(
                    token -> assertThat(byIndex.put(token.tokenIndex(), token)).isNull());

            String requestId = lived.request().requestId();
            assertThat(lived.tokens).hasSameSizeAs(told.tokens(requestId));
            assertThat(lived.request().tokenCount()).isEqualTo(lived.tokens.size());
            for (Told.Token token : told.tokens(requestId)) {
                assertThat(byIndex.get(token.index()))
                        .extracting(TokenAnalysis::stepId, TokenAnalysis::gapNanos)
                        .containsExactly(token.stepId(), token.gapNanos());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13, 14, 15})
    void whenItIsAskedMakesNoDifference(long seed) {
        Random random = new Random(seed);
        for (RequestScript script :
                RandomClients.scripts(RandomEngine.script(seed, STEPS).told(), seed)) {
            List<RequestInput> inputs = script.inputs();
            assertThat(lived(inputs, null).said())
                    .isEqualTo(lived(inputs, random).said());
        }
    }

    /** Feeds the inputs, and where {@code asking} says so asks in between what has ended. */
    private static Lived lived(List<RequestInput> inputs, @Nullable Random asking) {
        Lived lived = new Lived();
        RequestState state = new RequestState();
        String requestId = inputs.get(0).requestId;
        long complete = Long.MIN_VALUE;
        for (RequestInput input : inputs) {
            long before = input.coarseEpochMillis - 1;
            if (asking != null && before > complete && asking.nextInt(3) == 0) {
                complete = before - Math.min(before - complete - 1, asking.nextInt(5));
                new RequestLife(requestId, state, lived).advance(complete);
            }
            new RequestLife(requestId, state, lived).accept(input);
        }
        if (asking != null) {
            RequestLife life = new RequestLife(requestId, state, lived);
            while (life.nextEndMillis() != Long.MAX_VALUE) {
                life.advance(life.nextEndMillis() + 1 + asking.nextInt(1_000));
            }
            assertThat(state.open).isEmpty();
            assertThat(state.lifetimesSoFar).isZero();
        }
        new RequestLife(requestId, state, lived).finish();
        return lived;
    }

    @ParameterizedTest
    @ValueSource(longs = {21, 22, 23})
    void everyRowOfARequestIsListed(long seed) {
        Told told = RandomEngine.script(seed, STEPS).told();
        assertThat(RandomClients.scripts(told, seed))
                .extracting(script -> script.lived().request())
                .allSatisfy(request -> {
                    assertThat(request.state()).isIn("complete", "gap", "incomplete");
                    assertThat(request.endReason()).isIn("length", "stop", "aborted-by-client", "error", "unknown");
                    assertThat(request.lifetime()).isZero();
                })
                .extracting(RequestAnalysis::requestId)
                .doesNotHaveDuplicates();
    }
}
