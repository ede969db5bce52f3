package io.tokenstair.job.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.job.step.EngineScript;
import io.tokenstair.job.step.SequenceName;
import io.tokenstair.job.step.Told;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What belongs to one use of an id, whatever comes: docs/requests.md. */
class RequestIdentityTest {
    private static final long MILLIS = 1_000_000;
    private static final long SENT = 900 * MILLIS;

    /** The engine under another name, with ids that it does not make unique. */
    private static Told bare(EngineScript engine, String engineId) {
        Told told = engine.told();
        told.batches.forEach(batch -> batch.name = SequenceName.of(engineId, batch.name.requestId));
        told.facts.forEach(fact -> fact.name = SequenceName.of(engineId, fact.name.requestId));
        return told;
    }

    private static Told unique(EngineScript engine, String engineId) {
        Told told = engine.told();
        told.batches.forEach(batch -> batch.name = SequenceName.of(engineId, batch.name.engineRequestId));
        told.facts.forEach(fact -> fact.name = SequenceName.of(engineId, fact.name.engineRequestId));
        return told;
    }

    private static EngineScript tokens(int count, String name, long fromNanos) {
        return new EngineScript()
                .idle(fromNanos)
                .start(64, name)
                .decode(count - 1, name)
                .finish(name, "stop");
    }

    // ---- uses that overlap

    @Test
    void usesThatNothingTellsApartAreBothIncomplete() {
        Lived lived = new RequestScript("x")
                .engine(bare(tokens(40, "x", 0), "e"))
                .engine(bare(tokens(30, "x", 100 * MILLIS), "e"))
                .lived();

        assertThat(lived.requests)
                .extracting(RequestAnalysis::lifetime, RequestAnalysis::state)
                .containsExactly(tuple(0, "incomplete"), tuple(1, "incomplete"));
        int said = lived.tokens.size();
        int dropped = lived.requests.stream()
                .mapToInt(request -> request.droppedTokens() == null ? 0 : request.droppedTokens())
                .sum();
        assertThat(said + dropped).isEqualTo(70);
        assertThat(dropped).isPositive();
        assertThat(lived.tokens)
                .extracting(TokenAnalysis::lifetime, TokenAnalysis::tokenIndex)
                .doesNotHaveDuplicates();
    }

    @Test
    void usesThatOneObserverSeesAtOnceGetNoDelivery() {
        EngineScript engine = new EngineScript().start(64, "x", "x~2");
        engine.decode(5, "x", "x~2").finish("x", "stop").decode(3, "x~2").finish("x~2", "length");
        Told told = engine.told();
        Lived lived = new RequestScript("x")
                .sent(SENT)
                .sent(SENT + MILLIS)
                .delivered(told, 0, "x", MILLIS)
                .delivered(told, 0, "x~2", 2 * MILLIS)
                .ended(engine.nowNanos() + 3 * MILLIS, "complete")
                .ended(engine.nowNanos() + 4 * MILLIS, "complete")
                .engine(told)
                .lived();

        assertThat(lived.requests)
                .extracting(RequestAnalysis::lifetime, RequestAnalysis::state, RequestAnalysis::tokenCount)
                .containsExactly(tuple(0, "complete", 6L), tuple(1, "complete", 9L));
        assertThat(lived.requests).extracting(RequestAnalysis::ttftNanos).containsOnlyNulls();
        assertThat(lived.requests)
                .allSatisfy(request -> assertThat(request.missingLayers()).contains("client"));
        assertThat(lived.requests.stream()
                        .mapToInt(request -> request.droppedChunks() == null ? 0 : request.droppedChunks())
                        .sum())
                .isEqualTo(15);
        assertThat(lived.tokens).extracting(TokenAnalysis::deliveryNanos).containsOnlyNulls();
    }

