package io.tokenstair.cause;

import java.util.Locale;

/** How much a finding matters, by the formula of docs/causes/README.md. */
public enum Severity {
    /** Worth knowing. */
    INFO,
    /** One token lost at least 200 ms, or slow tokens are at least 2 % and lost at least 1 s in all. */
    WARNING,
    /** Ten times a warning. */
    CRITICAL;

    /** An excess of one token from which a finding is a warning. */
    public static final long WARNING_EXCESS_NANOS = 200_000_000L;

    /** A sum of excess from which a finding about many tokens is a warning. */
    public static final long WARNING_SUM_NANOS = 1_000_000_000L;

    /** The name people see. */
    public String severityName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The severity of slow tokens of one key.
     *
     * @param largestExcessNanos largest excess of one token
     * @param sumExcessNanos excess of all slow tokens
     * @param slowTokens how many are slow
     * @param keyTokens tokens of the key
     */
    public static Severity of(long largestExcessNanos, long sumExcessNanos, long slowTokens, long keyTokens) {
        boolean many = slowTokens * 50 >= keyTokens && slowTokens > 0;
        if (largestExcessNanos >= 10 * WARNING_EXCESS_NANOS || (many && sumExcessNanos >= 10 * WARNING_SUM_NANOS)) {
            return CRITICAL;
        }
        if (largestExcessNanos >= WARNING_EXCESS_NANOS || (many && sumExcessNanos >= WARNING_SUM_NANOS)) {
            return WARNING;
        }
        return INFO;
    }
}
