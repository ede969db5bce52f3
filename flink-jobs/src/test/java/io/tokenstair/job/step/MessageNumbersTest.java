package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MessageNumbersTest {
    private final MessageNumbers numbers = new MessageNumbers();

    private void came(long... all) {
        for (long number : all) {
            numbers.accept(number);
        }
    }

    @Test
    void whatComesInOrderHasNoHole() {
        came(7, 8, 9, 9, 8, 10);

        assertThat(numbers.lost()).isZero();
        assertThat(numbers.taken).isEqualTo(4);
    }

    @Test
    void aHoleIsCountedAndAReplayClosesIt() {
        came(1, 2, 5, 6, 9, 12);
        assertThat(numbers.lost()).isEqualTo(6);
        assertThat(numbers.firstLost()).isEqualTo(3);
        assertThat(numbers.lastLost()).isEqualTo(11);

        came(4, 10, 10, 3, 7);
        assertThat(numbers.lost()).isEqualTo(2);
        assertThat(numbers.firstLost()).isEqualTo(8);
        assertThat(numbers.lastLost()).isEqualTo(11);

        came(8, 11);
        assertThat(numbers.lost()).isZero();
        assertThat(numbers.taken).isEqualTo(12);
    }

    @Test
    void whereTheEngineCountsAnewNothingFromBeforeComes() {
        came(4, 7);
        numbers.restart();
        came(1, 2, 4);

        assertThat(numbers.lost()).isEqualTo(3);
        assertThat(numbers.firstLost()).isEqualTo(5);
        assertThat(numbers.lastLost()).isEqualTo(3);
    }

    @Test
    void holesAreBoundedAndNoneIsForgotten() {
        for (long i = 0; i < 1_000; i++) {
            came(2 * i);
        }

        assertThat(numbers.holes).isEqualTo(MessageNumbers.HOLES);
        assertThat(numbers.lost()).isEqualTo(999);
        assertThat(numbers.firstLost()).isEqualTo(1);
        assertThat(numbers.lastLost()).isEqualTo(1_997);
    }
}
