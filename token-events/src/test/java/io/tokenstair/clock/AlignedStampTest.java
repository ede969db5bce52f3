package io.tokenstair.clock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class AlignedStampTest {
    @Test
    void orderIsDecidedOnlyWhereTheBoundsDoNotOverlap() {
        AlignedStamp early = new AlignedStamp(1_000, 100);
        AlignedStamp touching = new AlignedStamp(1_150, 50);
        AlignedStamp late = new AlignedStamp(1_151, 50);

        assertThat(early.surelyBefore(touching)).isFalse();
        assertThat(touching.surelyBefore(early)).isFalse();
        assertThat(early.surelyBefore(late)).isTrue();
        assertThat(late.surelyBefore(early)).isFalse();
    }

    @Test
    void boundsBeyondTheRangeOfTimeOverlapEverything() {
        AlignedStamp unbounded = new AlignedStamp(Long.MAX_VALUE - 1, Long.MAX_VALUE);

        assertThat(unbounded.surelyBefore(new AlignedStamp(Long.MAX_VALUE, 0))).isFalse();
        assertThat(new AlignedStamp(Long.MIN_VALUE, Long.MAX_VALUE).surelyBefore(unbounded))
                .isFalse();
    }

    @Test
    void aNegativeBoundIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new AlignedStamp(0, -1))
                .withMessage("Cannot hold a negative bound: -1");
    }
}
