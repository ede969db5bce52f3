package io.tokenstair.job.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.event.Finish;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.job.step.EngineScript;
import io.tokenstair.job.step.EngineScript.Step;
import io.tokenstair.job.step.SequenceFact;
import io.tokenstair.job.step.SequenceName;
import io.tokenstair.job.step.Told;
import io.tokenstair.milestone.MilestoneKind;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** How one request id is joined, closed and concluded on. */
class RequestLifeTest {
    private static final long MILLIS = 1_000_000;
    private static final long SECOND = 1_000 * MILLIS;
    /** A moment before every script's first step. */
    private static final long SENT = 900 * MILLIS;

    private static EngineScript ten() {
        return new EngineScript()
                .clockSampled(500)
                .start(64, "x")
                .decode(9, "x")
                .finish("x", "length");
    }

    private static RequestScript client(EngineScript engine) {
        return new RequestScript("x")
                .sent(SENT)
                .engine(engine.told())
                .delivered(engine.told(), 0, "x", 2 * MILLIS)
                .ended(engine.nowNanos() + 3 * MILLIS, "complete");
    }

    private static Lived engineOnly(EngineScript engine) {
        return new RequestScript("x").engine(engine.told()).lived();
    }

    // ---- joining

    @Test
    void aTokenKnowsWhenItWasMadeAndWhenItArrived() {
        EngineScript engine = ten();
        Lived lived = client(engine).lived();
        long epoch = EngineScript.START_EPOCH_MILLIS * MILLIS;

        assertThat(lived.tokens).extracting(TokenAnalysis::tokenIndex).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        assertThat(lived.tokens).extracting(TokenAnalysis::gapBasis).containsOnly("produced");
        assertThat(lived.tokens).extracting(TokenAnalysis::deliveryNanos).containsOnly(2 * MILLIS);
        assertThat(lived.tokens)
                .extracting(TokenAnalysis::deliveryUnexplainedNanos)
                .containsOnly(2 * MILLIS);
        assertThat(lived.token(9).producedEpochNanos()).isEqualTo(epoch + engine.lastEndNanos());
        assertThat(lived.token(9).deliveredEpochNanos()).isEqualTo(epoch + engine.lastEndNanos() + 2 * MILLIS);
    }

    @Test
    void aRequestSaysWhatBothSidesSaw() {
        EngineScript engine = ten();
        RequestAnalysis request = client(engine).lived().request();
        List<Told.Token> tokens = engine.told().tokens("x");

        assertThat(request.state()).isEqualTo("complete");
        assertThat(request.endReason()).isEqualTo("length");
        assertThat(request.tokenCount()).isEqualTo(10);
        assertThat(request.promptTokens()).isEqualTo(64);
        assertThat(request.ttftNanos()).isEqualTo(tokens.get(0).endNanos() + 2 * MILLIS - SENT);
        assertThat(request.tpotNanos())
                .isEqualTo((tokens.get(9).endNanos() - tokens.get(0).endNanos()) / 9);
        assertThat(request.preemptions()).isZero();
        assertThat(request.engines()).containsExactly(EngineScript.ENGINE);
        assertThat(request.aliases()).containsExactly(EngineScript.engineRequestId("x"));
        assertThat(request.missingLayers()).containsExactly("host-scheduling", "kv-events");
    }

    private static RequestCompleted usage(long promptTokens, long outputTokens) {
        return new RequestCompleted(
                "client", "x", "complete", 200, null, null, outputTokens, null, null, promptTokens, null, null, null);
    }

    @Test
    void whereChunksHoldMoreTokensThanTheyShowTheEnginesCountDividesTheirTime() {
        RequestAnalysis request = new RequestScript("x")
                .sent(SENT)
                .chunk(SENT + 100 * MILLIS, 0, 0, 1)
                .chunk(SENT + 150 * MILLIS, 0, 1, 1)
                .chunk(SENT + 180 * MILLIS, 0, 2, 1)
                .observed(SENT + 181 * MILLIS, usage(7, 9))
                .lived()
                .request();

        assertThat(request.tokenCount()).isEqualTo(3);
        assertThat(request.usageTokens()).isEqualTo(9);
        assertThat(request.tpotNanos()).isEqualTo(10 * MILLIS);
    }

    @Test
    void choicesOfOnePromptHaveItsLengthAndThoseOfSeveralPromptsDoNot() {
        for (Integer asked : new Integer[] {2, null}) {
            Lived lived = new RequestScript("x")
                    .sent(SENT, asked, false)
                    .chunk(SENT + 100 * MILLIS, 0, 0, 1)
                    .chunk(SENT + 101 * MILLIS, 1, 0, 1)
                    .observed(SENT + 181 * MILLIS, usage(7, 2))
                    .lived();

            assertThat(lived.requests)
                    .extracting(RequestAnalysis::promptTokens)
                    .containsExactly(asked == null ? null : 7L, asked == null ? null : 7L);
        }
    }

