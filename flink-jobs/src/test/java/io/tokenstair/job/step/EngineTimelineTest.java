package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.tokenstair.archive.result.ModelSnapshot;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Confidence;
import io.tokenstair.cause.Part;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.HostSampled;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.step.EngineScript.Step;
import io.tokenstair.job.step.EngineScript.Threads;
import io.tokenstair.job.step.SequenceFact.Kind;
import io.tokenstair.job.step.Told.Token;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The causes of docs/causes/README.md that step, KV and core records can show, one small schedule each. */
class EngineTimelineTest {
    private static final long MILLIS = 1_000_000;

    /** An engine that is known: a and b decode, now and then with others of other lengths. */
    static EngineScript warm() {
        return warm(new EngineScript());
    }

    static EngineScript warm(EngineScript engine) {
        engine.start(64, "a", "b");
        for (int round = 0; round < 20; round++) {
            String[] others = new String[round % 5 + 1];
            for (int i = 0; i < others.length; i++) {
                others[i] = "other" + round + "-" + i;
                engine.queue(others[i], 32 + 150 * (round % 4));
                engine.step()
                        .decode("a", "b")
                        .prefill(others[i], engine.owedTokens(others[i]))
                        .run();
            }
            for (int i = 0; i < 5; i++) {
                engine.step().decode("a", "b").decode(others).run();
            }
            for (String other : others) {
                engine.finish(other, "stop");
            }
            engine.decode(15, "a", "b");
        }
        return engine;
    }

    // ---- preemption

    @Test
    void aPreemptedRequestWaitedAndComputedItsTokensAgain() {
        EngineScript engine = warm();
        engine.queue("big", 200).preempt("b", "big");
        engine.step().decode("a").prefill("big", 200).run();
        engine.decode(20, "a", "big");
        int owed = engine.owedTokens("b");
        Step resuming = engine.step().decode("a", "big").recompute("b", owed);
        long recomputing = resuming.lawNanos();
        long waiting = engine.nowNanos() - lastEndOf(engine, "b");
        resuming.run();

        Token token = engine.told().last("b");

        assertThat(token.cause()).isEqualTo(Cause.PREEMPTION);
        assertThat(token.culprit()).isEqualTo("big");
        assertThat(token.why().confidence).isEqualTo(Confidence.ESTABLISHED.levelName());
        assertThat(token.part(Part.PREEMPTED_WAIT)).isEqualTo(waiting);
        assertThat(token.part(Part.RECOMPUTE_OWN))
                .isCloseTo(owed * EngineScript.PROMPT_NANOS, within(recomputing / 20));
        assertThat(token.is(TokenBatch.RECOMPUTED)).isTrue();
        assertThat(token.sum()).isEqualTo(token.gap());
    }

    private static long lastEndOf(EngineScript engine, String requestId) {
        return engine.told().last(requestId).endNanos();
    }

    @Test
    void whoSharesTheStepOfARecomputationWasNotPreempted() {
        EngineScript engine = warm();
        engine.preempt("b", null).decode(3, "a");
        engine.step().decode("a").recompute("b", engine.owedTokens("b")).run();

        Token token = engine.told().last("a");

        assertThat(token.cause()).isEqualTo(Cause.RECOMPUTE);
        assertThat(token.culprit()).isEqualTo("b");
        assertThat(token.parts()).doesNotContainKeys(Part.PREEMPTED_WAIT, Part.RECOMPUTE_OWN, Part.PREFILL);
    }

    @Test
    void aRecomputationInChunksIsOnePreemption() {
        EngineScript engine = warm();
        engine.preempt("b", null).decode(2, "a");
        for (int owed = engine.owedTokens("b"); owed > 0; owed = engine.owedTokens("b")) {
            engine.step().decode("a").recompute("b", Math.min(owed, 100)).run();
        }
        Told told = engine.told();
        Token token = told.last("b");

        assertThat(token.cause()).isEqualTo(Cause.PREEMPTION);
        assertThat(token.part(Part.RECOMPUTE_OWN)).isGreaterThan(token.part(Part.PREEMPTED_WAIT));
        assertThat(told.facts(Kind.PREEMPTED)).hasSize(1);
        assertThat(told.facts(Kind.RESUMED)).hasSize(1);
    }

    @Test
    void ownPhasesTellAPreemptionWithoutItsRecord() {
        EngineScript engine = warm();
        engine.lose("b").decode(10, "a");
        engine.step().decode("a").recompute("b", engine.owedTokens("b")).run();

        Token token = engine.told().last("b");

        assertThat(token.cause()).isEqualTo(Cause.PREEMPTION);
        assertThat(token.why().confidence).isEqualTo(Confidence.CONSISTENT_WITH.levelName());
    }

    @Test
    void whoRanOutOfBlocksByItsOwnAllocationBlamesTheLargestHolder() {
        EngineScript engine = warm();
        engine.start(300, "holder").preempt("b", "b").decode(10, "a", "holder");
        engine.step()
                .decode("a", "holder")
                .recompute("b", engine.owedTokens("b"))
                .run();

        Token token = engine.told().last("b");

        assertThat(token.cause()).isEqualTo(Cause.PREEMPTION);
        assertThat(token.culprit()).isEqualTo("a");
        assertThat(token.why().confidence).isEqualTo(Confidence.CONSISTENT_WITH.levelName());
    }

    @Test
    void theTokenAfterAPreemptionIsOrdinary() {
        EngineScript engine = warm();
        engine.preempt("b", null).decode(10, "a");
        engine.step().decode("a").recompute("b", engine.owedTokens("b")).run();
        engine.decode(1, "a", "b");

        assertThat(engine.told().last("b").cause()).isNull();
    }

    @Test
    void aTokenScheduledBeforeTheLossDoesNotEndThePreemption() {
        EngineScript engine = warm();
        // Step n is in flight with b when the schedule of step n + 1 takes b's blocks.
        Step inFlight = engine.step().decode("a", "b");
        engine.preemptInStep(1, "b");
        inFlight.run();
        engine.decode(20, "a");
        int tokenInFlight = engine.madeTokens("b") - 1;
        engine.lose("b");
        engine.step().decode("a").recompute("b", engine.owedTokens("b")).run();
        Told told = engine.told();

        assertThat(told.token("b", tokenInFlight).cause()).isNull();
        assertThat(told.last("b").cause()).isEqualTo(Cause.PREEMPTION);
        assertThat(told.last("b").parts()).containsKey(Part.PREEMPTED_WAIT);
        assertThat(told.last("b").why().confidence).isEqualTo(Confidence.ESTABLISHED.levelName());
    }

