package io.tokenstair.rule.syntax;

import java.util.Collection;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

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
        String nearest = nearest(word, candidates);
        return nearest == null ? ". Known: " + String.join(", ", candidates) : ". Did you mean " + nearest + "?";
    }

    private static @Nullable String nearest(String word, Collection<String> candidates) {
        String nearest = null;
        int nearestDistance = Integer.MAX_VALUE;
        String lower = word.toLowerCase(Locale.ROOT);
        for (String candidate : candidates) {
            String other = candidate.toLowerCase(Locale.ROOT);
            // A word that only adds a unit or a prefix (gapNanos for gap) is as near as one slip.
            boolean extended = lower.startsWith(other) || (lower.length() > 2 && other.startsWith(lower));
            int distance = lower.length() > 64 ? Integer.MAX_VALUE : extended ? 1 : distance(lower, other);
            if (distance < nearestDistance && distance <= Math.max(1, candidate.length() / 3)) {
                nearest = candidate;
                nearestDistance = distance;
            }
        }
        return nearest;
    }

    private static int distance(String left, String right) {
        int[] previous = new int[right.length() + 1];
        for (int j = 0; j <= right.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= left.length(); i++) {
            int[] current = new int[right.length() + 1];
            current[0] = i;
            for (int j = 1; j <= right.length(); j++) {
                int substituted = previous[j - 1] + (left.charAt(i - 1) == right.charAt(j - 1) ? 0 : 1);
                current[j] = Math.min(substituted, Math.min(previous[j], current[j - 1]) + 1);
            }
            previous = current;
        }
        return previous[right.length()];
    }
}