    @Test
    void arrivalsOnAnotherClockAreNotComparedWithTheEngines() {
        EngineScript engine = ten();
        Told told = engine.told();
        told.batches.forEach(batch -> batch.clockId = "host-b/mono");
        told.facts.forEach(fact -> fact.clockId = "host-b/mono");
        Lived lived = new RequestScript("x")
                .sent(SENT)
                .engine(told)
                .delivered(told, 0, "x", 2 * MILLIS)
                .ended(engine.nowNanos() + 3 * MILLIS, "complete")
                .lived();

        assertThat(lived.tokens)
                .hasSize(10)
                .extracting(TokenAnalysis::deliveryNanos)
                .containsOnlyNulls();
        assertThat(lived.tokens).extracting(TokenAnalysis::deliveredEpochNanos).containsOnlyNulls();
        assertThat(lived.request().ttftNanos()).isPositive();
    }

    @Test
    void otherNamesOfARequestAreListed() {
        RequestScript script = client(ten()).observed(SENT + MILLIS, new IdAliased("x", "name at the proxy", "proxy"));

        assertThat(script.lived().request().aliases())
                .containsExactly(EngineScript.engineRequestId("x"), "name at the proxy");
    }

    // ---- what is undefined is absent

    @Test
    void withoutAFirstTokenThereIsNoTtftAndWithoutASecondNoTpot() {
        EngineScript one = new EngineScript().start(64, "x").finish("x", "stop");
        RequestAnalysis oneToken = client(one).lived().request();
        EngineScript none = new EngineScript().queue("x", 64).finish("x", "aborted");
        RequestAnalysis noToken = client(none).lived().request();

        assertThat(oneToken.ttftNanos()).isPositive();
        assertThat(oneToken.tpotNanos()).isNull();
        assertThat(noToken.ttftNanos()).isNull();
        assertThat(noToken.tpotNanos()).isNull();
        assertThat(noToken.tokenCount()).isZero();
    }

    @Test
    void withoutAClientThereIsNoTtft() {
        Lived lived = engineOnly(ten());

        assertThat(lived.request().ttftNanos()).isNull();
        assertThat(lived.request().tpotNanos()).isPositive();
        assertThat(lived.request().missingLayers()).contains("client");
        assertThat(lived.tokens).hasSize(10).allSatisfy(token -> {
            assertThat(token.missingLayers()).contains("client");
            assertThat(token.deliveryNanos()).isNull();
            assertThat(token.state()).isEqualTo("normal");
        });
    }

    @Test
    void withoutTheRequestsStartThereIsNoTtft() {
        EngineScript engine = ten();
        Lived lived = new RequestScript("x")
                .engine(engine.told())
                .delivered(engine.told(), 0, "x", MILLIS)
                .ended(engine.nowNanos() + 3 * MILLIS, "complete")
                .lived();

        assertThat(lived.request().ttftNanos()).isNull();
        assertThat(lived.request().tokenCount()).isEqualTo(10);
    }

    @Test
    void withoutEngineRecordsGapsAreDifferencesOfArrivals() {
        Lived lived = new RequestScript("x")
                .sent(SENT)
                .chunk(SENT + 50 * MILLIS, 0, 0, 1)
                .chunk(SENT + 57 * MILLIS, 0, 1, 3)
                .chunk(SENT + 70 * MILLIS, 0, 4, 1, Finish.STOP)
                .ended(SENT + 71 * MILLIS, "complete")
                .lived();

        assertThat(lived.tokens)
                .extracting(TokenAnalysis::gapNanos)
                .containsExactly(50 * MILLIS, 7 * MILLIS, 0L, 0L, 13 * MILLIS);
        assertThat(lived.tokens).allSatisfy(token -> {
            assertThat(token.gapBasis()).isEqualTo("delivered");
            assertThat(token.state()).isEqualTo("unknown");
            assertThat(token.cause()).isNull();
            assertThat(token.partUnexplainedNanos()).isEqualTo(token.gapNanos());
            assertThat(token.producedEpochNanos()).isNull();
            assertThat(token.missingLayers()).contains("steps");
        });
        RequestAnalysis request = lived.request();
        assertThat(request.ttftNanos()).isEqualTo(50 * MILLIS);
        assertThat(request.tpotNanos()).isEqualTo(5 * MILLIS);
        assertThat(request.endReason()).isEqualTo("stop");
        assertThat(request.missingLayers()).containsExactly("steps");
        assertThat(request.preemptions()).isNull();
    }

    // ---- chunks