    @Test
    void aTokenScheduledBeforeTheLossIsNotDelayedByIt() {
        EngineScript engine = warm();
        engine.queue("long", 640);
        for (int i = 0; i < 10; i++) {
            engine.step().prefill("long", 64).run();
        }
        Step inFlight = engine.step().decode("a", "b");
        engine.preemptInStep(1, "b");
        inFlight.run();

        Token token = engine.told().last("b");

        assertThat(token.cause()).isEqualTo(Cause.DECODE_STARVED_BY_PREFILL);
        assertThat(token.parts()).doesNotContainKey(Part.PREEMPTED_WAIT);
    }

    // ---- prompts of others

    @Test
    void promptTokensOfAnotherRequestInTheStep() {
        EngineScript engine = warm();
        engine.queue("small", 20).queue("long", 400);
        engine.step().decode("a", "b").prefill("small", 20).prefill("long", 200).run();

        Token token = engine.told().last("a");

        assertThat(token.cause()).isEqualTo(Cause.PREFILL_INTERFERENCE);
        assertThat(token.culprit()).isEqualTo("long");
        assertThat(token.why().confidence).isEqualTo(Confidence.ESTABLISHED.levelName());
        assertThat(token.part(Part.PREFILL)).isCloseTo(33 * MILLIS, within(3 * MILLIS));
    }

    @Test
    void leftOutWhileStepsRanPromptTokensOnly() {
        EngineScript engine = warm();
        engine.queue("long", 58 * 64);
        for (int i = 0; i < 58; i++) {
            engine.step().prefill("long", 64).run();
        }
        engine.decode(1, "a", "b");

        Token token = engine.told().last("a");

        assertThat(token.cause()).isEqualTo(Cause.DECODE_STARVED_BY_PREFILL);
        assertThat(token.culprit()).isEqualTo("long");
        assertThat(token.part(Part.SKIPPED_WAIT))
                .isEqualTo(
                        58 * (EngineScript.FIXED_NANOS + EngineScript.SEQUENCE_NANOS + 64 * EngineScript.PROMPT_NANOS));
        assertThat(token.sum()).isEqualTo(token.gap());
    }

    @Test
    void leftOutWhileOthersUsedUpTheTokenBudget() {
        EngineScript engine = warm(new EngineScript().configured(64L, 8));
        engine.queue("long", 630);
        for (int i = 0; i < 10; i++) {
            engine.step().decode("b").prefill("long", 63).run();
        }
        engine.decode(1, "a", "b");

        Token token = engine.told().last("a");

        assertThat(token.cause()).isEqualTo(Cause.TOKEN_BUDGET_STARVATION);
        assertThat(token.culprit()).isEqualTo("long");
        assertThat(token.parts()).doesNotContainKey(Part.PREEMPTED_WAIT);
    }

    @Test
    void ownPromptStepsStarveNobodyOfThemselves() {
        EngineScript engine = warm();
        engine.finish("b", "stop").queue("long", 640);
        for (int i = 0; i < 9; i++) {
            engine.step().prefill("long", 64).run();
        }
        // Left out once, while a decodes.
        engine.step().decode("a").late(60 * MILLIS).run();
        engine.step().decode("a").prefill("long", 64).run();

        Token token = engine.told().token("long", 0);

        assertThat(token.part(Part.SKIPPED_WAIT)).isGreaterThan(60 * MILLIS);
        assertThat(token.cause()).isEqualTo(Cause.UNRESOLVED_STALL);
    }

    @Test
    void leftOutWithBudgetToSpareIsUnresolved() {
        EngineScript engine = warm(new EngineScript().configured(2_048L, 8));
        engine.decode(10, "b").decode(1, "a", "b");

        Token token = engine.told().last("a");

        assertThat(token.cause()).isEqualTo(Cause.UNRESOLVED_STALL);
        assertThat(token.part(Part.SKIPPED_WAIT)).isPositive();
    }

    @Test
    void aSlowFirstPromptIsNobodyElsesPrefill() {
        EngineScript engine = warm();
        engine.finish("a", "stop").finish("b", "stop");
        engine.queue("long", 1_000);
        engine.step().prefill("long", 500).run();
        engine.step().prefill("long", 500).late(200 * MILLIS).run();

        Token token = engine.told().token("long", 0);

        assertThat(token.part(Part.PREFILL)).isGreaterThan(100 * MILLIS);
        assertThat(token.cause()).isEqualTo(Cause.UNRESOLVED_STALL);
    }

    @Test
    void aFirstTokensOwnPromptIsNotASlowness() {
        EngineScript engine = warm();
        engine.queue("long", 1_000);
        engine.step().prefill("long", 500).run();
        engine.step().prefill("long", 500).run();

        assertThat(engine.told().token("long", 0).cause()).isNull();
    }

    // ---- the queue

    @Test
    void waitedForASeat() {
        EngineScript engine = warm(new EngineScript().configured(2_048L, 2));
        engine.queue("late", 64);
        for (int i = 0; i < 50; i++) {
            engine.step().decode("a", "b").counts(2, 1).run();
        }
        engine.finish("b", "stop");
        engine.step().decode("a").prefill("late", 64).run();

        Token token = engine.told().token("late", 0);

        assertThat(token.cause()).isEqualTo(Cause.SEAT_LIMIT);
        assertThat(token.part(Part.QUEUE_WAIT)).isGreaterThan(50 * EngineScript.FIXED_NANOS);
    }

    @Test
    void waitedForASeatThoughBlocksWereShortToo() {
        EngineScript engine = warm(new EngineScript().configured(2_048L, 2).kvBlocks(9_999, 10_000));
        engine.queue("late", 64);
        for (int i = 0; i < 50; i++) {
            engine.step().decode("a", "b").counts(2, 1).run();
        }
        engine.step().decode("a").prefill("late", 64).run();

        assertThat(engine.told().token("late", 0).cause()).isEqualTo(Cause.SEAT_LIMIT);
    }

    /** Requests wait behind a prompt whose first chunk fits while all of it does not; the step has tokens left. */
    private static EngineScript behindALongPrompt(EngineScript engine) {
        engine.kvBlocks(9_960, 10_000).queue("long", 1_000).queue("late", 64);
        for (int i = 0; i < 50; i++) {
            engine.step().decode("a", "b").counts(2, 2).run();
        }
        engine.kvBlocks(9_900, 10_000);
        engine.step().decode("a", "b").prefill("long", 500).prefill("late", 10).run();
        return engine.step()
                .decode("a", "b")
                .prefill("long", 400)
                .prefill("late", 54)
                .run();
    }

