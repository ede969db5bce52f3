package io.tokenstair.job.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.cause.Cause;
import io.tokenstair.job.step.EngineScript;
import io.tokenstair.job.step.SequenceFact;
import io.tokenstair.job.step.Told;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When milestones are said, and when not. */
class RequestMilestonesTest {
    private static final long MILLIS = 1_000_000;

    private static Lived lived(EngineScript engine, String requestId) {
        return new RequestScript(requestId).engine(engine.told()).lived();
    }

    @Test
    void anOrdinaryRequestHasNone() {
        EngineScript engine = new EngineScript().start(64, "x").decode(200, "x").finish("x", "stop");

        assertThat(lived(engine, "x").milestones).isEmpty();
    }

    @Test
    void aSpellOfSlowTokensIsSaidOnceItHasCostFourUsualTokensAndAgainAfter64OthersOnly() {
        EngineScript engine = new EngineScript().start(64, "x").decode(60, "x");
        engine.step().decode("x").late(15 * MILLIS).run();
        engine.step().decode("x").late(15 * MILLIS).run();
        engine.step().decode("x").late(15 * MILLIS).run();
        engine.decode(40, "x");
        engine.step().decode("x").late(60 * MILLIS).run();
        engine.decode(70, "x");
        engine.step().decode("x").late(60 * MILLIS).run();
        engine.decode(5, "x").finish("x", "stop");
        Lived lived = lived(engine, "x");

        List<Milestone> slowed = lived.milestones(MilestoneKind.SLOWED);
        assertThat(slowed).extracting(Milestone::tokenIndex).containsExactly(62, 175);
        assertThat(slowed).extracting(Milestone::cause).containsOnly(Cause.UNRESOLVED_STALL);
        assertThat(slowed.get(0).lostNanos()).isGreaterThan(25 * MILLIS);
        assertThat(slowed.get(0).evidence()).isNotEmpty();
        assertThat(lived.milestones(MilestoneKind.FINISHED)).hasSize(1);
    }

    @Test
    void manyOthersWhoCostLittleEachAreNoSpell() {
        EngineScript engine = new EngineScript().start(64, "x").decode(64, "x");
        for (int i = 0; i < 40; i++) {
            String other = "p" + i;
            engine.queue(other, 80).step().decode("x").prefill(other, 80).run();
            engine.finish(other, "length").decode(1, "x");
        }

        assertThat(lived(engine, "x").milestones).isEmpty();
    }

    @Test
    void aClientThatLeavesIsSaidWhenItLeaves() {
        EngineScript engine = new EngineScript().start(64, "x").decode(20, "x").finish("x", "abort");
        Told told = engine.told();
        Lived lived = new RequestScript("x")
                .sent(told.tokens("x").get(0).endNanos() - 20 * MILLIS)
                .engine(told)
                .delivered(told, 0, "x", MILLIS)
                .ended(engine.nowNanos() + 2 * MILLIS, "client-closed")
                .lived();

        List<Milestone> left = lived.milestones(MilestoneKind.DETECTED);
        assertThat(left).extracting(Milestone::cause).containsExactly(Cause.CLIENT_ABORT);
        assertThat(left).extracting(Milestone::culpritRequestId).containsExactly("client");
        assertThat(left.get(0).evidence()).hasSize(1);
        assertThat(lived.findings("CLIENT_ABORT")).hasSize(1);
    }

    @Test
    void aFirstTokenAfterASecondIsLateWhateverTheEngineTook() {
        EngineScript engine = new EngineScript().start(64, "x").decode(20, "x").finish("x", "stop");
        Told told = engine.told();
        long sent = told.tokens("x").get(0).endNanos() - 1_200 * MILLIS;
        Lived lived = new RequestScript("x")
                .sent(sent)
                .engine(told)
                .delivered(told, 0, "x", MILLIS)
                .ended(engine.nowNanos() + 2 * MILLIS, "complete")
                .lived();

        assertThat(lived.milestones(MilestoneKind.FIRST_TOKEN_LATE))
                .singleElement()
                .satisfies(late -> {
                    assertThat(late.ttftNanos()).isEqualTo(1_201 * MILLIS);
                    assertThat(late.tokenIndex()).isZero();
                });
    }

    @Test
    void aMoreUrgentRequestThatWaitsWhileALessUrgentOneStartsIsOvertaken() {
        EngineScript engine = new EngineScript().start(64, "a").decode(20, "a");
        engine.queue("urgent", 64, 0).queue("later", 64, 5);
        engine.decode(2, "a");
        engine.step().decode("a").prefill("later", 64).run();
        engine.decode(3, "a", "later");
        engine.step().decode("a", "later").prefill("urgent", 64).run();
        Told told = engine.told();

        assertThat(told.facts)
                .filteredOn(fact -> fact.kind == SequenceFact.Kind.PASSED_OVER)
                .singleElement()
                .satisfies(fact -> {
                    assertThat(fact.name.requestId).isEqualTo("urgent");
                    assertThat(fact.otherRequestId).isEqualTo("later");
                    assertThat(fact.otherPriority).isEqualTo(5);
                });
        assertThat(lived(engine, "urgent").milestones(MilestoneKind.OVERTAKEN))
                .singleElement()
                .satisfies(overtaken -> {
                    assertThat(overtaken.priority()).isZero();
                    assertThat(overtaken.culpritPriority()).isEqualTo(5);
                    assertThat(overtaken.culpritRequestId()).isEqualTo("later");
                });
    }

    @Test
    void anEngineSaysWhatADetectorFoundWhenItBegins() {
        EngineScript engine = new EngineScript().start(64, "x").decode(60, "x");
        for (int i = 0; i < 40; i++) {
            engine.step().decode("x").graph("full", 1).run();
        }
        for (int i = 0; i < 40; i++) {
            engine.step().decode("x").graph("eager").late(0).run();
        }

        assertThat(engine.told().milestones)
                .filteredOn(milestone -> milestone.cause() == Cause.KERNEL_FALLBACK)
                .singleElement()
                .satisfies(detected -> {
                    assertThat(detected.milestoneKind()).isEqualTo(MilestoneKind.DETECTED);
                    assertThat(detected.requestId()).isNull();
                    assertThat(detected.engineId()).isEqualTo(EngineScript.ENGINE);
                    assertThat(detected.evidence()).isNotEmpty();
                });
    }
}