    @Test
    void sequencesOfARequestAreBoundedAndTheRestIsCounted() {
        RequestScript script = new RequestScript("x").sent(SENT);
        for (int i = 0; i < 3_000; i++) {
            script.chunk(SENT + i * MILLIS, i, 0, 1);
        }
        for (int index : new int[] {1 << 20, Integer.MAX_VALUE - 1, Integer.MAX_VALUE}) {
            script.chunk(SENT + 3_000 * MILLIS, index, 0, 1);
        }
        Lived lived = script.chunk(SENT + 3_001 * MILLIS, 7, 1, 1)
                .ended(SENT + 3_002 * MILLIS, "complete")
                .lived();

        assertThat(lived.requests).hasSize(Lifetimes.MAX_SEQUENCES);
        assertThat(lived.requests)
                .extracting(RequestAnalysis::sequenceIndex)
                .allSatisfy(index -> assertThat(index).isBetween(0, Lifetimes.MAX_SEQUENCES - 1));
        assertThat(lived.requests.get(0).droppedChunks()).isEqualTo(3_003 - Lifetimes.MAX_SEQUENCES);
        assertThat(lived.tokens).hasSize(Lifetimes.MAX_SEQUENCES + 1);
    }

    @Test
    void aHostileSequenceIndexAloneIsCountedAndMakesNoSequence() {
        Lived lived = new RequestScript("x")
                .sent(SENT)
                .chunk(SENT + MILLIS, Integer.MAX_VALUE, 0, 1)
                .chunk(SENT + 2 * MILLIS, 0, 0, 1)
                .ended(SENT + 3 * MILLIS, "complete")
                .lived();

        assertThat(lived.request().droppedChunks()).isEqualTo(1);
        assertThat(lived.tokens).extracting(TokenAnalysis::sequenceIndex).containsExactly(0);
    }

    @Test
    void sequencesThatAnEngineTellsOfAreBoundedToo() {
        EngineScript engine = new EngineScript().start(64, "x");
        engine.decode(2, "x").finish("x", "stop");
        RequestScript script = new RequestScript("x");
        for (int i = 0; i < 1_100; i++) {
            String id = "cmpl-x-" + (i * 900) + "-0000000a";
            Told told = engine.told();
            told.batches.forEach(batch -> batch.name = SequenceName.of("e", id));
            told.facts.forEach(fact -> fact.name = SequenceName.of("e", id));
            script.engine(told);
        }
        Lived lived = script.lived();

        assertThat(lived.requests).hasSize(Lifetimes.MAX_SEQUENCES);
        assertThat(lived.requests.get(0).droppedTokens()).isEqualTo(3 * (1_100 - Lifetimes.MAX_SEQUENCES));
    }

    @Test
    void usesOfOneIdThatAreOpenAtOnceAreBounded() {
        RequestScript script = new RequestScript("x");
        for (int i = 0; i < 20_000; i++) {
            script.sent(SENT + i);
        }
        RequestState state = new RequestState();
        Lived lived = new Lived();
        RequestLife life = new RequestLife("x", state, lived);
        script.inputs().forEach(life::accept);

        assertThat(state.open).hasSizeLessThanOrEqualTo(RequestLife.MAX_OPEN);
        life.finish();
        assertThat(lived.requests).hasSize(20_000);
        assertThat(lived.requests).extracting(RequestAnalysis::lifetime).doesNotHaveDuplicates();
    }

    @Test
    void streamsOfOneIdThatNoEngineTellsApartAreIncomplete() {
        RequestScript script = new RequestScript("x").sent(SENT).chunk(SENT + 10 * MILLIS, 0, 0, 1);
        script.sent(SENT + 11 * MILLIS);
        for (int i = 0; i < 5; i++) {
            script.chunk(SENT + (12 + i) * MILLIS, 0, i, 1).chunk(SENT + (13 + i) * MILLIS, 0, i + 1, 1);
        }
        Lived lived = script.ended(SENT + 40 * MILLIS, "complete")
                .ended(SENT + 41 * MILLIS, "complete")
                .lived();

        assertThat(lived.requests).extracting(RequestAnalysis::state).containsExactly("incomplete", "incomplete");
        assertThat(lived.tokens)
                .extracting(TokenAnalysis::lifetime, TokenAnalysis::tokenIndex)
                .doesNotHaveDuplicates();
    }

    @Test
    void anIdTriedAgainAfterAnErrorGetsTheEngine() {
        EngineScript engine = tokens(10, "x", 0);
        Told told = engine.told();
        Lived lived = new RequestScript("x")
                .sent(SENT)
                .ended(SENT + 3 * MILLIS, "http-error", "overloaded")
                .sent(SENT + 10 * MILLIS)
                .delivered(told, 0, "x", MILLIS)
                .ended(engine.nowNanos() + 3 * MILLIS, "complete")
                .engine(told)
                .lived();

        assertThat(lived.requests)
                .extracting(RequestAnalysis::lifetime, RequestAnalysis::endReason, RequestAnalysis::tokenCount)
                .containsExactly(tuple(0, "error", 0L), tuple(1, "stop", 10L));
        assertThat(lived.tokens).extracting(TokenAnalysis::deliveryNanos).containsOnly(MILLIS);
    }