    @Test
    void waitedForBlocksBehindAPromptThatDoesNotFitAsAWhole() {
        EngineScript engine = behindALongPrompt(warm(new EngineScript().configured(512L, 8)));

        assertThat(engine.told().token("late", 0).cause()).isEqualTo(Cause.KV_PRESSURE);
    }

    @Test
    void didNotWaitForBlocksWhereTheFirstChunkIsEnough() {
        EngineScript engine = warm(new EngineScript().configured(512L, 8));
        engine.kvBlocks(9_970, 10_000).queue("early", 900);
        engine.step().decode("a", "b").prefill("early", 400).run();
        behindALongPrompt(engine);

        assertThat(engine.told().token("late", 0).cause()).isEqualTo(Cause.QUEUE_WAIT);
    }

    @Test
    void waitedForBlocksWithASeatFree() {
        EngineScript engine = warm(new EngineScript().configured(2_048L, 8).kvBlocks(9_998, 10_000));
        engine.queue("late", 64);
        for (int i = 0; i < 50; i++) {
            engine.step().decode("a", "b").counts(2, 1).run();
        }
        engine.step().decode("a", "b").prefill("late", 64).run();

        Token token = engine.told().token("late", 0);

        assertThat(token.cause()).isEqualTo(Cause.KV_PRESSURE);
        assertThat(token.culprit()).isEqualTo("a");
    }

    @Test
    void waitedWithSeatAndBlocksFree() {
        EngineScript engine = warm(new EngineScript().configured(2_048L, 8).kvBlocks(9_500, 10_000));
        engine.queue("late", 64);
        for (int i = 0; i < 50; i++) {
            engine.step().decode("a", "b").counts(2, 1).run();
        }
        engine.step().decode("a", "b").prefill("late", 64).run();

        assertThat(engine.told().token("late", 0).cause()).isEqualTo(Cause.QUEUE_WAIT);
    }

    @Test
    void seatsThatRanOutAfterItsFirstScheduleDelayedItNot() {
        EngineScript engine = warm(new EngineScript().configured(2_048L, 3));
        engine.queue("late", 128);
        for (int i = 0; i < 8; i++) {
            engine.step().decode("a", "b").counts(2, 1).run();
        }
        engine.queue("other", 64);
        engine.step().decode("a", "b").prefill("late", 64).counts(3, 1).run();
        engine.step().decode("a", "b").late(20 * MILLIS).counts(3, 1).run();
        engine.step().decode("a", "b").prefill("late", 64).counts(3, 1).run();

        Token token = engine.told().token("late", 0);

        assertThat(token.part(Part.QUEUE_WAIT)).isGreaterThan(8 * EngineScript.FIXED_NANOS);
        assertThat(token.cause()).isEqualTo(Cause.QUEUE_WAIT);
    }

    @Test
    void usageAloneIsNoKvPressure() {
        EngineScript engine = warm(new EngineScript().configured(2_048L, 8).kvBlocks(9_500, 10_000));
        engine.step().decode("a", "b").late(60 * MILLIS).run();

        assertThat(engine.told().tokens()).noneMatch(token -> token.cause() == Cause.KV_PRESSURE);
    }

    // ---- load

    @Test
    void moreSequencesThanUsual() {
        EngineScript engine = warm();
        String[] crowd = new String[40];
        for (int i = 0; i < crowd.length; i++) {
            crowd[i] = "crowd" + i;
        }
        engine.start(8, crowd);
        for (int i = 0; i < 2; i++) {
            engine.step().decode("a", "b").decode(crowd).run();
        }

        Token token = engine.told().last("crowd7");

        assertThat(token.cause()).isEqualTo(Cause.BATCH_GROWTH);
        assertThat(token.part(Part.BATCH)).isCloseTo(4 * MILLIS, within(MILLIS));
    }

    @Test
    void aLongRequestJoins() {
        EngineScript engine = warm();
        engine.queue("long", 8_000);
        engine.step().decode("a", "b").prefill("long", 8_000).run();
        engine.step().decode("a", "b", "long").run();

        Token token = engine.told().last("a");

        assertThat(token.cause()).isEqualTo(Cause.CONTEXT_GROWTH);
        assertThat(token.culprit()).isEqualTo("long");
        assertThat(token.why().confidence).isEqualTo(Confidence.CONSISTENT_WITH.levelName());
        assertThat(token.part(Part.CONTEXT)).isCloseTo(8 * MILLIS, within(MILLIS));
    }

    @Test
    void usualStepsAreNotSlow() {
        EngineScript engine = warm().decode(50, "a", "b");
        int made = engine.madeTokens("a");

        assertThat(engine.told().tokens("a").subList(made - 50, made)).allMatch(token -> token.slow() == null);
    }

    // ---- the host

    @Test
    void threadsStoodReadyWithoutACore() {
        EngineScript engine = warm(new EngineScript().hostSampled());
        Token token = ofLateStep(engine, 60 * MILLIS, Threads.STAND_READY);

        assertThat(token.cause()).isEqualTo(Cause.HOST_CONTENTION);
        assertThat(token.is(TokenBatch.HOST_COVERED)).isTrue();
        assertThat(token.part(Part.HOST_CONTENTION)).isCloseTo(60 * MILLIS, within(6 * MILLIS));
    }

    @Test
    void anEngineThatSleptBeforeARequestCameDidNotPauseIt() {
        EngineScript engine = warm(new EngineScript().hostSampled());
        engine.finish("a", "stop").finish("b", "stop").idle(500 * MILLIS, Threads.STAND_STILL);
        engine.queue("c", 64);
        engine.step().prefill("c", 64).late(20 * MILLIS, Threads.RUN).run();
        engine.decode(5, "c");

        Token token = engine.told().token("c", 0);

        assertThat(token.part(Part.HOST_PAUSE)).isZero();
        assertThat(token.cause()).isEqualTo(Cause.UNRESOLVED_STALL);
    }

    @Test
    void coreRecordsOfAnotherClockAreNoEvidence() {
        EngineScript engine = warm(new EngineScript().hostSampled());
        engine.step().decode("a", "b").late(60 * MILLIS, Threads.STAND_READY).run();
        engine.decode(5, "a", "b");
        EngineState state = new EngineState();
        state.engineId = EngineScript.ENGINE;
        Told told = new Told();
        EngineTimeline timeline = new EngineTimeline(state, told);
        for (LoggedEvent logged : engine.events()) {
            EventHeader header = logged.header();
            LoggedEvent event = logged.event() instanceof HostSampled
                    ? new LoggedEvent(
                            new EventHeader(
                                    header.collectorId(),
                                    header.collectorEpoch(),
                                    header.sequence(),
                                    "host-b/mono",
                                    header.clockNanos(),
                                    header.coarseEpochMillis()),
                            logged.event())
                    : logged;
            timeline.accept(event, EventCodec.encode(event));
        }
        timeline.finish();

        Token token = told.token("a", engine.madeTokens("a") - 6);

        assertThat(token.cause()).isEqualTo(Cause.UNRESOLVED_STALL);
        assertThat(token.is(TokenBatch.HOST_COVERED)).isFalse();
    }

