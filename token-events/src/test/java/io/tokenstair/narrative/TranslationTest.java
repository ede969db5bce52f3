package io.tokenstair.narrative;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TranslationTest {
    @Test
    void whatAValueSaysInWordsIsTranslatedToo() {
        assertThat(zh(Phrase.PREFILLED_OTHERS.say(12, "another request", "3.0 ms") + " [e/1/2]"))
                .isEqualTo("该步还计算了 12 个新的 prompt token，其中大部分属于 另一个请求：3.0 ms。 [e/1/2]");
        assertThat(zh(Phrase.LOST_BLOCKS_FOR.say(7, " and 500 computed tokens", "b")))
                .isEqualTo("在第 7 步，它失去了 KV 块和 500 个已计算的 token：b 需要一个块而没有空闲块。");
        assertThat(zh(Phrase.CLOCK_LOWER_ON.say("gpu-1", "by its kernels", "3.0 ms")))
                .isEqualTo("gpu-1 的时钟低于平时，该步变长（据其 kernel）：3.0 ms。");
    }

    @Test
    void numbersInWordsAreTranslatedToo() {
        assertThat(zh(Phrase.DRIVER_ERRORS.say("2 steps", "from step 3 to 9 (0.4 s)") + " [e/1/2]"))
                .isEqualTo("驱动在 2 步（第 3 至 9 步，0.4 s）返回错误，引擎继续运行。 [e/1/2]");
        assertThat(zh(Phrase.ROSE_IN_STEPS.say(2, "token 300 (+15 %), token 600 (+9 %)")))
                .isEqualTo("token 时间出现 2 级持续的、超出模型预期的台阶：第 300 个 token (+15 %)，第 600 个 token (+9 %)。");
        assertThat(zh(Phrase.COMPILED.say("2.0 ms", "flash_fwd for shape [8, 128]") + " [e/1/2]"))
                .isEqualTo("用 2.0 ms 编译了一个 kernel：flash_fwd（形状 [8, 128]）。 [e/1/2]");
    }

    @Test
    void clausesWithinASentenceAreTranslatedEach() {
        String signs = Phrase.PAUSED_OBSERVED.say(62, 184, 3) + "; " + Phrase.COUNTED.say("182 preemptions");

        assertThat(zh(Phrase.COUNTERS_OF_PRESSURE.say(signs) + " [m/1/2]"))
                .isEqualTo("与 KV 空间不足相符：184 次采样中有 62 次观察到被暂停的请求，最多 3 个；计数器记录了 182 次抢占。 [m/1/2]");
        assertThat(zh(Phrase.WORKLOAD.say(7, "; " + Phrase.TOKENS_ON_AVERAGE.say(10, 20))))
                .isEqualTo("7 个请求的负载：只有它们的需求而没有任何延迟，因此不称任何一个为慢；平均每个带有 10 个 token、要求 20 个。");
        assertThat(zh(Phrase.WORKLOAD.say(7, ""))).endsWith("因此不称任何一个为慢。");
    }

    @Test
    void aNarrativeIsToldSentenceBySentence() {
        String narrative = new Tale()
                .say(Phrase.LOST_ONE.say(4, "3.0 ms"), "e/1/2")
                .say(Phrase.WAITED_IN_THE_QUEUE.say("2.0 ms"), List.of("e/1/3", "e/1/4"))
                .say(Phrase.NO_RECORD_SAYS_WHY.say(), "")
                .text();

        assertThat(narrative)
                .isEqualTo(
                        "Token 4 lost 3.0 ms. [e/1/2] It waited 2.0 ms in the queue. [e/1/3, e/1/4] No record says why.");
        assertThat(Translation.narrative(Language.EN, narrative)).isEqualTo(narrative);
        assertThat(Translation.narrative(Language.ZH, narrative))
                .isEqualTo("第 4 个 token 损失了 3.0 ms。 [e/1/2] 它在队列中等待了 2.0 ms。 [e/1/3, e/1/4] 没有记录说明原因。");
        assertThat(Tale.idsOf("It waited. [e/1/3, e/1/4]")).containsExactly("e/1/3", "e/1/4");
        assertThat(Tale.idsOf("It waited.")).isEmpty();
    }

    @Test
    void sentencesInARowWithoutIdsAreTranslatedEach() {
        String remark = Phrase.RAN_AT_LIMIT.say(20, 30, 9, 128) + " " + Phrase.POOL_NOT_SHORT.say(40);
        String rates = Phrase.FEWER_GENERATED.say("-0.57", "-0.61") + " "
                + Phrase.GENERATED_ON_AVERAGE.say(90, 12, 130, 8) + " " + Phrase.PROMPTS_HELD_UP.say();

        assertThat(Translation.narrative(Language.ZH, remark))
                .isEqualTo("在有请求等待（最多 9 个）的 30 次采样中有 20 次，引擎运行的序列数已达允许的上限 128：与序列上限使请求等待相符。"
                        + "当时 KV 池已用 40 %：并不缺 KV 空间。");
        assertThat(Translation.narrative(Language.ZH, rates))
                .isEqualTo("每秒的 prompt token 越多，生成的 token 越少：r -0.57；在运行序列数固定时为 -0.61。"
                        + "有 prompt 的 12 次采样中平均每秒生成 90 个，没有的 8 次中为 130 个。与 prompt 拖慢其他请求的 token 相符。");
        assertThat(Translation.narrative(Language.ZH, Phrase.USAGE_NOT_RECORDED.say(9, 4)))
                .isEqualTo(Phrase.USAGE_NOT_RECORDED.say(Language.ZH, 9, 4));
    }

    @Test
    void aRuleHasItsIdsBeforeTheFullStop() {
        String narrative = "Request a (sequence 0) lost its KV blocks in step 40 [s/0/1]."
                + " It was computed again up to token 12 in step 90, which came 700.0 ms after the token before [s/0/2].";

        assertThat(Translation.sentences(narrative)).hasSize(2);
        assertThat(Translation.narrative(Language.ZH, narrative))
                .isEqualTo("请求 a（序列 0）在第 40 步失去了 KV 块。 [s/0/1]"
                        + " 它在第 90 步重新计算至第 12 个 token，该 token 在前一个之后 700.0 ms 产生。 [s/0/2]");
    }

    @Test
    void whatSomebodysOwnRuleSaysStaysAsItsAuthorWroteIt() {
        String own = "My request a was unlucky [s/0/1]. Nobody knows why [s/0/2].";

        assertThat(Translation.narrative(Language.ZH, own)).isEqualTo(own);
        assertThat(Translation.reason(Language.ZH, "I say so")).isEqualTo("I say so");
        assertThat(Translation.reason(Language.ZH, Phrase.WHY_STAGES_MATCHED.say()))
                .isEqualTo("规则的每个阶段都匹配到一个已记录的里程碑");
        assertThat(Translation.level(Language.ZH, "consistent-with")).isEqualTo("相符");
    }

    @Test
    void hostileIdsStayWhatTheyAre() {
        String id = "a: 1 ms. {0} It waited\n again. Client; gateway";

        assertThat(zh(Phrase.STARVED_BY_PREFILL.say("2.0 ms", id))).contains(id);
    }

    @Test
    void englishAndUnknownSentencesStayAsTheyAre() {
        assertThat(Translation.sentence(Language.EN, "It waited 1 ms in the queue."))
                .isEqualTo("It waited 1 ms in the queue.");
        assertThat(zh("Something new happened.")).isEqualTo("Something new happened.");
        assertThat(Translation.reason(Language.EN, "preemption record")).isEqualTo("preemption record");
    }

    private static String zh(String sentence) {
        return Translation.sentence(Language.ZH, sentence);
    }
}
