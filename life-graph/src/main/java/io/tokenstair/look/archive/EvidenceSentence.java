package io.tokenstair.look.archive;

import io.tokenstair.narrative.Language;
import io.tokenstair.narrative.Translation;
import java.util.Arrays;
import java.util.List;

/**
 * A sentence of a causal chain.
 *
 * @param text what it says, without the event ids
 * @param evidence the ids of the events it cites
 */
public record EvidenceSentence(String text, List<String> evidence) {

    /** Reads the archived form: the sentence, then its event ids in brackets, separated by commas. */
    public static EvidenceSentence parse(String archived) {
        return parse(archived, Language.EN);
    }

    /** Reads the archived form, in a language. */
    public static EvidenceSentence parse(String archived, Language language) {
        String sentence = Translation.sentence(language, archived.strip());
        if (!sentence.endsWith("]")) {
            return new EvidenceSentence(sentence, List.of());
        }
        int open = sentence.lastIndexOf('[');
        if (open < 0) {
            return new EvidenceSentence(sentence, List.of());
        }
        List<String> evidence = Arrays.stream(
                        sentence.substring(open + 1, sentence.length() - 1).split("[,\\s]+"))
                .filter(eventId -> !eventId.isEmpty())
                .toList();
        return new EvidenceSentence(sentence.substring(0, open).strip(), evidence);
    }
}