    @Test
    void theProcessStoodStill() {
        EngineScript engine = warm(new EngineScript().hostSampled());
        Token token = ofLateStep(engine, 120 * MILLIS, Threads.STAND_STILL);

        assertThat(token.cause()).isEqualTo(Cause.HOST_PAUSE);
        assertThat(token.part(Part.HOST_PAUSE)).isCloseTo(120 * MILLIS, within(20 * MILLIS));
    }

    @Test
    void anEngineThatIsStoppedIsAPauseWhateverItsWorkerWaitsFor() {
        EngineScript engine = warm(new EngineScript().hostSampled());
        Token token = ofLateStep(engine, 120 * MILLIS, Threads.ENGINE_STILL_WORKER_READY);

        assertThat(token.cause()).isEqualTo(Cause.HOST_PAUSE);
    }

    /** Runs a step that takes longer by so much in which threads did that, and five more; the token of "a" that it made. */
    private static Token ofLateStep(EngineScript engine, long nanos, Threads threads) {
        engine.step().decode("a", "b").late(nanos, threads).run();
        engine.decode(5, "a", "b");
        return engine.told().token("a", engine.madeTokens("a") - 6);
    }

    // ---- waits for block I/O

    private static EngineScript warmAndSampled() {
        return warm(new EngineScript().hostSampled().blockIoCounted());
    }

    private static long partsOf(Token token) {
        return token.parts().values().stream().mapToLong(Long::longValue).sum();
    }

    @Test
    void aProcessThatWaitedForBlockIoIsAPauseThatSaysSo() {
        EngineScript engine = warmAndSampled();
        Token token = ofLateStep(engine, 120 * MILLIS, Threads.WAIT_FOR_BLOCK_IO);

        assertThat(token.cause()).isEqualTo(Cause.HOST_PAUSE);
        assertThat(token.part(Part.HOST_PAUSE)).isCloseTo(120 * MILLIS, within(20 * MILLIS));
        assertThat(partsOf(token)).isEqualTo(token.gapNanos());
        assertThat(token.culprit()).isEqualTo("engine");
        assertThat(token.why().confidence).isEqualTo(Confidence.ESTABLISHED.levelName());
        assertThat(token.why().confidenceWhy).contains("block I/O");
        assertThat(token.why().chain).anyMatch(sentence -> sentence.contains("waited for block I/O"));
    }

    @Test
    void theSamePauseWithoutTheCountSaysNothingOfBlockIo() {
        EngineScript engine = warm(new EngineScript().hostSampled());
        Token token = ofLateStep(engine, 120 * MILLIS, Threads.WAIT_FOR_BLOCK_IO);

        assertThat(token.cause()).isEqualTo(Cause.HOST_PAUSE);
        assertThat(token.why().confidenceWhy + token.why().chain).doesNotContain("block I/O");
    }

    @Test
    void aPauseBesideWhichNothingWasCountedSaysNothingOfBlockIo() {
        EngineScript engine = warmAndSampled();
        Token token = ofLateStep(engine, 120 * MILLIS, Threads.STAND_STILL);

        assertThat(token.cause()).isEqualTo(Cause.HOST_PAUSE);
        assertThat(token.why().confidenceWhy + token.why().chain).doesNotContain("block I/O");
    }

    @Test
    void withoutCoreRecordsAWaitForBlockIoIsUnresolved() {
        EngineScript engine = warm();
        engine.step()
                .decode("a", "b")
                .late(120 * MILLIS, Threads.WAIT_FOR_BLOCK_IO)
                .run();

        Token token = engine.told().last("a");

        assertThat(token.cause()).isEqualTo(Cause.UNRESOLVED_STALL);
        assertThat(token.part(Part.UNEXPLAINED)).isCloseTo(120 * MILLIS, within(MILLIS));
        assertThat(token.part(Part.HOST_PAUSE)).isZero();
    }

    @Test
    void aWaitForBlockIoAndOneForACoreAreChargedOnceEach() {
        EngineScript engine = warmAndSampled();
        engine.idle(50 * MILLIS, Threads.STAND_READY);
        Token token = ofLateStep(engine, 70 * MILLIS, Threads.WAIT_FOR_BLOCK_IO);

        assertThat(token.cause()).isEqualTo(Cause.HOST_PAUSE);
        assertThat(token.part(Part.HOST_PAUSE)).isCloseTo(70 * MILLIS, within(11 * MILLIS));
        assertThat(token.part(Part.HOST_CONTENTION) + token.part(Part.HOST_GAP))
                .isCloseTo(50 * MILLIS, within(11 * MILLIS));
        assertThat(partsOf(token)).isEqualTo(token.gapNanos());
    }

    @Test
    void halfOfAStepInBlockIoIsNamedWhereStandingStillForHalfOfItIsNot() {
        for (boolean counted : new boolean[] {true, false}) {
            EngineScript script = new EngineScript().hostSampled();
            EngineScript engine = warm(counted ? script.blockIoCounted() : script);
            engine.step()
                    .decode("a", "b")
                    .late(70 * MILLIS, Threads.WAIT_FOR_BLOCK_IO)
                    .late(50 * MILLIS, Threads.RUN)
                    .run();
            engine.decode(5, "a", "b");

            Token token = engine.told().token("a", engine.madeTokens("a") - 6);

            assertThat(token.cause()).isEqualTo(counted ? Cause.HOST_PAUSE : Cause.UNRESOLVED_STALL);
            assertThat(token.part(Part.HOST_PAUSE)).isCloseTo(counted ? 70 * MILLIS : 0, within(11 * MILLIS));
            assertThat(token.part(Part.UNEXPLAINED)).isCloseTo((counted ? 50 : 120) * MILLIS, within(11 * MILLIS));
            assertThat(partsOf(token)).isEqualTo(token.gapNanos());
        }
    }

