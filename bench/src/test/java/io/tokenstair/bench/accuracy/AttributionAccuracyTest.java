package io.tokenstair.bench.accuracy;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.cause.Cause;
import io.tokenstair.simulate.Layers;
import io.tokenstair.simulate.Scenario;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class AttributionAccuracyTest {
    @ParameterizedTest
    @EnumSource(Layers.class)
    void saysTheTrueCauseOfMostSlowTokensAndCutsEveryOneExactly(Layers layers) {
        AttributionScore score = AttributionAccuracy.score(
                layers,
                List.of(Scenario.PREFILL_INTERFERENCE, Scenario.STREAM_SYNC, Scenario.PREEMPTION_STORM),
                11,
                1,
                60);

        assertThat(score.tokens).isGreaterThan(5_000);
        assertThat(score.inexact).isZero();
        assertThat(score.all.compared).isGreaterThan(500);
        assertThat(score.all.share()).isGreaterThan(0.85);
        Map<Cause, Long> syncs = score.confusion.getOrDefault(Cause.STREAM_SYNC, Map.of());
        assertThat(syncs.keySet()).first().isEqualTo(layers == Layers.ALL ? Cause.STREAM_SYNC : Cause.UNRESOLVED_STALL);
    }

    @Test
    void namesWhoHeldTheBlocksWhileARequestWaitedForThem() {
        AttributionScore score = AttributionAccuracy.score(Layers.ALL, List.of(Scenario.KV_PRESSURE), 11, 1, null);

        AttributionScore.Count culprits = score.culprits.get(Cause.KV_PRESSURE);
        assertThat(culprits).isNotNull();
        assertThat(culprits.compared).isGreaterThan(20);
        assertThat(culprits.share()).isGreaterThan(0.8);
    }

    /** All but the first step, which also computes a prompt: what eager steps take is not known yet then. */
    @Test
    void aFallbackIsTheCauseUntilItIsUsual() {
        AttributionScore score = AttributionAccuracy.score(Layers.ALL, List.of(Scenario.GRAPH_FALLBACK), 11, 1, null);

        assertThat(score.all.missed).isLessThan(score.slowInTruth / 100);
        Map<Cause, Long> said = score.confusion.getOrDefault(Cause.KERNEL_FALLBACK, Map.of());
        long all = said.values().stream().mapToLong(Long::longValue).sum();
        assertThat(all).isGreaterThan(200);
        assertThat(said.getOrDefault(Cause.KERNEL_FALLBACK, 0L)).isGreaterThan(all * 4 / 5);
    }
}