    @Test
    void severalTokensOfAChunkArriveTogether() {
        EngineScript engine = ten();
        Told told = engine.told();
        long third = told.token("x", 2).endNanos();
        long last = told.token("x", 9).endNanos();
        Lived lived = new RequestScript("x")
                .sent(SENT)
                .engine(told)
                .chunk(third + MILLIS, 0, 0, 3)
                .chunk(last + MILLIS, 0, 3, 7)
                .ended(last + 2 * MILLIS, "complete")
                .lived();

        assertThat(lived.tokens).hasSize(10);
        assertThat(lived.token(0).deliveryNanos())
                .isEqualTo(third + MILLIS - told.token("x", 0).endNanos());
        assertThat(lived.token(2).deliveryNanos()).isEqualTo(MILLIS);
        assertThat(lived.token(9).deliveryNanos()).isEqualTo(MILLIS);
        assertThat(lived.request().requestCauses()).contains("MULTI_TOKEN_CHUNK");
        assertThat(lived.request().tokenCount()).isEqualTo(10);
    }

    @Test
    void aFirstChunkWithoutATokenIsNotTheFirstToken() {
        EngineScript engine = ten();
        Told told = engine.told();
        RequestAnalysis request = new RequestScript("x")
                .sent(SENT)
                .role(SENT + MILLIS)
                .engine(told)
                .delivered(told, 0, "x", MILLIS)
                .ended(engine.nowNanos() + 3 * MILLIS, "complete")
                .lived()
                .request();

        assertThat(request.ttftNanos()).isEqualTo(told.token("x", 0).endNanos() + MILLIS - SENT);
        assertThat(request.requestCauses()).containsExactly("ROLE_CHUNK");
    }

    @Test
    void chunksAndTokensMeetWhicheverCameFirst() {
        EngineScript engine = ten();
        Told told = engine.told();
        // A client's chunks and the engine's batches carry event times that need not agree.
        for (long firstArrival : new long[] {SENT + 10 * MILLIS, engine.nowNanos() + 700 * MILLIS}) {
            RequestScript script = new RequestScript("x").sent(SENT).engine(told);
            for (int i = 0; i < 10; i++) {
                script.chunk(firstArrival + i * MILLIS, 0, i, 1);
            }
            Lived lived = script.ended(engine.nowNanos() + SECOND, "complete").lived();

            assertThat(lived.tokens).hasSize(10);
            for (TokenAnalysis token : lived.tokens) {
                long made = told.token("x", token.tokenIndex()).endNanos();
                long arrived = firstArrival + token.tokenIndex() * MILLIS;
                // What arrived before it was made is no delivery, and is not made one.
                assertThat(token.deliveryNanos()).isEqualTo(arrived < made ? null : Long.valueOf(arrived - made));
            }
        }
    }

    // ---- identity

    @Test
    void sequencesOfOneRequestAreNeverMerged() {
        EngineScript engine = new EngineScript().start(64, "0_x", "1_x");
        engine.decode(5, "0_x", "1_x").decode(3, "1_x").finish("0_x", "stop").finish("1_x", "length");
        Told told = engine.told();
        Lived lived = new RequestScript("x")
                .sent(SENT, 2, false)
                .engine(told)
                .delivered(told, 0, "0_x", MILLIS)
                .delivered(told, 1, "1_x", 3 * MILLIS)
                .ended(engine.nowNanos() + 5 * MILLIS, "complete")
                .lived();

        assertThat(lived.requests)
                .extracting(
                        RequestAnalysis::lifetime,
                        RequestAnalysis::sequenceIndex,
                        RequestAnalysis::tokenCount,
                        RequestAnalysis::endReason)
                .containsExactly(tuple(0, 0, 6L, "stop"), tuple(0, 1, 9L, "length"));
        assertThat(lived.tokens)
                .filteredOn(token -> token.sequenceIndex() == 1)
                .hasSize(9)
                .extracting(TokenAnalysis::deliveryNanos)
                .containsOnly(3 * MILLIS);
    }

    @Test
    void anIdUsedAgainIsAnotherLifetime() {
        EngineScript engine = ten();
        long first = engine.nowNanos();
        engine.idle(5 * SECOND).start(32, "x~2").decode(4, "x~2").finish("x~2", "stop");
        Told told = engine.told();
        Lived lived = new RequestScript("x")
                .sent(SENT)
                .delivered(told, 0, "x", MILLIS)
                .ended(first + 3 * MILLIS, "complete")
                .sent(first + 4 * SECOND)
                .delivered(told, 0, "x~2", MILLIS)
                .ended(engine.nowNanos() + 3 * MILLIS, "complete")
                .engine(told)
                .lived();

        assertThat(lived.requests)
                .extracting(RequestAnalysis::lifetime, RequestAnalysis::tokenCount, RequestAnalysis::promptTokens)
                .containsExactly(tuple(0, 10L, 64L), tuple(1, 5L, 32L));
        assertThat(lived.tokens)
                .hasSize(15)
                .extracting(TokenAnalysis::deliveryNanos)
                .containsOnly(MILLIS);
    }

