package io.tokenstair.narrative;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PhraseTest {
    private static final Pattern PLACE = Pattern.compile("\\{(\\d)}");

    private static Set<String> places(String template) {
        Set<String> places = new TreeSet<>();
        for (Matcher place = PLACE.matcher(template); place.find(); ) {
            places.add(place.group(1));
        }
        return places;
    }

    private static List<String> values(Phrase phrase) {
        List<String> values = new ArrayList<>();
        for (int i = 0; i < places(phrase.template(Language.EN)).size(); i++) {
            values.add("v" + i);
        }
        return values;
    }

    @ParameterizedTest
    @EnumSource(Phrase.class)
    void bothLanguagesHaveTheSameValues(Phrase phrase) {
        assertThat(places(phrase.template(Language.ZH))).isEqualTo(places(phrase.template(Language.EN)));
        assertThat(phrase.template(Language.ZH)).containsPattern("\\p{IsHan}").endsWith("。");
        assertThat(phrase.template(Language.EN)).endsWith(".");
    }

    @ParameterizedTest
    @EnumSource(Phrase.class)
    void theTemplateOfASentenceIsFoundAgainWithItsValues(Phrase phrase) {
        List<String> values = values(phrase);
        String english = phrase.say(values.toArray());

        assertThat(Phrase.of(english)).isEqualTo(phrase);
        String chinese = Phrase.in(Language.ZH, english + " [engine/1/7, engine/1/8]");
        assertThat(values).allSatisfy(value -> assertThat(chinese).contains(value));
        assertThat(chinese).endsWith(" [engine/1/7, engine/1/8]");
        assertThat(chinese).doesNotContain("{");
    }

    @Test
    void whatAValueSaysInWordsIsTranslatedToo() {
        assertThat(Phrase.in(Language.ZH, Phrase.PREFILLED_OTHERS.say(12, "another request", "3.0 ms") + " [e/1/2]"))
                .isEqualTo("该步还计算了 12 个新的 prompt token，其中大部分属于 另一个请求：3.0 ms。 [e/1/2]");
        assertThat(Phrase.in(Language.ZH, Phrase.LOST_BLOCKS_FOR.say(7, " and 500 computed tokens", "b")))
                .isEqualTo("在第 7 步，它失去了 KV 块和 500 个已计算的 token：b 需要一个块而没有空闲块。");
    }

    @Test
    void numbersInWordsAreTranslatedToo() {
        assertThat(Phrase.in(Language.ZH, Phrase.DRIVER_ERRORS.say("2 steps", "from step 3 to 9 (0.4 s)") + " [e/1/2]"))
                .isEqualTo("驱动在 2 步（第 3 至 9 步，0.4 s）返回错误，引擎继续运行。 [e/1/2]");
        assertThat(Phrase.in(Language.ZH, Phrase.ROSE_IN_STEPS.say(2, "token 300 (+15 %), token 600 (+9 %)")))
                .isEqualTo("token 时间出现 2 级持续的、超出模型预期的台阶：第 300 个 token (+15 %)，第 600 个 token (+9 %)。");
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
        assertThat(Phrase.narrative(Language.EN, narrative)).isEqualTo(narrative);
        assertThat(Phrase.narrative(Language.ZH, narrative))
                .isEqualTo("第 4 个 token 损失了 3.0 ms。 [e/1/2] 它在队列中等待了 2.0 ms。 [e/1/3, e/1/4] 没有记录说明原因。");
        assertThat(Tale.idsOf("It waited. [e/1/3, e/1/4]")).containsExactly("e/1/3", "e/1/4");
        assertThat(Tale.idsOf("It waited.")).isEmpty();
    }

    @Test
    void hostileIdsStayWhatTheyAre() {
        String id = "a: 1 ms. {0} It waited\n again";

        assertThat(Phrase.in(Language.ZH, Phrase.STARVED_BY_PREFILL.say("2.0 ms", id)))
                .contains(id);
    }

    @Test
    void englishAndUnknownSentencesStayAsTheyAre() {
        assertThat(Phrase.in(Language.EN, "It waited 1 ms in the queue.")).isEqualTo("It waited 1 ms in the queue.");
        assertThat(Phrase.in(Language.ZH, "Something new happened.")).isEqualTo("Something new happened.");
    }
}
