package io.tokenstair.cause;

import java.util.Locale;

/** The state of a token for the eye. */
public enum TokenState {
    /** On time, or slow by load. */
    NORMAL,
    /** Own tokens were recomputed. */
    RECOMPUTE,
    /** Own prompt tokens that had been cached were computed again. */
    KV_MISS,
    /** Slow for another cause. */
    STALLED,
    /** A layer is missing. */
    UNKNOWN;

    private final String stateName = name().toLowerCase(Locale.ROOT).replace('_', '-');

    /** The name people see: {@code kv-miss}. */
    public String stateName() {
        return stateName;
    }
}