    @Test
    void usesOfOneIdThatOverlapAreNotMerged() {
        EngineScript engine = new EngineScript().start(64, "x", "x~2");
        engine.decode(5, "x", "x~2").finish("x", "stop").decode(3, "x~2").finish("x~2", "length");
        Lived lived = engineOnly(engine);

        assertThat(lived.requests)
                .extracting(RequestAnalysis::lifetime, RequestAnalysis::tokenCount, RequestAnalysis::endReason)
                .containsExactly(tuple(0, 6L, "stop"), tuple(1, 9L, "length"));
        assertThat(lived.tokens).hasSize(15);
    }

    @Test
    void anIdWithNothingUniqueThatIsUsedAgainAtOnceIsAnotherLifetime() {
        EngineScript again = new EngineScript().idle(200 * MILLIS);
        again.start(32, "x").decode(4, "x").finish("x", "stop");
        RequestScript script = new RequestScript("x");
        for (Told told : List.of(ten().told(), again.told())) {
            told.batches.forEach(batch -> batch.name = SequenceName.of(EngineScript.ENGINE, "x"));
            told.facts.forEach(fact -> fact.name = SequenceName.of(EngineScript.ENGINE, "x"));
            script.engine(told);
        }

        assertThat(script.lived().requests)
                .extracting(RequestAnalysis::lifetime, RequestAnalysis::tokenCount, RequestAnalysis::promptTokens)
                .containsExactly(tuple(0, 10L, 64L), tuple(1, 5L, 32L));
    }

    @Test
    void inputWithoutWallTimeIsOneLife() {
        EngineScript engine = new EngineScript().undated().start(64, "x").decode(9, "x");
        engine.finish("x", "length");
        Told told = engine.told();
        Lived lived = new RequestScript("x")
                .undated()
                .sent(SENT)
                .delivered(told, 0, "x", MILLIS)
                .ended(engine.nowNanos(), "complete")
                .engine(told)
                .lived();

        assertThat(lived.request().tokenCount()).isEqualTo(10);
        assertThat(lived.request().state()).isEqualTo("complete");
        assertThat(lived.tokens)
                .hasSize(10)
                .extracting(TokenAnalysis::deliveryNanos)
                .containsOnly(MILLIS);
        assertThat(lived.tokens).extracting(TokenAnalysis::producedEpochNanos).containsOnlyNulls();
    }

    @Test
    void aGatewayBesideAClientAddsNoTokens() {
        EngineScript engine = ten();
        RequestScript gateway = new RequestScript("x", "gateway")
                .sent(SENT + MILLIS)
                .delivered(engine.told(), 0, "x", MILLIS)
                .ended(engine.nowNanos() + 2 * MILLIS, "complete");

        Lived lived = client(engine).with(gateway).lived();

        assertThat(lived.request().tokenCount()).isEqualTo(10);
        assertThat(lived.tokens)
                .hasSize(10)
                .extracting(TokenAnalysis::deliveryNanos)
                .containsOnly(2 * MILLIS);
    }

    // ---- ends

    @Test
    void aClientThatLeavesBeforeTheFirstToken() {
        EngineScript engine =
                new EngineScript().queue("x", 64).idle(10 * MILLIS).finish("x", "aborted");
        Lived lived = new RequestScript("x")
                .sent(SENT)
                .engine(engine.told())
                .ended(engine.nowNanos(), "client-closed")
                .lived();

        assertThat(lived.tokens).isEmpty();
        assertThat(lived.request().endReason()).isEqualTo("aborted-by-client");
        assertThat(lived.request().requestCauses()).containsExactly("CLIENT_ABORT");
        assertThat(lived.findings("CLIENT_ABORT")).extracting(Finding::severity).containsExactly("info");
    }

    @Test
    void aClientThatLeavesAfterSomeTokens() {
        EngineScript engine = new EngineScript().start(64, "x").decode(4, "x").finish("x", "aborted");
        Told told = engine.told();
        Lived lived = new RequestScript("x")
                .sent(SENT)
                .engine(told)
                .delivered(told, 0, "x", MILLIS)
                .ended(engine.nowNanos() + 2 * MILLIS, "client-closed")
                .lived();

        assertThat(lived.request().endReason()).isEqualTo("aborted-by-client");
        assertThat(lived.request().tokenCount()).isEqualTo(5);
        assertThat(lived.findings("CLIENT_ABORT")).hasSize(1);
    }

    private static RequestCompleted answered(@Nullable Long usageTokens) {
        return new RequestCompleted("client", "x", "complete", 200, null, null, usageTokens, null, null);
    }

    @Test
    void anAnswerOfWhoseTokensNobodyToldAnyHasNoCount() {
        // Not streamed, two choices, only the sum is said; and no count at all.
        for (Long sum : Arrays.asList(24L, null)) {
            RequestAnalysis request = new RequestScript("x")
                    .sent(SENT, 2, false)
                    .observed(SENT + 30 * MILLIS, answered(sum))
                    .lived()
                    .request();
            assertThat(request.state()).isEqualTo("complete");
            assertThat(request.tokenCount()).isNull();
            assertThat(request.usageTokens()).isEqualTo(sum);
            assertThat(request.ttftNanos()).isNull();
        }
    }

