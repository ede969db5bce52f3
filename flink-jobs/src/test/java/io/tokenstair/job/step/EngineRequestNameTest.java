package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EngineRequestNameTest {

    @ParameterizedTest
    @CsvSource({
        "cmpl-req-7-0-0a1b2c3d,          req-7,   0, 0, 0a1b2c3d",
        "resp_aca60469feae3a69_1-0a1b2c3d, resp_aca60469feae3a69, 1, 0, 0a1b2c3d",
        "generate-tokens-abc-0a1b2c3d, abc, 0, 0, 0a1b2c3d",
        "cmpl-req-7-3-0a1b2c3d,          req-7,   3, 0, 0a1b2c3d",
        "1_cmpl-req-7-3-0a1b2c3d,        req-7,   3, 1, 0a1b2c3d",
        "chatcmpl-req-7-0a1b2c3d,        req-7,   0, 0, 0a1b2c3d",
        "2_chatcmpl-req-7-0a1b2c3d,      req-7,   0, 2, 0a1b2c3d",
        "cmpl-cmpl-x-1-2-0a1b2c3d,       cmpl-x-1, 2, 0, 0a1b2c3d",
        "cmpl-a-0-11111111-0-22222222,   a-0-11111111, 0, 0, 22222222",
        "0_cmpl-5_x-0-0a1b2c3d,          5_x,     0, 0, 0a1b2c3d",
    })
    void unwrapsWhatVllmWraps(String engineId, String requestId, int prompt, int choice, String unique) {
        assertThat(EngineRequestName.of(engineId)).isEqualTo(new EngineRequestName(requestId, prompt, choice, unique));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "req-7",
                "cmpl-req-7",
                "cmpl--0-0a1b2c3d",
                "cmpl-req-7-0-0A1B2C3D",
                "cmpl-req-7-0-0a1b2c3",
                "cmpl-req-7-x-0a1b2c3d",
                "cmpl-req-7-9999999-0a1b2c3d",
                "1234567_cmpl-req-7-0-0a1b2c3d",
                "_cmpl-req-7-0-0a1b2c3d",
                "-1_cmpl-req-7-0-0a1b2c3d",
                "Cmpl-req-7-0-0a1b2c3d",
                " cmpl-req-7-0-0a1b2c3d",
                "\u0661_cmpl-req-7-0-0a1b2c3d",
            })
    void takesWhatLooksOtherwiseAsItIs(String engineId) {
        assertThat(EngineRequestName.of(engineId)).isEqualTo(new EngineRequestName(engineId, 0, 0, engineId));
    }

    @Test
    void keepsTheClientsIdWhateverIsInIt() {
        String hostile = "<b>x</b>-'; \n\u0000-\uD83D\uDE00- -0-";

        assertThat(EngineRequestName.of("cmpl-" + hostile + "-0-0a1b2c3d").requestId())
                .isEqualTo(hostile);
    }

    @Test
    void readsTheLongestIdAtOnce() {
        String id = "cmpl-" + "-0".repeat(120);

        assertThat(EngineRequestName.of(id).requestId()).isEqualTo(id);
        assertThat(EngineRequestName.of(id + "-0-0a1b2c3d").requestId()).isEqualTo("-0".repeat(120));
    }
}
