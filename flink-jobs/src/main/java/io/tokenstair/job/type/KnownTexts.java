package io.tokenstair.job.type;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Texts that come again and again, as names of engines and collectors do: made once, and shared by all that waits. Bounded: of the last
 * {@value #PLACES} texts at most, one per place; which one is kept makes no difference but time. One thread at a time.
 */
public final class KnownTexts {
    private static final int PLACES = 512;

    /** Longer ones are not kept. */
    private static final int LONGEST_BYTES = 256;

    private final @Nullable Known[] places = new @Nullable Known[PLACES];

    /** Knows none yet. */
    public KnownTexts() {}

    private record Known(byte[] bytes, String text) {}

    /** The text of these UTF-8 bytes. */
    String text(byte[] from, int at, int length) {
        int hash = length;
        for (int i = at; i < at + length; i++) {
            hash = 31 * hash + from[i];
        }
        int place = (hash ^ hash >>> 9 ^ hash >>> 18) & PLACES - 1;
        Known known = places[place];
        if (known != null && Arrays.equals(known.bytes, 0, known.bytes.length, from, at, at + length)) {
            return known.text;
        }
        String text = new String(from, at, length, StandardCharsets.UTF_8);
        if (length <= LONGEST_BYTES) {
            places[place] = new Known(Arrays.copyOfRange(from, at, at + length), text);
        }
        return text;
    }
}
