package io.tokenstair.collect.input;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class SequenceLedgerTest {
    @Test
    void numbersFromZeroAreMissedFromTheStart() {
        SequenceLedger ledger = SequenceLedger.fromZero();
        ledger.note(2, 7, 9L);
        assertThat(ledger.missing()).containsExactly(new SequenceLedger.Missing(0, 1, 7, 9L));
        assertThat(ledger.seen(2)).isTrue();
        assertThat(ledger.seen(1)).isFalse();
        assertThat(ledger.seen(3)).isFalse();
    }

    @Test
    void numbersFromTheFirstSeenAreNotMissedBeforeIt() {
        SequenceLedger ledger = SequenceLedger.fromFirstSeen();
        assertThat(ledger.seen(5)).isFalse();
        ledger.note(5, 0, null);
        ledger.note(6, 0, null);
        assertThat(ledger.missing()).isEmpty();
    }

    @Test
    void itAgreesWithASetOfNumbers() {
        Random random = new Random(7);
        for (int round = 0; round < 50; round++) {
            SequenceLedger ledger = SequenceLedger.fromZero();
            TreeSet<Long> seen = new TreeSet<>();
            for (int i = 0; i < 60; i++) {
                long number = random.nextInt(80);
                assertThat(ledger.seen(number)).isEqualTo(seen.contains(number));
                ledger.note(number, 0, null);
                seen.add(number);
            }
            TreeSet<Long> missing = new TreeSet<>();
            for (SequenceLedger.Missing run : ledger.missing()) {
                for (long number = run.first(); number <= run.last(); number++) {
                    missing.add(number);
                }
            }
            TreeSet<Long> expected = new TreeSet<>();
            for (long number = 0; number < seen.last(); number++) {
                if (!seen.contains(number)) {
                    expected.add(number);
                }
            }
            assertThat(missing).isEqualTo(expected);
        }
    }
}