    @Test
    void whatAProcessUsuallyWaitsForBlockIoNamesNothing() {
        EngineScript engine = warmAndSampled();
        for (int i = 0; i < 100; i++) {
            engine.step()
                    .decode("a", "b")
                    .late(25 * MILLIS, Threads.WAIT_FOR_BLOCK_IO)
                    .run();
        }
        engine.step()
                .decode("a", "b")
                .late(25 * MILLIS, Threads.WAIT_FOR_BLOCK_IO)
                .late(60 * MILLIS, Threads.RUN)
                .run();
        engine.decode(5, "a", "b");

        Token token = engine.told().token("a", engine.madeTokens("a") - 6);

        assertThat(token.cause()).isEqualTo(Cause.UNRESOLVED_STALL);
    }

    @Test
    void promptsOfAColdModelAreNoBlockIoAndBlockIoBesideThemIsNamed() {
        EngineScript engine = new EngineScript().hostSampled().blockIoCounted().start(64, "a", "b");
        engine.decode(60, "a", "b");
        // Prompts of which the model has seen none, every other step.
        for (int i = 0; i < 8; i++) {
            String other = "cold" + i;
            engine.queue(other, 400);
            engine.step().decode("a", "b").prefill(other, 400).run();
            engine.finish(other, "stop");
            engine.step().decode("a", "b").run();
        }
        int plain = engine.madeTokens("a");
        engine.queue("last", 400);
        engine.step()
                .decode("a", "b")
                .prefill("last", 400)
                .late(200 * MILLIS, Threads.WAIT_FOR_BLOCK_IO)
                .run();
        engine.decode(5, "a", "b");

        Told told = engine.told();

        assertThat(told.tokens("a").subList(0, plain)).allSatisfy(token -> {
            assertThat(token.cause()).isNotEqualTo(Cause.HOST_PAUSE);
            assertThat(token.part(Part.HOST_PAUSE)).isZero();
        });
        Token token = told.token("a", plain);
        assertThat(token.cause()).isEqualTo(Cause.HOST_PAUSE);
        assertThat(token.part(Part.HOST_PAUSE)).isCloseTo(200 * MILLIS, within(20 * MILLIS));
        assertThat(partsOf(token)).isEqualTo(token.gapNanos());
        assertThat(token.why().chain).anyMatch(sentence -> sentence.contains("waited for block I/O"));
    }

    @Test
    void noStepWasInFlight() {
        EngineScript engine = warm();
        engine.idle(60 * MILLIS).decode(1, "a", "b");

        Token token = engine.told().last("a");

        assertThat(token.cause()).isEqualTo(Cause.HOST_GAP);
        assertThat(token.part(Part.HOST_GAP)).isCloseTo(60 * MILLIS, within(MILLIS / 100));
        assertThat(token.why().confidence).isEqualTo(Confidence.CONSISTENT_WITH.levelName());
    }

    @Test
    void withoutCoreRecordsALongStepIsUnresolved() {
        EngineScript engine = warm();
        engine.step().decode("a", "b").late(120 * MILLIS, Threads.STAND_STILL).run();

        Token token = engine.told().last("a");

        assertThat(token.cause()).isEqualTo(Cause.UNRESOLVED_STALL);
        assertThat(token.why().confidence).isEqualTo(Confidence.UNRESOLVED.levelName());
        assertThat(token.is(TokenBatch.HOST_COVERED)).isFalse();
        assertThat(token.part(Part.UNEXPLAINED)).isCloseTo(120 * MILLIS, within(MILLIS));
    }

    @Test
    void coreRecordsThatShowNothingLeaveALongStepUnresolved() {
        EngineScript engine = warm(new EngineScript().hostSampled());
        engine.step().decode("a", "b").late(120 * MILLIS).run();
        engine.decode(5, "a", "b");

        Token token = engine.told().token("a", engine.madeTokens("a") - 6);

        assertThat(token.cause()).isEqualTo(Cause.UNRESOLVED_STALL);
        assertThat(token.is(TokenBatch.HOST_COVERED)).isTrue();
    }

    @Test
    void aStepWhoseCoreRecordsNeverComeIsJudgedWithoutThem() {
        EngineScript engine = new EngineScript().hostSampled();
        engine.start(64, "a", "b").decode(50, "a", "b").hostSampledNoMore();
        engine.decode(50, "a", "b");

        Told told = engine.told();

        assertThat(told.tokens("a")).hasSize(101);
        assertThat(told.token("a", 20).is(TokenBatch.HOST_COVERED)).isTrue();
        assertThat(told.last("a").is(TokenBatch.HOST_COVERED)).isFalse();
    }

    // ---- what a cold model says

    @Test
    void coldModelGivesTheRestToThePromptInTheStep() {
        EngineScript engine = new EngineScript().start(64, "a").decode(8, "a");
        engine.queue("long", 200);
        engine.step().decode("a").prefill("long", 200).run();

        Token token = engine.told().last("a");

        assertThat(token.cause()).isEqualTo(Cause.PREFILL_INTERFERENCE);
        assertThat(token.culprit()).isEqualTo("long");
        assertThat(token.why().confidence).isEqualTo(Confidence.CONSISTENT_WITH.levelName());
        assertThat(token.sum()).isEqualTo(token.gap());
    }

    @Test
    void aModelThatNeverSawAPromptIsColdForPrompts() {
        EngineScript engine = new EngineScript();
        engine.step()
                .announce("a", 64, 10)
                .announce("b", 64, 10)
                .decode("a", "b")
                .run();
        engine.decode(100, "a", "b").queue("long", 200);
        engine.step().decode("a", "b").prefill("long", 200).run();

        Token token = engine.told().last("a");

        assertThat(token.cause()).isEqualTo(Cause.PREFILL_INTERFERENCE);
        assertThat(token.culprit()).isEqualTo("long");
    }

    @Test
    void withoutADecodeStepThereIsNoReferenceAndNothingIsSlow() {
        Told told = new EngineScript().start(64, "a", "b", "c").told();

        assertThat(told.tokens()).hasSize(3).allMatch(token -> token.referenceNanos() == null);
        assertThat(told.tokens()).allMatch(token -> token.slow() == null && token.sum() == token.gap());
    }

    // ---- graph mode