    @Test
    void anAnswerThatIsKnownToBeEmptyHasTheCountZero() {
        RequestAnalysis said = new RequestScript("x")
                .sent(SENT)
                .observed(SENT + 30 * MILLIS, answered(0L))
                .lived()
                .request();
        RequestAnalysis seen = new RequestScript("x")
                .sent(SENT)
                .chunk(SENT + 20 * MILLIS, 0, null, 0, Finish.STOP)
                .observed(SENT + 30 * MILLIS, answered(null))
                .lived()
                .request();
        assertThat(said.tokenCount()).isZero();
        assertThat(seen.tokenCount()).isZero();
    }

    @Test
    void aRefusedRequestIsListedWithItsError() {
        Lived lived = new RequestScript("x")
                .sent(SENT)
                .ended(SENT + 3 * MILLIS, "http-error", "BadRequestError")
                .lived();

        RequestAnalysis request = lived.request();
        assertThat(request.endReason()).isEqualTo("error");
        assertThat(request.errorType()).isEqualTo("BadRequestError");
        assertThat(request.tokenCount()).isZero();
        assertThat(request.state()).isEqualTo("complete");
        assertThat(request.missingLayers()).isEmpty();
        assertThat(lived.tokens).isEmpty();
        assertThat(lived.findings).isEmpty();
    }

    @Test
    void aWarmUpIsListedAndNotAnalysed() {
        EngineScript engine = ten();
        Told told = engine.told();
        Lived lived = new RequestScript("x")
                .sent(SENT, 1, true)
                .engine(told)
                .delivered(told, 0, "x", MILLIS)
                .ended(engine.nowNanos() + 2 * MILLIS, "complete")
                .lived();

        assertThat(lived.tokens).isEmpty();
        assertThat(lived.findings).isEmpty();
        assertThat(lived.milestones).isEmpty();
        assertThat(lived.request().warmup()).isTrue();
        assertThat(lived.request().tokenCount()).isEqualTo(10);
    }

    @Test
    void aRequestThatNeverEndedIsIncomplete() {
        EngineScript engine = new EngineScript().start(64, "x").decode(4, "x");

        assertThat(engineOnly(engine).request().state()).isEqualTo("incomplete");
    }

    @Test
    void aHoleInItsTokensIsAGap() {
        EngineScript engine = new EngineScript();
        engine.step().announce("x", 64, 10).decode("x").run();
        engine.decode(3, "x").finish("x", "stop");
        Lived lived = engineOnly(engine);

        assertThat(lived.request().state()).isEqualTo("gap");
        assertThat(lived.token(10).gapBasis()).isNull();
        assertThat(lived.token(10).excessNanos()).isNull();
    }

    @Test
    void aFinishedRequestClosesAfterItsGraceAndASilentOneAfterItsGap() {
        EngineScript engine = ten();
        long ended = EngineScript.coarseEpochMillis(engine.nowNanos() + 3 * MILLIS);

        assertThat(closes(client(engine))).isEqualTo(ended + RequestLife.GRACE_MILLIS);
        assertThat(closes(new RequestScript("x").sent(SENT)))
                .isEqualTo(EngineScript.coarseEpochMillis(SENT) + RequestLife.GAP_MILLIS);
    }

    private static long closes(RequestScript script) {
        Lived lived = new Lived();
        RequestLife life = new RequestLife("x", new RequestState(), lived);
        script.inputs().forEach(life::accept);
        long closes = life.nextEndMillis();
        life.advance(closes);
        assertThat(lived.requests).isEmpty();
        life.advance(closes + 1);
        assertThat(lived.requests).hasSize(1);
        return closes;
    }

    @Test
    void theNumberOfUsesIsForgottenInTime() {
        RequestState state = new RequestState();
        RequestLife life = new RequestLife("x", state, new Lived());
        client(ten()).inputs().forEach(life::accept);
        long closes = life.nextEndMillis();

        assertThat(life.advance(closes + 1)).isFalse();
        assertThat(life.advance(closes + RequestLife.MEMORY_MILLIS)).isFalse();
        assertThat(life.nextEndMillis()).isEqualTo(closes + RequestLife.MEMORY_MILLIS);
        assertThat(life.advance(closes + RequestLife.MEMORY_MILLIS + 1)).isTrue();
        assertThat(state.lifetimesSoFar).isZero();
    }

    // ---- conclusions

