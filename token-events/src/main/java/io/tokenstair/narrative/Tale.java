package io.tokenstair.narrative;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;

/** What a finding says: sentences, each ending in the ids of the events it rests on, in brackets. */
public final class Tale {
    private static final Pattern BETWEEN_IDS = Pattern.compile(", ");

    private final List<String> sentences = new ArrayList<>();

    /** An empty tale. */
    public Tale() {}

    /** Adds a sentence and the events it rests on. */
    public Tale say(String sentence, Collection<String> eventIds) {
        List<String> cited = eventIds.stream().filter(id -> !id.isEmpty()).toList();
        sentences.add(cited.isEmpty() ? sentence : sentence + " [" + String.join(", ", cited) + "]");
        return this;
    }

    /** Adds a sentence and the event it rests on; empty where none is known. */
    public Tale say(String sentence, String eventId) {
        return say(sentence, List.of(eventId));
    }

    /** Adds sentences that cite their events already. */
    public Tale add(Collection<String> told) {
        sentences.addAll(told);
        return this;
    }

    /** The event ids that a sentence ends in. */
    public static List<String> idsOf(String sentence) {
        int open = sentence.lastIndexOf(" [");
        return open < 0 || !sentence.endsWith("]")
                ? List.of()
                : BETWEEN_IDS
                        .splitAsStream(sentence.substring(open + 2, sentence.length() - 1))
                        .toList();
    }

    /** The sentences in a row. */
    public String text() {
        return String.join(" ", sentences);
    }
}