    // ---- a pair of engines

    @Test
    void aPrefillAndADecodeEngineAreOneRequest() {
        Told prefill = bare(tokens(1, "x", 0), "prefill-0");
        EngineScript engine = tokens(30, "x", 50 * MILLIS);
        Told decode = bare(engine, "decode-0");
        Lived lived = new RequestScript("x")
                .sent(SENT)
                .engine(prefill)
                .engine(decode)
                .delivered(engine.told(), 0, "x", MILLIS)
                .ended(engine.nowNanos() + 3 * MILLIS, "complete")
                .lived();

        RequestAnalysis request = lived.request();
        assertThat(request.engines()).containsExactly("prefill-0", "decode-0");
        assertThat(request.state()).isEqualTo("complete");
        assertThat(request.endReason()).isEqualTo("stop");
        assertThat(request.tokenCount()).isEqualTo(30);
        assertThat(request.droppedTokens()).isNull();
        assertThat(lived.tokens).hasSize(30).extracting(TokenAnalysis::engineId).containsOnly("decode-0");
        assertThat(lived.tokens).extracting(TokenAnalysis::deliveryNanos).containsOnly(MILLIS);
    }

    @Test
    void aPairIsOneRequestUnderNamesOfEachEnginesOwnToo() {
        Told prefill = unique(tokens(1, "x", 0), "prefill-0");
        Told decode = unique(tokens(30, "x~2", 50 * MILLIS), "decode-0");
        Lived lived = new RequestScript("x").engine(prefill).engine(decode).lived();

        assertThat(lived.request().engines()).containsExactly("prefill-0", "decode-0");
        assertThat(lived.request().tokenCount()).isEqualTo(30);
        assertThat(lived.request().aliases()).hasSize(2);
    }

    @Test
    void aSecondEngineAfterSeveralTokensIsAnotherAttempt() {
        Told first = bare(tokens(20, "x", 0), "e-0");
        Told second = bare(tokens(30, "x", 90 * MILLIS), "e-1");
        Lived lived = new RequestScript("x").engine(first).engine(second).lived();

        assertThat(lived.requests)
                .extracting(RequestAnalysis::engines, RequestAnalysis::tokenCount)
                .containsExactly(tuple(List.of("e-0"), 20L), tuple(List.of("e-1"), 30L));
    }

    // ---- odd beginnings and ends

    @Test
    void anEndWithoutABeginningIsARequest() {
        Lived lived = new RequestScript("x").ended(SENT, "client-closed").lived();

        assertThat(lived.request().endReason()).isEqualTo("aborted-by-client");
        assertThat(lived.request().ttftNanos()).isNull();
        assertThat(lived.request().tokenCount()).isZero();
    }

    @Test
    void aRequestThatNeverEndsIsClosedAsIncomplete() {
        Lived lived = new Lived();
        RequestLife life = new RequestLife("x", new RequestState(), lived);
        new RequestScript("x")
                .sent(SENT)
                .chunk(SENT + 10 * MILLIS, 0, 0, 1)
                .inputs()
                .forEach(life::accept);
        life.advance(life.nextEndMillis() + 1);

        assertThat(lived.request().state()).isEqualTo("incomplete");
        assertThat(lived.tokens).hasSize(1);
    }

    @Test
    void aFirstTokenBeforeTheSendingHasNoTtft() {
        // Both in one millisecond of event time.
        Lived lived = new RequestScript("x")
                .sent(SENT + 500_000)
                .chunk(SENT + 400_000, 0, 0, 1)
                .chunk(SENT + 10_400_000, 0, 1, 1)
                .ended(SENT + 11 * MILLIS, "complete")
                .lived();

        assertThat(lived.request().ttftNanos()).isNull();
        assertThat(lived.request().invalidStamps()).isPositive();
        assertThat(lived.tokens).extracting(TokenAnalysis::gapNanos).containsExactly(null, 10 * MILLIS);
    }
}