    @Test
    void eagerInsteadOfACapturedGraph() {
        EngineScript engine = new EngineScript().start(64, "a", "b", "c");
        for (int i = 0; i < 60; i++) {
            engine.step().decode("a", "b", "c").graph("full", 4).run();
        }
        for (int i = 0; i < 30; i++) {
            engine.step()
                    .decode("a", "b", "c")
                    .graph("eager", 3)
                    .late(4 * MILLIS)
                    .run();
        }
        Told told = engine.told();
        Token token = told.last("b");

        assertThat(token.cause()).isEqualTo(Cause.KERNEL_FALLBACK);
        assertThat(token.part(Part.GRAPH)).isCloseTo(4 * MILLIS, within(MILLIS));
        assertThat(token.why().confidence).isEqualTo(Confidence.ESTABLISHED.levelName());
        assertThat(token.why().chain).anyMatch(sentence -> sentence.contains("graph mode eager; usual is full"));
        assertThat(token.culprit()).isNull();
        assertThat(token.sum()).isEqualTo(token.gap());
        // The first one is before the mode was learnt: that it ran in the other mode is recorded, what that costs is
        // not known.
        Token first = told.token("b", 61);
        assertThat(first.cause()).isEqualTo(Cause.KERNEL_FALLBACK);
        assertThat(first.why().confidence).isEqualTo(Confidence.CONSISTENT_WITH.levelName());
        assertThat(first.part(Part.GRAPH)).isCloseTo(4 * MILLIS, within(MILLIS));
        assertThat(first.sum()).isEqualTo(first.gap());
    }

    @Test
    void theSameStallInTheUsualGraphModeIsNoFallback() {
        EngineScript engine = new EngineScript().start(64, "a", "b", "c");
        for (int i = 0; i < 60; i++) {
            engine.step().decode("a", "b", "c").graph("full", 4).run();
        }
        for (int i = 0; i < 30; i++) {
            engine.step()
                    .decode("a", "b", "c")
                    .graph("full", 4)
                    .late(4 * MILLIS)
                    .run();
        }

        assertThat(engine.told().tokens())
                .noneMatch(token -> token.cause() == Cause.KERNEL_FALLBACK || token.part(Part.GRAPH) != 0);
    }

    // ---- load or anomaly

    @Test
    void whatTheLoadExplainsIsLoadAndTheRestIsAnomaly() {
        EngineScript engine = warm();
        engine.queue("big", 400);
        engine.step().decode("a", "b").prefill("big", 400).run();
        engine.finish("big", "stop");
        engine.decode(3, "a", "b");
        engine.step().decode("a", "b").late(30 * MILLIS).run();
        Told told = engine.told();
        List<Token> tokens = told.tokens("a");
        Token beside = tokens.get(tokens.size() - 5);
        Token late = tokens.get(tokens.size() - 1);

        assertThat(beside.cause()).isEqualTo(Cause.PREFILL_INTERFERENCE);
        assertThat(beside.is(TokenBatch.LOAD)).isTrue();
        assertThat(beside.is(TokenBatch.ANOMALY)).isFalse();
        assertThat(late.cause()).isEqualTo(Cause.UNRESOLVED_STALL);
        assertThat(late.is(TokenBatch.ANOMALY)).isTrue();
        assertThat(late.is(TokenBatch.LOAD)).isFalse();
        List<StepAnalysis> steps = told.steps;
        assertThat(steps.get(steps.size() - 5).slowKind()).isEqualTo("load");
        assertThat(steps.get(steps.size() - 2).slowKind()).isNull();
        assertThat(steps.get(steps.size() - 1).slowKind()).isEqualTo("anomaly");
        assertThat(tokens).allMatch(token -> token.slow() != null || !token.is(TokenBatch.LOAD | TokenBatch.ANOMALY));
    }

    @Test
    void aColdModelSaysNeitherLoadNorAnomaly() {
        EngineScript engine = new EngineScript().start(64, "a", "b").decode(10, "a", "b");
        engine.step().decode("a", "b").late(60 * MILLIS).run();
        Told told = engine.told();

        assertThat(told.last("a").slow()).isNotNull();
        assertThat(told.tokens()).noneMatch(token -> token.is(TokenBatch.LOAD) || token.is(TokenBatch.ANOMALY));
        assertThat(told.steps).allMatch(step -> step.slowKind() == null && step.expectedNanos() == null);
    }

    @Test
    void everyJudgedStepNamesAVersionThatExistsAndSharesThatSumUp() {
        Told told = warm().decode(40, "a", "b").told();
        assertThat(told.models).isNotEmpty();
        for (StepAnalysis step : told.steps) {
            if (step.modelVersion() == null) {
                continue;
            }
            ModelSnapshot version = told.models.get(step.modelVersion() - 1);
            assertThat(version.version()).isEqualTo(step.modelVersion());
            assertThat(version.dpRank()).isEqualTo(step.dpRank());
            assertThat(version.validFromStepId()).isLessThanOrEqualTo(step.stepId());
            assertThat(step.referenceNanos()).isEqualTo(version.referenceNanos());
            assertThat(step.batchNanos()
                            + step.contextNanos()
                            + step.prefillNanos()
                            + step.recomputeNanos()
                            + step.graphNanos())
                    .isEqualTo(step.expectedNanos() - step.referenceNanos());
        }
    }

    // ---- steps

    @Test
    void timeIsTakenFromTheEndOfTheStepBeforeWhenTwoAreInFlight() {
        EngineScript engine = warm();
        Step second = engine.step().decode("a", "b").overlapping(4 * MILLIS);
        long law = second.lawNanos();
        second.run();

        Told told = engine.told();
        StepAnalysis step = told.steps.get(told.steps.size() - 1);

        assertThat(step.stepNanos()).isEqualTo(law);
        assertThat(step.idleNanos()).isZero();
        assertThat(told.last("a").gapNanos()).isEqualTo(law);
    }

    @Test
    void aStepWithoutAScheduleStampBeginsWhereTheOneBeforeEnded() {
        EngineScript engine = warm();
        engine.idle(30 * MILLIS);
        Step step = engine.step().decode("a", "b").withoutSchedule();
        long law = step.lawNanos();
        step.run();

        StepAnalysis analysis =
                engine.told().steps.get((int) engine.told().steps.size() - 1);

        assertThat(analysis.stepNanos()).isEqualTo(law + 30 * MILLIS);
        assertThat(analysis.idleNanos()).isZero();
    }

    @Test
    void furtherTokensOfAStepCostNothingMore() {
        EngineScript engine = warm();
        Step step = engine.step().decodeSeveral("a", 3).decode("b");
        long law = step.lawNanos();
        step.run();
        Told told = engine.told();
        int last = engine.madeTokens("a") - 1;

        assertThat(told.token("a", last - 2).gapNanos()).isEqualTo(law);
        assertThat(told.token("a", last - 1).gapNanos()).isZero();
        assertThat(told.token("a", last).gapNanos()).isZero();
        assertThat(told.tokens("a").subList(last - 2, last + 1)).allMatch(token -> token.is(TokenBatch.SEVERAL));
        assertThat(told.tokens("a").subList(last - 2, last + 1)).allMatch(token -> token.sum() == token.gap());
    }