    @Test
    void slowTokensOfOneCauseAndCulpritAreOneFinding() {
        EngineScript engine = new EngineScript().start(64, "x").decode(60, "x");
        engine.queue("long", 600);
        for (int i = 0; i < 6; i++) {
            engine.step().decode("x").prefill("long", 100).run();
        }
        engine.finish("long", "stop").decode(20, "x").queue("other", 100);
        engine.step().decode("x").prefill("other", 100).run();
        engine.decode(5, "x").finish("x", "length");

        Lived lived = engineOnly(engine);
        List<Finding> findings = lived.findings("PREFILL_INTERFERENCE");

        assertThat(findings)
                .extracting(
                        Finding::culpritRequestId, Finding::firstTokenIndex, Finding::lastTokenIndex, Finding::severity)
                .containsExactly(tuple("long", 61, 66, "info"), tuple("other", 87, 87, "info"));
        assertThat(findings.get(0).partNames())
                .contains("prefill")
                .hasSameSizeAs(findings.get(0).partNanos());
        assertThat(findings.get(0).narrative()).startsWith("6 tokens from 61 to 66 lost");
        assertThat(findings)
                .allSatisfy(finding -> assertThat(finding.evidence()).isNotEmpty());
        assertThat(lived.tokens)
                .filteredOn(token -> token.cause() != null)
                .hasSize(7)
                .extracting(TokenAnalysis::state)
                .containsOnly("stalled");
    }

    @Test
    void everyPreemptionIsAFindingOfItsOwn() {
        EngineScript engine = new EngineScript().start(64, "a", "x").decode(60, "a", "x");
        for (int i = 0; i < 2; i++) {
            engine.preempt("x", "a").decode(50, "a");
            engine.step().decode("a").recompute("x", engine.owedTokens("x")).run();
            engine.decode(5, "a", "x");
        }
        engine.finish("x", "length");

        Lived lived = engineOnly(engine);

        assertThat(lived.findings("PREEMPTION"))
                .extracting(
                        Finding::culpritRequestId, Finding::firstTokenIndex, Finding::lastTokenIndex, Finding::severity)
                .containsExactly(tuple("a", 61, 61, "warning"), tuple("a", 67, 67, "warning"));
        assertThat(lived.request().preemptions()).isEqualTo(2);
        assertThat(lived.milestones(MilestoneKind.PREEMPTED)).hasSize(2);
        assertThat(lived.tokens)
                .filteredOn(token -> "PREEMPTION".equals(token.cause()))
                .extracting(TokenAnalysis::state)
                .containsOnly("recompute");
    }

    @Test
    void recomputedTokensAreThoseLostLessThoseFoundAgain() {
        EngineScript engine = new EngineScript().start(64, "a", "x").decode(20, "a", "x");
        engine.preempt("x", "a").cached("x", 48).decode(2, "a");
        engine.step().decode("a").recompute("x", engine.owedTokens("x")).run();
        engine.finish("x", "length");

        // 64 prompt tokens and 20 of its own were lost, 48 were found in the cache.
        assertThat(engineOnly(engine).request().recomputedTokens()).isEqualTo(64 + 20 - 48);
    }

    @Test
    void threePreemptionsThatLoseMoreThanTheyGainAreALoop() {
        EngineScript engine = new EngineScript().start(64, "a", "x").decode(20, "a", "x");
        for (int i = 0; i < 3; i++) {
            engine.preempt("x", "a").decode(3, "a");
            engine.step().decode("a").recompute("x", engine.owedTokens("x")).run();
        }
        engine.finish("x", "length");
        Lived lived = engineOnly(engine);

        assertThat(lived.request().requestCauses()).contains("PREEMPTION_LOOP");
        assertThat(lived.findings("PREEMPTION_LOOP"))
                .singleElement()
                .satisfies(finding -> assertThat(finding.evidence()).hasSize(3));
    }

    @Test
    void aLoopIsCountedBetweenItsPreemptionsNotOverAGoodLifeBefore() {
        EngineScript engine = new EngineScript().start(64, "a", "x").decode(400, "a", "x");
        for (int i = 0; i < 3; i++) {
            engine.preempt("x", "a").decode(3, "a");
            engine.step().decode("a").recompute("x", engine.owedTokens("x")).run();
            engine.decode(2, "a", "x");
        }
        engine.finish("x", "length");

        assertThat(engineOnly(engine).request().requestCauses()).contains("PREEMPTION_LOOP");
    }

    @Test
    void aLoopNeedsNoOutputAndNamesWhoHoldsTheSpace() {
        EngineScript engine =
                new EngineScript().start(640, "holder").start(64, "a").decode(20, "a", "holder");
        engine.queue("x", 2_000);
        for (int i = 0; i < 4; i++) {
            for (int chunk = 0; chunk < 10; chunk++) {
                Step step = engine.step().decode("a", "holder");
                (i == 0 ? step.prefill("x", 100) : step.recompute("x", 100)).run();
            }
            engine.preempt("x", "x").decode(3, "a", "holder");
        }
        Lived lived = engineOnly(engine);

        assertThat(lived.request().tokenCount()).isZero();
        assertThat(lived.findings("PREEMPTION_LOOP")).singleElement().satisfies(finding -> {
            assertThat(finding.culpritRequestId()).isEqualTo("holder");
            assertThat(finding.evidence()).hasSize(4);
            assertThat(finding.narrative()).contains("4000 computed tokens were discarded", "gained 0");
            // The token that has not come has waited for less than two seconds.
            assertThat(finding.severity()).isEqualTo("warning");
        });
    }

