package io.tokenstair.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The usual step of docs/causes/README.md: medians over the last 400 decode-only steps, and how most of these ran. */
class UsualStepTest {
    @Test
    void halfOfTheLastStepsMakeAFallbackUsual() {
        UsualStep usual = new UsualStep();
        assertThat(usual.known()).isFalse();
        assertThat(usual.eager()).isFalse();

        add(usual, UsualStep.STEPS, 30, false);
        add(usual, UsualStep.STEPS / 2 - 1, 60, true);
        assertThat(usual.eager()).isFalse();
        assertThat(usual.batch()).isEqualTo(30);

        add(usual, 1, 60, true);
        assertThat(usual.eager()).isTrue();

        add(usual, UsualStep.STEPS, 60, true);
        assertThat(usual.batch()).isEqualTo(60);
        add(usual, UsualStep.STEPS / 2 + 1, 30, false);
        assertThat(usual.eager()).isFalse();
    }

    private static void add(UsualStep usual, int steps, int batch, boolean eager) {
        for (int i = 0; i < steps; i++) {
            usual.add(batch, 600L * batch, eager);
        }
    }
}
