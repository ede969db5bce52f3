package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.cause.Cause;
import io.tokenstair.event.HostPaused;
import io.tokenstair.event.ShardLoaded;
import io.tokenstair.event.StreamStalled;
import io.tokenstair.job.step.EngineScript.Step;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is concluded of an engine as a whole, each with a schedule that shows it and one that only looks like it. */
class EngineFindingsTest {
    private static final long MILLIS = 1_000_000;
    private static final String ENGINE = EngineScript.ENGINE;

    private static EngineScript warm() {
        return EngineTimelineTest.warm();
    }

    private static Finding only(Told told, Cause cause) {
        assertThat(told.findings(cause)).hasSize(1);
        Finding finding = told.findings(cause).get(0);
        assertThat(finding.engineId()).isEqualTo(ENGINE);
        assertThat(finding.requestId()).isNull();
        assertThat(finding.evidence()).isNotEmpty();
        return finding;
    }

    // ---- preemptions

    private static EngineScript preempting(int rounds, int stepsBetween, int promptTokens) {
        EngineScript engine = warm().start(promptTokens, "victim").decode(5, "a", "b", "victim");
        for (int i = 0; i < rounds; i++) {
            engine.preempt("victim", "a").decode(stepsBetween, "a", "b");
            engine.step()
                    .decode("a", "b")
                    .recompute("victim", engine.owedTokens("victim"))
                    .run();
        }
        return engine;
    }

    @Test
    void mostOfWhatIsComputedWasComputedBefore() {
        Told told = preempting(100, 3, 400).told();

        Finding storm = only(told, Cause.PREEMPTION_STORM);
        assertThat(storm.confidence()).isEqualTo("established");
        // 100 times some 60 ms of computing again, for three tokens each.
        assertThat(storm.severity()).isEqualTo("critical");
        assertThat(told.findings(Cause.KV_PRESSURE)).isNotEmpty();
    }

    @Test
    void aFewPreemptionsAreNoStorm() {
        Told told = preempting(5, 200, 100).told();

        assertThat(told.findings(Cause.PREEMPTION_STORM)).isEmpty();
        assertThat(only(told, Cause.KV_PRESSURE).confidence()).isEqualTo("established");
    }

    @Test
    void preemptionsCloseTogetherThatSoonEndAreNoStorm() {
        assertThat(preempting(12, 3, 400).decode(600, "a", "b", "victim").told().findings(Cause.PREEMPTION_STORM))
                .isEmpty();
    }

    @Test
    void aFullPoolThatTakesNothingFromAnybodyIsNoPressure() {
        EngineScript engine =
                EngineTimelineTest.warm(new EngineScript().configured(2_048L, 8).kvBlocks(9_990, 10_000));
        engine.decode(300, "a", "b");

        assertThat(engine.told().findings(Cause.KV_PRESSURE)).isEmpty();
    }

    @Test
    void blocksEvictedFromAPoolThatIsNotFullAreNoPressure() {
        for (long used : new long[] {1_000, 9_900}) {
            EngineScript engine = EngineTimelineTest.warm(
                    new EngineScript().configured(2_048L, 8).kvBlocks(used, 10_000));
            engine.queue("first", 64).kvBatch(1);
            engine.step().decode("a", "b").prefill("first", 64).run();
            engine.stored(1L, 1L, 2L, 3L, 4L).finish("first", "stop").decode(20, "a", "b");
            engine.evicted(2, 1L, 2L, 3L, 4L).decode(20, "a", "b");
            engine.queue("second", 64).kvBatch(3);
            engine.step().decode("a", "b").prefill("second", 64).run();
            engine.stored(3L, 1L, 2L, 3L, 4L);

            assertThat(engine.told().findings(Cause.KV_PRESSURE)).hasSize(used == 1_000 ? 0 : 1);
        }
    }

    // ---- pauses, errors

    private static EngineScript paused(int times, long growNanos) {
        EngineScript engine = warm();
        for (int i = 0; i < times; i++) {
            engine.decode(100, "a", "b");
            long length = 200 * MILLIS + i * growNanos;
            engine.step().decode("a", "b").late(length).run();
            long end = engine.nowNanos();
            engine.recorded(end, new HostPaused(ENGINE, "host-a", "engine", "gc", end - length, end));
        }
        return engine.decode(5, "a", "b");
    }

    @Test
    void pausesAtAFixedPeriodAreOneFinding() {
        Finding finding = only(paused(6, 5 * MILLIS).told(), Cause.HOST_PAUSE);

        assertThat(finding.narrative()).contains("6 times", "about every", "each time for longer", "recorded as gc");
        assertThat(finding.culpritRequestId()).isEqualTo("engine");
        // Twelve tokens lost 2.5 s and more, one of them 225 ms.
        assertThat(finding.severity()).isEqualTo("warning");
    }

    @Test
    void aSinglePauseIsSaidByTheTokensItHeldUp() {
        Told told = paused(1, 0).told();

        assertThat(told.findings(Cause.HOST_PAUSE)).isEmpty();
        assertThat(told.tokens()).anyMatch(token -> token.cause() == Cause.HOST_PAUSE);
    }

