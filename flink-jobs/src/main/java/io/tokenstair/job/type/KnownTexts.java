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

    private final @Nullable String[] texts = new @Nullable String[PLACES];
    private final byte @Nullable [][] bytesOf = new byte @Nullable [PLACES][];

    /** Knows none yet. */
    public KnownTexts() {}

    /** The text of these UTF-8 bytes. */
    String text(byte[] from, int at, int length) {
        int hash = length;
        for (int i = at; i < at + length; i++) {
            hash = 31 * hash + from[i];
        }
        int place = (hash ^ hash >>> 9 ^ hash >>> 18) & PLACES - 1;
        byte[] known = bytesOf[place];
        String text = texts[place];
        if (known != null && text != null && Arrays.equals(known, 0, known.length, from, at, at + length)) {
            return text;
        }
        text = new String(from, at, length, StandardCharsets.UTF_8);
        if (length <= LONGEST_BYTES) {
            texts[place] = text;
            bytesOf[place] = Arrays.copyOfRange(from, at, at + length);
        }
        return text;
    }
}