    @Test
    void threePreemptionsWithMuchGainBetweenThemAreNoLoop() {
        EngineScript engine = new EngineScript().start(64, "a", "x").decode(20, "a", "x");
        for (int i = 0; i < 3; i++) {
            engine.preempt("x", "a").cached("x", 48 + 32 * i).decode(3, "a");
            engine.step().decode("a").recompute("x", engine.owedTokens("x")).run();
            engine.decode(200, "a", "x");
        }
        engine.finish("x", "length");

        assertThat(engineOnly(engine).request().requestCauses()).doesNotContain("PREEMPTION_LOOP");
    }

    private static Lived passed(@Nullable Integer ofVictim, @Nullable Integer ofOther, boolean otherStartedBefore) {
        EngineScript engine = new EngineScript().start(64, "a");
        if (otherStartedBefore) {
            engine.queue("other", 64, ofOther);
            engine.step().prefill("other", 64).run();
        }
        engine.queue("x", 64, ofVictim);
        engine.step().prefill("x", 64).run();
        engine.decode(20, otherStartedBefore ? new String[] {"a", "x", "other"} : new String[] {"a", "x"});
        if (otherStartedBefore) {
            engine.preempt("other", "a");
        } else {
            engine.queue("other", 64, ofOther);
        }
        engine.preempt("x", "a").decode(3, "a");
        if (otherStartedBefore) {
            engine.step()
                    .decode("a")
                    .recompute("other", engine.owedTokens("other"))
                    .run();
        } else {
            engine.step().decode("a").prefill("other", 64).run();
        }
        engine.decode(3, "a", "other");
        engine.step().decode("a").recompute("x", engine.owedTokens("x")).run();
        engine.finish("x", "length");
        return engineOnly(engine);
    }

    @Test
    void aRequestThatHadNotStartedAndIsNoMoreUrgentRanBeforeOneThatHadLostItsBlocks() {
        for (Lived lived : List.of(passed(null, null, false), passed(1, 1, false), passed(1, 5, false))) {
            assertThat(lived.request().requestCauses()).contains("PREEMPTED_THEN_OVERTAKEN");
            assertThat(lived.findings("PREEMPTED_THEN_OVERTAKEN"))
                    .singleElement()
                    .satisfies(finding -> {
                        assertThat(finding.culpritRequestId()).isEqualTo("other");
                        assertThat(finding.evidence()).hasSize(2);
                        assertThat(finding.narrative()).contains("84 computed tokens");
                    });
        }
    }

    @Test
    void aMoreUrgentRequestOrOneThatHadStartedBeforeOvertakesNobody() {
        for (Lived lived : List.of(passed(1, 0, false), passed(null, null, true), passed(1, null, false))) {
            assertThat(lived.request().requestCauses()).doesNotContain("PREEMPTED_THEN_OVERTAKEN");
        }
    }

    @Test
    void anAbortOfTheEngineIsProvedByTheEnginesRecord() {
        EngineScript engine = new EngineScript().start(64, "x").decode(5, "x").finish("x", "aborted");

        assertThat(engineOnly(engine).findings("CLIENT_ABORT"))
                .singleElement()
                .satisfies(finding -> assertThat(finding.evidence()).hasSize(1));
    }

    @Test
    void aPrefixThatIsStoredAgainWithoutHavingBeenEvictedWasNotFound() {
        for (boolean numbered : new boolean[] {true, false}) {
            Lived lived = storedTwice(4, 10, numbered);

            assertThat(lived.findings("PREFIX_HIT_COLLAPSE")).singleElement().satisfies(finding -> {
                assertThat(finding.culpritRequestId()).isNull();
                assertThat(finding.narrative()).contains("No eviction of them is recorded", "30 % of the KV pool");
            });
        }
    }

    @Test
    void twoThatComputeOnePrefixAtOnceAndTheLastBlockOfAPromptAreNoCollapse() {
        assertThat(storedTwice(4, 0, true).findings("PREFIX_HIT_COLLAPSE")).isEmpty();
        assertThat(storedTwice(1, 10, true).findings("PREFIX_HIT_COLLAPSE")).isEmpty();
    }

    private static Lived storedTwice(int blocks, int stepsBetween, boolean numbered) {
        EngineScript engine = new EngineScript()
                .configured(2_048L, 8)
                .kvBlocks(3_000, 10_000)
                .start(16, "a")
                .decode(30, "a");
        Long[] hashes = {1L, 2L, 3L, 4L};
        engine.queue("first", 16 * blocks);
        if (numbered) {
            engine.kvBatch(1);
        }
        engine.step().decode("a").prefill("first", 16 * blocks).run();
        engine.stored(numbered ? 1L : null, Arrays.copyOf(hashes, blocks));
        engine.decode(stepsBetween, "a", "first");
        engine.queue("x", 16 * blocks);
        if (numbered) {
            engine.kvBatch(3);
        }
        engine.step().decode("a").prefill("x", 16 * blocks).run();
        engine.stored(numbered ? 3L : null, Arrays.copyOf(hashes, blocks));
        engine.decode(3, "a", "x").finish("x", "stop");
        return engineOnly(engine);
    }

