package io.tokenstair.narrative;

import java.util.Locale;

/** Lengths of time as sentences have them. */
public final class Milliseconds {
    /** Below it, a number of nanoseconds divided by a million has its exact decimal digits in a double. */
    private static final long EXACT_NANOS = 1_000_000_000_000_000L;

    private Milliseconds() {}

    /** Nanoseconds in ms with one decimal: {@code 12.3 ms}. */
    public static String text(long nanos) {
        if (nanos < 0 || nanos >= EXACT_NANOS) {
            return String.format(Locale.ROOT, "%.1f ms", nanos / 1e6);
        }
        // The same text as above, at a twentieth of its cost: every slow token has several.
        long tenths = (nanos + 50_000) / 100_000;
        return tenths / 10 + "." + tenths % 10 + " ms";
    }
}
