package io.tokenstair.foreign;

import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * Names that a llama.cpp answer and a task of the server's log have in common. No id is in both: the log counts tasks, the stream names
 * none. But both print how many prompt tokens were computed in how many milliseconds, which two requests hardly share; of a request that
 * broke, both know how long its context was; of one that was refused, its prompt and the context it did not fit in.
 */
public final class LlamaCppNames {
    /** Who uses these names: {@link io.tokenstair.event.IdAliased#aliasOrigin}. */
    public static final String ORIGIN = "llamacpp-work";

    private LlamaCppNames() {}

    /** The name of so many prompt tokens computed in so many milliseconds, as the log prints them. */
    public static String prompt(long tokens, double millis) {
        return "llamacpp:prompt:" + tokens + ":" + printed(millis);
    }

    /**
     * The name of all that a task did: so many prompt tokens computed and so many tokens generated, each in so many milliseconds, as the
     * log prints them and the last chunk of an answer tells them.
     */
    public static String work(long promptTokens, double promptMillis, long outputTokens, double outputMillis) {
        return "llamacpp:work:" + promptTokens + ":" + printed(promptMillis) + ":" + outputTokens + ":"
                + printed(outputMillis);
    }

    private static String printed(double millis) {
        return new BigDecimal(millis).setScale(2, RoundingMode.HALF_EVEN).toPlainString();
    }

    /** The name of a context of so many tokens at which a request broke. */
    public static String broken(long contextTokens) {
        return "llamacpp:broken:" + contextTokens;
    }

    /** The name of a prompt that was refused for its length. */
    public static String refused(long promptTokens) {
        return "llamacpp:refused:" + promptTokens;
    }
}
