package io.tokenstair.cause;

import java.util.Locale;

/** How far the evidence carries. */
public enum Confidence {
    /** A record of the mechanism exists. */
    ESTABLISHED,
    /** The numbers agree with the mechanism; no record of it exists. */
    CONSISTENT_WITH,
    /** No evidence names a cause. */
    UNRESOLVED;

    private final String levelName = name().toLowerCase(Locale.ROOT).replace('_', '-');

    /** The name people see: {@code consistent-with}. */
    public String levelName() {
        return levelName;
    }
}