    @Test
    void severalTokensOfAnEventAreSlowPerToken() {
        EngineScript engine = warm();
        engine.step().decodeSeveral("a", 4).decode("b").late(10 * MILLIS).run();

        Told told = engine.told();

        assertThat(told.token("a", engine.madeTokens("a") - 4).cause()).isNull();
        assertThat(told.last("b").cause()).isEqualTo(Cause.UNRESOLVED_STALL);
    }

    @Test
    void rowsOfHandlesThatNobodyAnnouncesAreRefusedAndCounted() {
        EngineScript engine = new EngineScript().start(64, "a");
        engine.step().decode("a").unknown(77).run();
        engine.step().decode("a").unknown(77).unknown(78).run();
        EngineState state = new EngineState();

        Told told = engine.told(state);

        assertThat(state.unknownHandleRows).isEqualTo(3);
        assertThat(told.tokens()).hasSize(3).allMatch(token -> token.requestId().equals("a"));
        assertThat(told.rejected)
                .hasSize(2)
                .allMatch(rejected -> rejected.reason().contains("never announced: [77"));
    }

    @Test
    void aRowWaitsForTheNameThatALaterStepSays() {
        EngineScript engine = new EngineScript().start(64, "a");
        // Handle 1: announced a few steps later than it is first used.
        Step early = engine.step().decode("a").unknown(1, 10);
        early.run();
        engine.decode(3, "a");
        engine.step().announce("old", 64, 11).decode("a", "old").run();
        Told told = engine.told();

        assertThat(told.tokens("old")).extracting(Token::index).containsExactly(10, 11);
        assertThat(told.rejected).isEmpty();
        assertThat(told.tokens("a")).hasSize(6);
    }

    @Test
    void aNameThatDoesNotComeHoldsNothingUpForLong() {
        EngineScript engine = new EngineScript().start(64, "a");
        for (int i = 0; i < 4_000; i++) {
            engine.step().decode("a").unknown(77).run();
        }
        EngineState state = new EngineState();
        state.engineId = EngineScript.ENGINE;
        Told told = new Told();
        EngineTimeline timeline = new EngineTimeline(state, told);
        int most = 0;
        for (LoggedEvent event : engine.events()) {
            timeline.accept(event, EventCodec.encode(event));
            most = Math.max(most, state.waitingEvents.size());
        }

        assertThat(most).isLessThanOrEqualTo(EngineTimeline.NAME_EVENTS + 2);
        // Once it has been waited for in vain it is not waited for again.
        assertThat(state.waitingEvents.size()).isLessThan(10);
    }

    // ---- stamps, ids and records that cannot be

    @Test
    void aYearLongStepHasNoTimeAndTeachesNothing() {
        EngineScript engine = warm();
        engine.step().decode("a", "b").late(366L * 86_400_000 * MILLIS).run();
        engine.decode(2, "a", "b");
        EngineState state = new EngineState();
        Told told = engine.told(state);
        int made = engine.madeTokens("a");

        assertThat(told.token("a", made - 3).gapNanos()).isNull();
        assertThat(told.token("a", made - 1).cause()).isNull();
        assertThat(told.token("a", made - 1).gapNanos()).isLessThan(10 * MILLIS);
        assertThat(state.absurdSteps).isEqualTo(1);
    }

    @Test
    void aClockThatGoesBackBreaksTheGapAndNothingElse() {
        EngineScript engine = warm().back(3_000 * MILLIS).decode(3, "a", "b");
        EngineState state = new EngineState();
        Told told = engine.told(state);
        int made = engine.madeTokens("a");

        assertThat(told.tokens("a")).hasSize(made);
        assertThat(told.token("a", made - 3).gapNanos()).isNull();
        assertThat(told.token("a", made - 2).gapNanos()).isPositive();
        assertThat(state.absurdSteps).isEqualTo(1);
    }

    @Test
    void aStepThatComesAgainIsRefused() {
        EngineScript engine = warm();
        engine.logged(engine.lastStep()).decode(2, "a", "b");
        Told told = engine.told();

        assertThat(told.rejected)
                .singleElement()
                .satisfies(rejected -> assertThat(rejected.reason()).contains("came again"));
        assertThat(told.tokens("a")).hasSize(engine.madeTokens("a"));
        assertThat(told.last("a").gapNanos()).isPositive();
    }

    @Test
    void twoUsesOfOneIdAtOnceAreToldApart() {
        EngineScript engine = new EngineScript().start(64, "a", "x").decode(5, "a", "x");
        engine.queue("x", 64);
        engine.step().prefill("x", 64).run();
        engine.decode(3, "a", "x").finish("x", "stop");
        EngineState state = new EngineState();
        Told told = engine.told(state);

        assertThat(told.batches.stream()
                        .filter(batch -> batch.name.requestId.equals("x"))
                        .map(batch -> batch.name.unique)
                        .distinct())
                .hasSize(2);
        assertThat(told.facts(Kind.FINISHED)).isEmpty();
        assertThat(state.ambiguousFinishes).isEqualTo(1);
    }

    @Test
    void aRequestThatNeverEndsIsForgotten() {
        EngineScript engine = new EngineScript().start(64, "a", "x").decode(5, "a", "x");
        engine.decode(3, "a").idle(700_000 * MILLIS).decode(8_200, "a");
        EngineState state = new EngineState();
        Told told = engine.told(state);

        assertThat(state.sequences).hasSize(1);
        assertThat(state.silentSequences).isEqualTo(1);
        assertThat(told.tokens("x")).hasSize(6);
    }

    @Test
    void aHandleThatIsAnnouncedAgainIsTheSameAndOneThatChangesHandsLosesNothing() {
        EngineScript engine = new EngineScript().start(64, "a", "x").decode(3, "a", "x");
        engine.step().again("a").decode("a", "x").run();
        engine.reuseHandle("x");
        engine.step().announce("y", 64, 4).decode("a", "y").run();
        Told told = engine.told();

        assertThat(told.tokens("a")).hasSize(6).allMatch(token -> token.gapNanos() != null);
        assertThat(told.tokens("x")).hasSize(5);
        assertThat(told.tokens("y")).hasSize(1);
    }

    @Test
    void aRequestSeenFromTheMiddleHasNoFirstGap() {
        EngineScript engine = warm();
        engine.step().announce("old", 64, 10).decode("a", "b", "old").run();
        engine.decode(1, "a", "b", "old");
        Told told = engine.told();

        assertThat(told.tokens("old")).extracting(Token::index).containsExactly(10, 11);
        assertThat(told.token("old", 10).gapNanos()).isNull();
        assertThat(told.token("old", 10).parts()).isEmpty();
        assertThat(told.token("old", 11).gapNanos()).isPositive();
    }

