package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.StepCompleted;
import java.util.List;
import java.util.Objects;
import java.util.function.IntPredicate;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;

/** Staircases of an engine as a whole: what is said, once, and what it rests on. */
class EngineStairsTest {
    private static final int WARM = 60;
    private static final int TURN = 40;
    private static final long STEP_NANOS = EngineScript.FIXED_NANOS + EngineScript.SEQUENCE_NANOS;

    /**
     * Decode steps, each so many times as long as the law says, with an eviction before some. Every {@link #TURN} steps another request
     * takes over: alone, one that grows could not be told from time that passes.
     */
    private static EngineScript script(int steps, IntToDoubleFunction factor, IntPredicate evicts) {
        EngineScript engine =
                new EngineScript().configured(2048L, 64).clockSampled(1_000).start(32, "a");
        engine.decode(WARM, "a");
        decode(engine, steps, factor, evicts);
        return engine;
    }

    private static void decode(EngineScript engine, int steps, IntToDoubleFunction factor, IntPredicate evicts) {
        for (int i = 0; i < steps; i++) {
            if (evicts.test(i)) {
                engine.evicted(i, 1_000L + i);
            }
            if (i % TURN == TURN - 1) {
                String before = engine.open().get(0);
                engine.finish(before, "stop").start(32, before + i);
            }
            double noise = 0.004 * Math.sin(i * 12.9898) + 0.004 * Math.sin(i * 78.233);
            engine.step()
                    .decode(engine.open().get(0))
                    .late(Math.round(STEP_NANOS * (factor.applyAsDouble(i) - 1 + 0.02 + noise)))
                    .run();
        }
    }

    private static IntToDoubleFunction levels(double rise, int... onsets) {
        return i -> {
            double level = 1;
            for (int onset : onsets) {
                level *= i >= onset ? 1 + rise : 1;
            }
            return level;
        };
    }

    private static Finding only(Told told) {
        assertThat(told.findings).hasSize(1);
        return told.findings.get(0);
    }

    @Test
    void threeLastingRisesAreOneFindingOfUnprovenCause() {
        EngineScript engine = script(900, levels(0.15, 200, 400, 600), i -> false);
        Finding finding = only(engine.told());

        assertThat(finding.cause()).isEqualTo("CONTEXT_STAIRCASE");
        assertThat(finding.rule()).isEqualTo("engine-context-staircase");
        assertThat(finding.engineId()).isEqualTo(EngineScript.ENGINE);
        assertThat(finding.requestId()).isNull();
        assertThat(finding.confidence()).isEqualTo("consistent-with");
        assertThat(finding.confidenceWhy()).isEqualTo("cause unproven: the shape alone");
        assertThat(finding.missingLayers()).containsExactly("kv-events");
        assertThat(finding.narrative()).contains("rose in 3 lasting levels", "cause unproven");
        assertThat(finding.fromEpochNanos()).isNotNull();
        assertThat(finding.toEpochNanos()).isGreaterThan(Objects.requireNonNull(finding.fromEpochNanos()));
        assertThat(finding.evidence()).hasSize(3);
        for (int i = 0; i < 3; i++) {
            int onset = 200 * (i + 1);
            int step = WARM + 1 + onset + onset / TURN;
            assertThat(stepId(engine, finding.evidence().get(i))).isBetween(step - 6, step + 6);
            assertThat(finding.narrative()).contains("[" + finding.evidence().get(i) + "]");
        }
    }

    private static int stepId(EngineScript engine, String eventId) {
        for (LoggedEvent event : engine.events()) {
            if (event.event() instanceof StepCompleted step
                    && event.header().eventId().equals(eventId)) {
                return (int) step.stepId();
            }
        }
        throw new AssertionError("no step " + eventId);
    }

    @Test
    void twoRisesWithEvictionsAtBothAreKvDrivenAndCiteThem() {
        EngineScript engine = script(600, levels(0.2, 200, 400), i -> (i >= 195 && i < 201) || (i >= 395 && i < 401));
        Finding finding = only(engine.told());

        assertThat(finding.confidence()).isEqualTo("established");
        assertThat(finding.confidenceWhy()).isEqualTo("KV events are enriched at the rises");
        assertThat(finding.missingLayers()).isEmpty();
        List<String> evictions = engine.events().stream()
                .filter(event -> event.event() instanceof KvBlocksEvicted)
                .map(event -> event.header().eventId())
                .toList();
        assertThat(finding.evidence().stream().filter(evictions::contains)).hasSize(6);
        assertThat(finding.narrative()).contains("Elsewhere KV events are clearly rarer.");
    }