    @Test
    void driverErrorsOfAnEngineAreOneFinding() {
        EngineScript engine = warm();
        for (int i = 0; i < 2; i++) {
            engine.step().decode("a", "b").late(50 * MILLIS).run();
            long end = engine.nowNanos();
            engine.recorded(
                    end,
                    new StreamStalled(ENGINE, "gpu-0", null, null, "stream-sync", end - 50 * MILLIS, end, 719, null));
            engine.decode(10, "a", "b");
        }
        Told told = engine.told();

        assertThat(only(told, Cause.DRIVER_ERROR).narrative()).contains("2 steps");
        assertThat(warm().told().findings(Cause.DRIVER_ERROR)).isEmpty();
    }

    // ---- graphs

    private static EngineScript eager(int steps, boolean returns) {
        EngineScript engine = warm();
        for (int i = 0; i < 60; i++) {
            engine.step().graph("full").decode("a", "b").run();
        }
        for (int i = 0; i < steps; i++) {
            engine.step().graph("eager").decode("a", "b").late(15 * MILLIS).run();
        }
        for (int i = 0; returns && i < 60; i++) {
            engine.step().graph("full").decode("a", "b").run();
        }
        return engine;
    }

    @Test
    void fromAPointOnStepsRanWithoutAGraph() {
        Finding gone = only(eager(200, false).told(), Cause.KERNEL_FALLBACK);
        Finding back = only(eager(200, true).told(), Cause.KERNEL_FALLBACK);

        assertThat(gone.narrative())
                .contains("it had not returned to its graphs")
                .doesNotContain("absorbing");
        assertThat(back.narrative()).contains("It returned to its graphs at step", "after 200 steps");
    }

    @Test
    void anEngineThatNeverHadAGraphFellBackToNothing() {
        EngineScript engine = warm();
        for (int i = 0; i < 100; i++) {
            engine.step().graph("eager").decode("a", "b").run();
        }

        assertThat(engine.told().findings(Cause.KERNEL_FALLBACK)).isEmpty();
    }

    // ---- the batch

    private static EngineScript waves(int waves, int crowd, long jitterNanos) {
        EngineScript engine = warm();
        for (int wave = 0; wave < waves; wave++) {
            String[] names = new String[crowd];
            Step first = null;
            for (int i = 0; i < crowd; i++) {
                names[i] = "w" + wave + "-" + i;
                engine.queue(names[i], 8);
            }
            first = engine.step().decode("a", "b");
            for (String name : names) {
                first.prefill(name, 8);
            }
            first.run();
            for (int i = 0; i < 20; i++) {
                engine.step()
                        .decode("a", "b")
                        .decode(names)
                        .late(i % 3 * jitterNanos)
                        .run();
            }
            for (String name : names) {
                engine.finish(name, "stop");
            }
            engine.decode(20, "a", "b");
        }
        return engine;
    }

    @Test
    void requestsThatComeAndGoTogetherMakeStepTimeSwing() {
        Finding finding = only(waves(8, 40, 0).told(), Cause.BATCH_OSCILLATION);

        assertThat(finding.narrative()).contains("42 sequences", "and step time with it");
    }

    @Test
    void aSwingingBatchThatTakesNoMoreTimeOrJitterWithoutABatchIsNone() {
        // Four more sequences take 0.4 ms of 6.
        assertThat(waves(8, 4, 0).told().findings(Cause.BATCH_OSCILLATION)).isEmpty();
        EngineScript jitter = warm();
        for (int i = 0; i < 300; i++) {
            jitter.step().decode("a", "b").late(i % 2 * 5 * MILLIS).run();
        }
        assertThat(jitter.told().findings(Cause.BATCH_OSCILLATION)).isEmpty();
    }

    // ---- starts

    private static List<Finding> starts(long... secondsOfSlowShard) {
        EngineScript engine = new EngineScript();
        for (long seconds : secondsOfSlowShard) {
            engine.collectorRestarts();
            for (int i = 0; i < 8; i++) {
                long from = engine.nowNanos();
                engine.idle(i == 5 ? seconds * 1_000 * MILLIS : 1_000 * MILLIS);
                engine.logged(new ShardLoaded(
                        ENGINE, 0, "gpu-" + i % 2, "shard-" + i, 1L << 30, from, engine.nowNanos(), "pcie/0000:65"));
            }
            engine.start(64, "a").decode(3, "a");
        }
        return engine.told().findings(Cause.MODEL_LOAD_SLOW);
    }

    @Test
    void aStartThatTookLongerNamesItsShardDeviceAndPath() {
        List<Finding> findings = starts(1, 1, 30);

        assertThat(findings).singleElement().satisfies(finding -> {
            assertThat(finding.narrative()).contains("shard-5", "gpu-1", "pcie/0000:65", "30.0 s instead of 1.0 s");
            assertThat(finding.culpritRequestId()).isEqualTo("gpu-1");
        });
        assertThat(starts(30)).isEmpty();
        assertThat(starts(30, 30, 1)).isEmpty();
    }

    // ---- severity

    @Test
    void whatAnEngineLostDecidesHowBadItIs() {
        List<Finding> all = new ArrayList<>();
        for (long growth : new long[] {0, 400 * MILLIS}) {
            all.addAll(paused(6, growth).told().findings(Cause.HOST_PAUSE));
        }

        // 200 ms each; then up to 2.2 s in one token.
        assertThat(all).extracting(Finding::severity).isEqualTo(Arrays.asList("warning", "critical"));
    }
}