    @Test
    void aPrefixHitCollapsesOnlyWhereItsBlocksWereEvictedAndStoredAgain() {
        Lived again = prefix(true);
        Lived fresh = prefix(false);

        assertThat(again.request().requestCauses()).containsExactly("PREFIX_HIT_COLLAPSE");
        assertThat(again.findings("PREFIX_HIT_COLLAPSE"))
                .extracting(Finding::culpritRequestId)
                .containsExactly("evictor");
        assertThat(again.token(0).state()).isEqualTo("kv-miss");
        assertThat(fresh.request().requestCauses()).isEmpty();
        assertThat(fresh.token(0).state()).isEqualTo("normal");
    }

    private static Lived prefix(boolean cachedBefore) {
        EngineScript engine =
                new EngineScript().configured(2_048L, 8).start(16, "a").decode(30, "a");
        if (cachedBefore) {
            engine.queue("first", 64).kvBatch(1);
            engine.step().decode("a").prefill("first", 64).run();
            engine.stored(1L, 1L, 2L, 3L, 4L).finish("first", "stop");
        }
        engine.queue("evictor", 64).kvBatch(2);
        engine.step().decode("a").prefill("evictor", 64).run();
        engine.evicted(2, cachedBefore ? new Long[] {1L, 2L, 3L, 4L} : new Long[] {91L, 92L, 93L, 94L});
        engine.finish("evictor", "stop").decode(10, "a").queue("x", 64).kvBatch(3);
        engine.step().decode("a").prefill("x", 64).run();
        engine.stored(3L, 1L, 2L, 3L, 4L).decode(3, "a", "x").finish("x", "stop");
        return engineOnly(engine);
    }

    @Test
    void severityIsByOneTokenOrBySumAndShare() {
        assertThat(severity(1, 150)).isEqualTo("info");
        assertThat(severity(1, 250)).isEqualTo("warning");
        assertThat(severity(1, 2_500)).isEqualTo("critical");
        assertThat(severity(6, 150)).isEqualTo("info");
        assertThat(severity(8, 150)).isEqualTo("warning");
    }

    /** The severity of the finding about this many of some 200 tokens that came this late. */
    private static String severity(int slow, long lateMillis) {
        EngineScript engine = new EngineScript().start(64, "x").decode(100, "x");
        for (int i = 0; i < slow; i++) {
            engine.step().decode("x").late(lateMillis * MILLIS).run();
        }
        engine.decode(90, "x").finish("x", "length");
        List<Finding> findings = engineOnly(engine).findings("UNRESOLVED_STALL");
        assertThat(findings).hasSize(1);
        return findings.get(0).severity();
    }

    @Test
    void findingsAreNamedByWhatTheySay() {
        EngineScript engine = new EngineScript().start(64, "x").decode(60, "x");
        engine.step().decode("x").late(300 * MILLIS).run();
        engine.finish("x", "length");
        List<Finding> findings = engineOnly(engine).findings;

        assertThat(findings).hasSize(1).isEqualTo(engineOnly(engine).findings);
        assertThat(findings.get(0).findingId()).matches("[0-9a-f]{32}");
        assertThat(findings.get(0).missingLayers()).contains("client", "host-scheduling");
    }

    @Test
    void contextMilestonesComeAtEachDoublingFrom2048() {
        EngineScript engine =
                new EngineScript().start(1_000, "a").decode(100, "a").finish("a", "stop");
        engine.start(5_000, "x").decode(2, "x").finish("x", "stop");

        assertThat(new RequestScript("a").engine(engine.told()).lived().milestones(MilestoneKind.CONTEXT_EXPANDED))
                .isEmpty();
        assertThat(engineOnly(engine).milestones(MilestoneKind.CONTEXT_EXPANDED))
                .hasSize(1);
    }

    @Test
    void aRequestThatOnlyQueuedIsListed() {
        SequenceFact fact = new SequenceFact();
        fact.kind = SequenceFact.Kind.QUEUED;
        fact.name = SequenceName.of(EngineScript.ENGINE, EngineScript.engineRequestId("x"));
        fact.promptTokens = 12L;
        Lived lived = new Lived();
        RequestLife life = new RequestLife("x", new RequestState(), lived);
        life.accept(RequestInput.of(fact));
        life.finish();

        assertThat(lived.request().promptTokens()).isEqualTo(12);
        assertThat(lived.request().state()).isEqualTo("incomplete");
        assertThat(lived.request().endReason()).isEqualTo("unknown");
    }
}