    @Test
    void twoRisesAloneAreNothingAndNeitherAreEvictionsEverywhere() {
        assertThat(script(600, levels(0.2, 200, 400), i -> false).told().findings)
                .isEmpty();
        assertThat(script(600, levels(0.2, 200, 400), i -> i % 4 == 0).told().findings)
                .isEmpty();
    }

    @Test
    void aRampOneShiftAndBurstsAreNothing() {
        IntPredicate evicts = i -> i % 50 < 8;

        assertThat(script(800, i -> 1 + 0.4 * Math.max(0, Math.min(1, (i - 200) / 300.0)), evicts)
                        .told()
                        .findings)
                .isEmpty();
        assertThat(script(800, levels(0.4, 300), evicts).told().findings).isEmpty();
        assertThat(script(800, i -> i % 100 >= 40 && i % 100 < 55 ? 1.6 : 1, evicts)
                        .told()
                        .findings)
                .isEmpty();
    }

    @Test
    void promptsBesideAreNoStaircase() {
        EngineScript engine =
                new EngineScript().configured(2048L, 64).start(32, "a").decode(WARM, "a");
        for (int i = 0; i < 20; i++) {
            engine.decode(30, "a").queue("p" + i, 128);
            engine.step().decode("a").prefill("p" + i, 128).run();
            engine.finish("p" + i, "stop");
        }

        assertThat(engine.told().findings).isEmpty();
    }

    @Test
    void aCollectorThatStartsAnewBeginsANewWatch() {
        EngineScript engine = script(450, levels(0.2, 150, 300), i -> false);
        engine.collectorRestarts();
        engine.start(32, "a");
        decode(engine, 450, i -> 1.44 * levels(0.2, 150, 300).applyAsDouble(i), i -> false);

        assertThat(engine.told().findings).isEmpty();
    }

    @Test
    void aLongStaircaseIsToldOnce() {
        assertThat(script(1800, levels(0.12, 200, 400, 600, 800, 1000, 1200, 1400, 1600), i -> false)
                        .told()
                        .findings)
                .hasSize(1);
    }

    @Test
    void blocksBecomeShortOnce() {
        KvSigns signs = new KvSigns();

        assertThat(signs.blocksBecomeShort(null, 100L)).isFalse();
        assertThat(signs.blocksBecomeShort(90L, null)).isFalse();
        assertThat(signs.blocksBecomeShort(90L, 0L)).isFalse();
        assertThat(signs.blocksBecomeShort(95L, 100L)).isFalse();
        assertThat(signs.blocksBecomeShort(96L, 100L)).isTrue();
        assertThat(signs.blocksBecomeShort(97L, 100L)).isFalse();
        assertThat(signs.blocksBecomeShort(94L, 100L)).isFalse();
        assertThat(signs.blocksBecomeShort(96L, 100L)).isFalse();
        assertThat(signs.blocksBecomeShort(90L, 100L)).isFalse();
        assertThat(signs.blocksBecomeShort(100L, 100L)).isTrue();
    }

    @Test
    void hitsDropWhenTheLastPromptsFoundLessThanUsual() {
        KvSigns signs = new KvSigns();
        int drops = 0;
        for (int i = 0; i < 100; i++) {
            drops += signs.hitsDrop(800, 1000L) ? 1 : 0;
        }
        assertThat(drops).isZero();
        for (int i = 0; i < 10; i++) {
            drops += signs.hitsDrop(100, 1000L) ? 1 : 0;
        }
        assertThat(drops).isEqualTo(1);
        assertThat(signs.hitsDrop(-1, 1000L)).isFalse();
        assertThat(signs.hitsDrop(5, null)).isFalse();
        assertThat(signs.hitsDrop(Long.MAX_VALUE, 1L)).isFalse();
    }

    @Test
    void theFirstPromptsOfAColdCacheAreNoDrop() {
        KvSigns signs = new KvSigns();
        for (int i = 0; i < 15; i++) {
            assertThat(signs.hitsDrop(i == 0 ? 1000 : 0, 1000L)).isFalse();
        }
    }
}
