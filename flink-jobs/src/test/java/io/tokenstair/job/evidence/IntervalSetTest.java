package io.tokenstair.job.evidence;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

class IntervalSetTest {
    @Test
    void saysWhatIsNew() {
        IntervalSet set = new IntervalSet();

        assertThat(set.add(10, 20)).isEqualTo(10);
        assertThat(set.add(15, 25)).isEqualTo(5);
        assertThat(set.add(30, 40)).isEqualTo(10);
        assertThat(set.add(0, 50)).isEqualTo(25);
        assertThat(set.add(5, 45)).isZero();
        assertThat(set.add(50, 50)).isZero();
        assertThat(set.totalNanos()).isEqualTo(50);
    }

    @Test
    void agreesWithABitForEveryInstant() {
        for (long seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            IntervalSet set = new IntervalSet();
            BitSet instants = new BitSet();
            for (int i = 0; i < 60; i++) {
                int start = random.nextInt(400);
                int end = start + random.nextInt(30) - 3;
                int before = instants.cardinality();
                if (end > start) {
                    instants.set(start, end);
                }
                assertThat(set.add(start, end)).as("seed %d", seed).isEqualTo(instants.cardinality() - before);
            }
            assertThat(set.totalNanos()).isEqualTo(instants.cardinality());
        }
    }
}
