package io.tokenstair.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RandomStreamTest {
    private final RandomStream stream = RandomStream.ofSeed(42);

    @Test
    void aNumberDependsOnItsNameAloneAndNotOnWhatWasDrawnBefore() {
        double alone = stream.named("noise").numbered(7).uniform(3);
        for (int i = 0; i < 100; i++) {
            assertThat(stream.named("jitter").numbered(i).uniform(i)).isBetween(0.0, 1.0);
        }

        assertThat(RandomStream.ofSeed(42).named("noise").numbered(7).uniform(3))
                .isEqualTo(alone);
    }

    @Test
    void namesIdsAndIndicesDoNotMeet() {
        Set<Long> seen = new HashSet<>();
        for (int id = 0; id < 100; id++) {
            for (int index = 0; index < 100; index++) {
                seen.add(stream.numbered(id).bits(index));
                seen.add(stream.named("a").numbered(id).bits(index));
            }
        }

        assertThat(seen).hasSize(20_000);
    }

    @Test
    void numbersAreSpreadAsTheyShould() {
        double uniform = 0;
        double exponential = 0;
        double normal = 0;
        double square = 0;
        int count = 20_000;
        for (int i = 0; i < count; i++) {
            uniform += stream.uniform(i) / count;
            exponential += stream.exponential(i, 5) / count;
            double value = stream.named("normal").gaussian(i);
            normal += value / count;
            square += value * value / count;
        }

        assertThat(uniform).isCloseTo(0.5, within(0.01));
        assertThat(exponential).isCloseTo(5, within(0.15));
        assertThat(normal).isCloseTo(0, within(0.03));
        assertThat(square).isCloseTo(1, within(0.05));
    }

    @Test
    void bothEndsOfARangeAreReached() {
        Set<Long> seen = new HashSet<>();
        for (int i = 0; i < 200; i++) {
            seen.add(stream.between(i, -1, 2));
        }

        assertThat(seen).containsExactlyInAnyOrder(-1L, 0L, 1L, 2L);
    }
}
