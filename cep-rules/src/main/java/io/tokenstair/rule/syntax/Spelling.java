package io.tokenstair.rule.syntax;

import io.tokenstair.spelling.NearestName;
import java.util.Collection;

/** Finds what a misspelt word was meant to be. */
public final class Spelling {
    private Spelling() {}

    /**
     * Words for the end of an error: the nearest candidate, or all of them where none is near.
     *
     * @param word what was written
     * @param candidates what could have been meant, in the order to list them
     */
    public static String suggestion(String word, Collection<String> candidates) {
        String nearest = NearestName.of(word, candidates);
        return nearest == null ? ". Known: " + String.join(", ", candidates) : ". Did you mean " + nearest + "?";
    }
}
