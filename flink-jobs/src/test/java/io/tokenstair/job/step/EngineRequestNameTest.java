package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

    /** The same as two expressions that say what the forms are. */
    @Test
    void readsWhatTheExpressionsSay() {
        Pattern completion = Pattern.compile("(?:(\\d{1,6})_)?cmpl-(.+)-(\\d{1,6})-([0-9a-f]{8})", Pattern.DOTALL);
        Pattern chat =
                Pattern.compile("(?:(\\d{1,6})_)?(?:chatcmpl|generate-tokens)-(.+)-([0-9a-f]{8})", Pattern.DOTALL);
        String[] pieces = {
            "cmpl-",
            "chatcmpl-",
            "generate-tokens-",
            "-",
            "_",
            "0",
            "12",
            "123456",
            "1234567",
            "a",
            "req",
            "0a1b2c3d",
            "g",
            "\n",
            ""
        };
        SplittableRandom random = new SplittableRandom(7);
        int wrapped = 0;
        for (int run = 0; run < 200_000; run++) {
            StringBuilder id = new StringBuilder();
            for (int i = random.nextInt(9); i >= 0; i--) {
                id.append(pieces[random.nextInt(pieces.length)]);
            }
            if (random.nextInt(2) == 0) {
                id.append("-0a1b2c3d");
            }
            Matcher asCompletion = completion.matcher(id);
            Matcher asChat = chat.matcher(id);
            EngineRequestName expected = new EngineRequestName(id.toString(), 0, 0, id.toString());
            if (asCompletion.matches()) {
                wrapped++;
                expected = new EngineRequestName(
                        asCompletion.group(2),
                        Integer.parseInt(asCompletion.group(3)),
                        asCompletion.group(1) == null ? 0 : Integer.parseInt(asCompletion.group(1)),
                        asCompletion.group(4));
            } else if (asChat.matches()) {
                wrapped++;
                expected = new EngineRequestName(
                        asChat.group(2),
                        0,
                        asChat.group(1) == null ? 0 : Integer.parseInt(asChat.group(1)),
                        asChat.group(3));
            }
            assertThat(EngineRequestName.of(id.toString())).isEqualTo(expected);
        }
        assertThat(wrapped).isGreaterThan(1_000);
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
