package io.tokenstair.collector.reach;

import com.fasterxml.jackson.annotation.JsonProperty;
import org.jspecify.annotations.Nullable;

/**
 * What was seen at an address.
 *
 * @param status whether a collector can work with it
 * @param found what was found, in words
 * @param advice what to do; absent where there is nothing to do
 */
public record Seen(Status status, String found, @Nullable String advice) {

    /** Whether a collector can work with what was seen; what is worse comes later. */
    public enum Status {
        /** It can. */
        @JsonProperty("ok")
        OK,
        /** It can start, and may get less than it was meant to. */
        @JsonProperty("warning")
        WARNING,
        /** It cannot. */
        @JsonProperty("failed")
        FAILED
    }

    /** All is well. */
    public static Seen ok(String found) {
        return new Seen(Status.OK, found, null);
    }

    /** Something may be missing. */
    public static Seen warning(String found, String advice) {
        return new Seen(Status.WARNING, found, advice);
    }

    /** It does not work. */
    public static Seen failed(String found, String advice) {
        return new Seen(Status.FAILED, found, advice);
    }
}
