package io.tokenstair.narrative;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

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

    /** What archives hold, and is found again there. */
    static Stream<Phrase> archived() {
        return Stream.of(Phrase.values()).filter(phrase -> phrase.use() != Phrase.Use.LABEL);
    }

    @ParameterizedTest
    @EnumSource(Phrase.class)
    void everyTemplateIsThereInBothLanguagesWithTheSameFields(Phrase phrase) {
        String english = phrase.template(Language.EN);
        String chinese = phrase.template(Language.ZH);
        assertThat(places(chinese)).isEqualTo(places(english));
        if (phrase != Phrase.LABEL_UNDECIDABLE) {
            assertThat(chinese).containsPattern("\\p{IsHan}");
        }
        // Words that engineers do not translate: token, step kinds, KV, names of modes. Never a whole English clause.
        assertThat(chinese).doesNotContainPattern("[a-z]+ [a-z]+ [a-z]+");
    }

    @ParameterizedTest
    @EnumSource(Phrase.class)
    void sentencesEndInAFullStopAndNothingElseDoes(Phrase phrase) {
        boolean sentence = phrase.use() == Phrase.Use.SENTENCE;
        assertThat(phrase.template(Language.EN).endsWith(".")).isEqualTo(sentence);
        assertThat(phrase.template(Language.ZH).endsWith("。")).isEqualTo(sentence);
    }

    @ParameterizedTest
    @MethodSource("archived")
    void theTemplateOfATextIsFoundAgainWithItsValues(Phrase phrase) {
        List<String> values = values(phrase);
        String english = phrase.say(values.toArray());

        assertThat(Phrase.of(phrase.use(), english)).isEqualTo(phrase);
        assertThat(phrase.valuesOf(english)).isEqualTo(values);
        if (phrase.use() == Phrase.Use.SENTENCE) {
            String chinese = Translation.sentence(Language.ZH, english + " [engine/1/7, engine/1/8]");
            assertThat(chinese).isEqualTo(phrase.say(Language.ZH, values.toArray()) + " [engine/1/7, engine/1/8]");
        }
        if (phrase.use() == Phrase.Use.REASON) {
            assertThat(Translation.reason(Language.ZH, english)).isEqualTo(phrase.template(Language.ZH));
        }
    }
}