    @Test
    void handlesMeanOthersAfterTheCollectorRestartedAndTheGapAcrossIsKnown() {
        EngineScript engine = new EngineScript().start(64, "a", "b").decode(5, "a", "b");
        engine.collectorRestarts();
        engine.step().announce("b", 64, 6).announce("a", 64, 6).decode("a", "b").run();
        engine.decode(1, "a", "b");
        Told told = engine.told();

        for (String requestId : List.of("a", "b")) {
            assertThat(told.tokens(requestId)).extracting(Token::index).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
            // The engine went on, and said on one clock when it made either token.
            Token across = told.token(requestId, 6);
            assertThat(across.gapNanos())
                    .isEqualTo(across.endNanos() - told.token(requestId, 5).endNanos());
            assertThat(told.token(requestId, 7).gapNanos()).isPositive();
        }
    }

    @Test
    void acrossARestartOfTheCollectorThereIsNoGapWhereATokenWasMissedOrTheNameIsOfAnotherUse() {
        EngineScript missed = new EngineScript().start(64, "a", "b").decode(5, "a", "b");
        missed.collectorRestarts();
        missed.step().announce("b", 64, 8).announce("a", 64, 6).decode("a", "b").run();
        Told told = missed.told();
        assertThat(told.token("b", 8).gapNanos()).isNull();
        assertThat(told.token("a", 6).gapNanos()).isPositive();

        EngineScript again = new EngineScript().start(64, "a").decode(5, "a");
        again.collectorRestarts();
        again.step().announce("a", 64, 3).decode("a").run();
        assertThat(again.told().tokens("a"))
                .filteredOn(token -> token.endNanos() == again.lastEndNanos())
                .singleElement()
                .satisfies(token -> assertThat(token.gapNanos()).isNull());

        EngineScript sentAgain = new EngineScript().start(64, "a").decode(5, "a");
        sentAgain.collectorRestarts();
        long queued = sentAgain.nowNanos();
        sentAgain.start(64, "a");
        assertThat(sentAgain.told().tokens("a"))
                .filteredOn(token -> token.endNanos() == sentAgain.lastEndNanos())
                .singleElement()
                .satisfies(token -> assertThat(token.gapNanos()).isEqualTo(sentAgain.lastEndNanos() - queued));
    }

    @Test
    void firstGapBeginsInTheQueue() {
        EngineScript engine = warm();
        long queued = engine.nowNanos();
        engine.start(64, "c");

        Token token = engine.told().token("c", 0);

        assertThat(token.gapNanos()).isEqualTo(engine.lastEndNanos() - queued);
    }

    @Test
    void epochTimesComeFromClockSamples() {
        EngineScript engine =
                new EngineScript().start(64, "a").idle(MILLIS).clockSampled(500).decode(2, "a");
        Told told = engine.told();

        assertThat(told.token("a", 0).epochNanos()).isNull();
        assertThat(told.token("a", 2).epochNanos())
                .isEqualTo(EngineScript.START_EPOCH_MILLIS * 1_000_000 + engine.lastEndNanos());
        // Half the bracket, and what the fastest drift may have added since.
        assertThat(told.token("a", 2).boundNanos())
                .isBetween(
                        500L, 600 + (engine.lastEndNanos() - told.token("a", 0).endNanos()) / 2_000);
    }

    // ---- facts

    @Test
    void factsTellALifeInOrder() {
        EngineScript engine = new EngineScript().start(64, "a");
        engine.queue("b", 100).cached("b", 32);
        engine.step().decode("a").prefill("b", 68).run();
        engine.decode(3, "a", "b").preempt("b", "a").decode(2, "a");
        engine.step().decode("a").recompute("b", engine.owedTokens("b")).run();
        engine.finish("b", "stop");

        List<SequenceFact> facts = engine.told().facts.stream()
                .filter(fact -> fact.name.requestId.equals("b"))
                .toList();

        assertThat(facts)
                .extracting(fact -> fact.kind)
                .containsExactly(Kind.QUEUED, Kind.SCHEDULED, Kind.PREEMPTED, Kind.RESUMED, Kind.FINISHED);
        assertThat(facts.get(0).promptTokens).isEqualTo(100);
        assertThat(facts.get(1).tokens).isEqualTo(32);
        assertThat(facts.get(2).tokens).isEqualTo(103);
        assertThat(facts.get(2).otherRequestId).isEqualTo("a");
        assertThat(facts.get(4).tokens).isEqualTo(5);
        assertThat(facts.get(4).endReason).isEqualTo("stop");
    }

    @Test
    void blocksStoredAgainAfterTheirEvictionArePromptTokensComputedAgain() {
        EngineScript engine = warm(new EngineScript().configured(2_048L, 8));
        engine.queue("first", 64).kvBatch(1);
        engine.step().decode("a", "b").prefill("first", 64).run();
        engine.stored(1L, 1L, 2L, 3L, 4L).finish("first", "stop");
        engine.queue("evictor", 128).kvBatch(2);
        engine.step().decode("a", "b").prefill("evictor", 128).run();
        engine.evicted(2, 3L, 4L).stored(2L, 11L, 12L, 13L, 14L, 15L, 16L, 17L, 18L);
        engine.queue("second", 64).cached("second", 32).kvBatch(3);
        engine.step().decode("a", "b").prefill("second", 32).run();
        engine.stored(3L, 3L, 4L);

        List<SequenceFact> facts = engine.told().facts(Kind.PREFIX_RECOMPUTED);

        assertThat(facts).hasSize(1);
        assertThat(facts.get(0).name.requestId).isEqualTo("second");
        assertThat(facts.get(0).tokens).isEqualTo(32);
        assertThat(facts.get(0).otherRequestId).isEqualTo("evictor");
    }

    @Test
    void everySentenceOfAChainCitesItsEvents() {
        EngineScript engine = warm();
        engine.queue("long", 200);
        engine.step().decode("a", "b").prefill("long", 200).run();
        engine.preempt("b", null).decode(10, "a");
        engine.step().decode("a").recompute("b", engine.owedTokens("b")).run();

        assertThat(engine.told().tokens())
                .filteredOn(token -> token.slow() != null)
                .isNotEmpty()
                .allSatisfy(token -> assertThat(token.why().chain)
                        .allMatch(sentence -> sentence.matches("(?s).+ \\[[^\\]]+/\\d+/\\d+[^\\]]*]")));
    }
}
