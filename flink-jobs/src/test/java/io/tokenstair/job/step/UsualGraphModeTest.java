package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class UsualGraphModeTest {

    @Test
    void isTheModeOfMostOfTheLastSteps() {
        UsualGraphMode usual = new UsualGraphMode(10);
        assertThat(usual.most()).isEqualTo(GraphMode.NOT_REPORTED);
        for (int i = 0; i < 10; i++) {
            usual.add(i % 5 == 0 ? GraphMode.PIECEWISE : GraphMode.FULL);
        }
        assertThat(usual.most()).isEqualTo(GraphMode.FULL);
        for (int i = 0; i < 4; i++) {
            usual.add(GraphMode.EAGER);
        }
        assertThat(usual.most()).isEqualTo(GraphMode.FULL);
        usual.add(GraphMode.EAGER);
        usual.add(GraphMode.EAGER);
        assertThat(usual.most()).isEqualTo(GraphMode.EAGER);
        assertThat(usual.count).isEqualTo(10);
    }
}
