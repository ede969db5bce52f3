package io.tokenstair.spelling;

import java.util.Collection;
import java.util.Locale;
import org.apache.commons.text.similarity.LevenshteinDistance;
import org.jspecify.annotations.Nullable;

/** Finds the known name that a misspelt one was meant to be. */
public final class NearestName {
    /** Longer words are nobody's slip of the hand, and comparing them costs their length times the candidate's. */
    private static final int LONGEST_WORD = 64;

    private NearestName() {}

    /**
     * The candidate with the fewest slips from the word, at most a third of the candidate's letters; the case of letters does not
     * count; of equally near ones the first. Null where none is near.
     *
     * @param word what was written
     * @param candidates what could have been meant
     */
    public static @Nullable String of(String word, Collection<String> candidates) {
        if (word.length() > LONGEST_WORD) {
            return null;
        }
        String lower = word.toLowerCase(Locale.ROOT);
        String nearest = null;
        int nearestSlips = Integer.MAX_VALUE;
        for (String candidate : candidates) {
            int most = Math.max(1, candidate.length() / 3);
            int slips = slips(lower, candidate.toLowerCase(Locale.ROOT), most);
            if (slips >= 0 && slips < nearestSlips) {
                nearest = candidate;
                nearestSlips = slips;
            }
        }
        return nearest;
    }

    /** How many letters differ, -1 where more than {@code most}. */
    private static int slips(String word, String candidate, int most) {
        // A word that only adds a unit or leaves one out (gapNanos for gap) is as near as one slip.
        boolean extended = word.startsWith(candidate) || (word.length() > 2 && candidate.startsWith(word));
        if (extended) {
            return word.equals(candidate) ? 0 : 1;
        }
        return new LevenshteinDistance(most).apply(word, candidate);
    }
}
