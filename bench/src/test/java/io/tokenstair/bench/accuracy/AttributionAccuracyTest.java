package io.tokenstair.bench.accuracy;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.cause.Cause;
import io.tokenstair.simulate.Layers;
import io.tokenstair.simulate.Scenario;
import java.util.List;
import java.util.Map;
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
}
